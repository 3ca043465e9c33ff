package coverage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

func TestCompareOfTheSameIsEmpty(t *testing.T) {
	g := merged(t, libc31(), libc43(), ld43())
	for _, b := range []*Build{libc31(), libc43(), ld43()} {
		if report := Check(g, b); report.Findings != nil || report.Failed() || !report.Known {
			t.Errorf("%s against its own golden: %+v", b.Label(), report)
		}
	}
}

func TestCompareOfNewBuild(t *testing.T) {
	report := Check(merged(t, libc31()), libc43())
	want := []string{"note golden: build-ID 4343434343 is new: only structural checks were made"}
	if diff := cmp.Diff(want, texts(report.Findings)); diff != "" || report.Failed() || report.Known {
		t.Errorf("new build: failed %t, known %t (-want +got):\n%s", report.Failed(), report.Known, diff)
	}
	broken := libc43()
	broken.Result.Sites[0].Hook = 0x1000
	if report := Check(&Golden{}, broken); !report.Failed() || report.Findings[0].Case != "hooks-placed" {
		t.Errorf("new build with a bad hook: %+v", report)
	}
}

// Each row changes a build that the golden knows.
func TestCompare(t *testing.T) {
	refuse := func(s *scanner.Site, r scanner.Reason) {
		s.Verdict, s.Reason, s.Hook, s.HookReason = scanner.Refuse, r, 0, scanner.HookNone
	}
	for _, row := range []struct {
		name   string
		change func(b *Build)
		want   []string
	}{
		{"lost and refused", func(b *Build) { refuse(&b.Result.Sites[0], scanner.NumberConflict) }, []string{
			"fail openat: openat in open: 1 svc site, golden has 2; refused there: 0x1100 number-conflict",
			"note number-conflict: refused as number-conflict: 1 svc site, golden has 0",
		}},
		{"lost with its number", func(b *Build) {
			s := &b.Result.Sites[2]
			refuse(s, scanner.WindowBranch)
			s.Number, s.Distance, s.Flags = scanner.NoNumber, 0, 0
		}, []string{
			"fail glibc-calls: newfstatat: no site of a glibc's libc",
			"fail newfstatat: newfstatat in __xstat: 0 svc sites, golden has 1; refused there: 0x1300 window-branch",
			"fail adjacent: number adjacent: 2, golden has 3",
			"fail proven: proven: 3, golden has 4",
			"note window-branch: refused as window-branch: 1 svc site, golden has 0",
		}},
		{"gained", func(b *Build) {
			b.Result.Sites[3] = svc(0x1400, "statx", 1, "statx")
		}, []string{
			"note statx: statx in statx: 1 svc site, golden has 0",
			"note number-not-relayed: refused as number-not-relayed: 0 svc sites, golden has 1",
		}},
		{"proof lost", func(b *Build) { b.Result.Sites[0].Flags = 0 }, []string{
			"fail openat: openat in open: not proven at 1 svc site, golden has 0",
			"fail proven: proven: 3, golden has 4",
		}},
		{"cancellation unnoticed", func(b *Build) { b.Result.Sites[1].Flags &^= scanner.AsyncCancel }, []string{
			"fail async-cancel: async cancel: 0, golden has 1",
		}},
		{"hook moved to the svc", func(b *Build) {
			s := &b.Result.Sites[0]
			s.Hook, s.Flags = s.Vaddr, s.Flags|scanner.HookIsSvc
		}, []string{"fail hook-is-svc: hook is the svc: 1, golden has 0"}},
		{"svc word lost", func(b *Build) { b.Result.Sites = b.Result.Sites[:4] }, []string{
			"fail svcs-listed: svc at 0x1500: listed 0 times, want once",
			"fail svc-words: svc words: 4, golden has 5",
			"note number-in-register: refused as number-in-register: 0 svc sites, golden has 1",
		}},
		{"svc word gained", func(b *Build) {
			b.Result.Sites = append(b.Result.Sites, refused(0x1600, scanner.NumberTooFar, ""))
			b.Svcs = append(b.Svcs, 0x1600)
		}, []string{
			"fail svc-words: svc words: 6, golden has 5",
			"note number-too-far: refused as number-too-far: 1 svc site, golden has 0",
		}},
		{"names stripped", func(b *Build) {
			for i := range b.Result.Sites {
				b.Result.Sites[i].Function = ""
			}
		}, []string{
			"note openat: openat in functions without a name: 2 svc sites, golden has 0",
			"note openat: openat in open: 0 svc sites, golden has 2; as many have another name here",
			"note newfstatat: newfstatat in functions without a name: 1 svc site, golden has 0",
			"note newfstatat: newfstatat in __xstat: 0 svc sites, golden has 1; as many have another name here",
		}},
		{"one stripped, one lost", func(b *Build) {
			b.Result.Sites[0].Function = ""
			refuse(&b.Result.Sites[1], scanner.NumberConflict)
		}, []string{
			"fail openat: openat in open: 0 svc sites, golden has 2; refused there: 0x1200 number-conflict",
			"note openat: openat in functions without a name: 1 svc site, golden has 0",
			"note number-conflict: refused as number-conflict: 1 svc site, golden has 0",
		}},
		{"function lost to another", func(b *Build) { b.Result.Sites[0].Function = "other" }, []string{
			"fail openat: openat in open: 1 svc site, golden has 2",
			"note openat: openat in other: 1 svc site, golden has 0",
		}},
	} {
		b := libc31()
		row.change(b)
		if diff := cmp.Diff(row.want, texts(Compare(merged(t, libc31()), b))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

// A golden made from a stripped copy is no loss either.
func TestCompareFindsNames(t *testing.T) {
	stripped := libc31()
	for i := range stripped.Result.Sites {
		stripped.Result.Sites[i].Function = ""
	}
	if report := Check(merged(t, stripped), libc31()); report.Failed() || len(report.Findings) != 4 {
		t.Errorf("names appeared: %q", texts(report.Findings))
	}
}

// A nameless site stands for one lost site, not for each.
func TestCompareFindsNamesOnce(t *testing.T) {
	b := libc43()
	b.Result.Sites[4].Function = ""
	b.Result.Sites = b.Result.Sites[:5]
	want := []string{
		"fail openat: openat in openat: 0 calls, golden has 1",
		"fail calls: bridge calls: 1, golden has 2",
		"fail proven: proven: 4, golden has 5",
		"note openat: openat in functions without a name: 1 call, golden has 0",
		"note openat: openat in open: 0 calls, golden has 1; as many have another name here",
	}
	if diff := cmp.Diff(want, texts(Compare(merged(t, libc43()), b))); diff != "" {
		t.Errorf("one stripped, one lost (-want +got):\n%s", diff)
	}
}

func TestCompareOfBridge(t *testing.T) {
	b := libc43()
	s := &b.Result.Sites[2]
	s.Verdict, s.Reason, s.Hook = scanner.Refuse, scanner.BridgeFixed, 0
	b.Result.Sites = b.Result.Sites[:5]
	want := []string{
		"fail bridges: any call in functions without a name: 0 bridges, golden has 1",
		"fail openat: openat in openat: 0 calls, golden has 1",
		"fail calls: bridge calls: 1, golden has 2",
		"fail proven: proven: 4, golden has 5",
		"note bridge-fixed: refused as bridge-fixed: 1 bridge, golden has 0",
	}
	if diff := cmp.Diff(want, texts(Compare(merged(t, libc43()), b))); diff != "" {
		t.Errorf("bridge lost (-want +got):\n%s", diff)
	}
}

// A function with many refused sites is not listed in full.
func TestCompareBoundsRefusals(t *testing.T) {
	b := libc31()
	for i := range 6 {
		b.Result.Sites = append(b.Result.Sites, refused(0x2000+uint64(i)*4, scanner.NumberTooFar, "open"))
	}
	want := "; refused there: 0x2000 number-too-far, 0x2004 number-too-far, 0x2008 number-too-far, 0x200c number-too-far, 2 more"
	if got := refusedThere(b, Key{nr("openat"), scanner.Svc, "open"}); got != want {
		t.Errorf("refusedThere = %q, want %q", got, want)
	}
}

// Less is never reported as a gain, and each counter can fail.
func TestWorse(t *testing.T) {
	for c := range numCounters {
		fewer, same, more := worse(c, 4, 5), worse(c, 5, 5), worse(c, 6, 5)
		want := [3]bool{true, false, false}
		switch c {
		case SvcWords:
			want[2] = true
		case HookIsSvc:
			want = [3]bool{false, false, true}
		}
		if got := [3]bool{fewer, same, more}; got != want {
			t.Errorf("worse(%s) for fewer, same, more = %v, want %v", c, got, want)
		}
	}
}
