package policy

import (
	"slices"
	"testing"

	"svcrelay/runtime/sysno"
)

func TestAndroidApp(t *testing.T) {
	for level, want := range map[int][2]int{29: {206, 206}, 30: {208, 208}, 31: {212, 212}, 32: {212, 212}, 33: {214, 214}, 34: {214, 216}, 35: {216, 217}, 36: {220, 227}} {
		for i, latest := range []bool{false, true} {
			f, err := AndroidApp(level, latest)
			if err != nil {
				t.Fatal(err)
			}
			allowed := 0
			blocked := AndroidBlocked(level, latest)
			for nr := int32(-1); nr <= 1024; nr++ {
				switch got := f.Decide(Data{Nr: nr, Arch: Arch}); got {
				case Allow:
					allowed++
					if slices.Contains(blocked, int(nr)) {
						t.Errorf("level %d: %s is let through and listed as blocked", level, sysno.Name(int(nr)))
					}
				case Trap:
					if _, known := sysno.ByNumber(int(nr)); known && !slices.Contains(blocked, int(nr)) {
						t.Errorf("level %d: %s is trapped and not listed as blocked", level, sysno.Name(int(nr)))
					}
				default:
					t.Errorf("level %d: %d gets %v", level, nr, got)
				}
			}
			if allowed != want[i] || allowed+len(blocked) != len(sysno.All()) {
				t.Errorf("level %d, latest %t: %d let through, want %d; %d blocked", level, latest, allowed, want[i], len(blocked))
			}
			if got := f.Decide(Data{Nr: sysno.Getpid, Arch: Arch + 1}); got != Trap {
				t.Errorf("level %d: another architecture gets %v, want trap", level, got)
			}
		}
	}
}

func TestAndroidKnownCalls(t *testing.T) {
	for _, row := range []struct {
		nr     int32
		level  int
		latest bool
		want   Action
	}{
		{sysno.Statx, 29, true, Trap}, {sysno.Statx, 30, false, Allow}, {sysno.CloseRange, 32, true, Trap}, {sysno.CloseRange, 33, false, Allow}, {sysno.Clone3, 33, true, Trap},
		{sysno.Clone3, 34, false, Trap}, {sysno.Clone3, 34, true, Allow}, {sysno.Clone3, 35, false, Allow}, {sysno.Openat2, 36, false, Trap}, {sysno.Openat2, 36, true, Allow},
		{sysno.Rseq, 36, true, Trap}, {sysno.SetRobustList, 36, true, Trap}, {sysno.Accept, 36, true, Trap}, {sysno.Setresuid, 29, false, Allow}, {-1, 36, true, Trap},
	} {
		f, err := AndroidApp(row.level, row.latest)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Decide(Data{Nr: row.nr, Arch: Arch}); got != row.want {
			t.Errorf("level %d, latest %t: %s gets %v, want %v", row.level, row.latest, sysno.Name(int(row.nr)), got, row.want)
		}
	}
}

func TestAndroidUnknownLevels(t *testing.T) {
	for _, level := range []int{-1, 0, sysno.AndroidMin - 1, sysno.AndroidMax + 1} {
		if _, err := AndroidApp(level, true); err == nil {
			t.Errorf("AndroidApp(%d) = nil error", level)
		}
		if got := AndroidBlocked(level, false); got != nil {
			t.Errorf("AndroidBlocked(%d) = %v, want none", level, got)
		}
	}
}
