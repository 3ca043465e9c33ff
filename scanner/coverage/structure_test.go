package coverage

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

func TestStructureHolds(t *testing.T) {
	noBTI := libc43()
	s := &noBTI.Result.Sites[2]
	s.Verdict, s.Reason, s.Hook, s.HookReason = scanner.Refuse, scanner.BridgeFixed, 0, scanner.HookNone
	for i := 4; i < 6; i++ {
		noBTI.Result.Sites[i].Flags &^= scanner.ViaBridge
	}
	wrapper := libc43()
	second := svc(0x1700, "openat", 1, "__internal_syscall_cancel")
	second.Kind, second.Number, second.Distance, second.Flags = scanner.Bridge, scanner.NoNumber, 0, scanner.HookIsSvc
	second.Hook, second.HookReason = second.Vaddr, scanner.HookSvcFixed
	wrapper.Result.Sites = append(wrapper.Result.Sites, second)
	wrapper.Svcs = append(wrapper.Svcs, second.Vaddr)
	for _, b := range []*Build{
		libc31(), libc43(), ld43(), noBTI, wrapper, build("libc.so.6", "musl", "1.2.5", "00"), build("x.so", "", "", "01"),
		build("libc.so.6", "glibc", "", "02", libc31().Result.Sites...),
	} {
		if findings := StructuralChecks(b); findings != nil {
			t.Errorf("%s: %q, want nothing", b.Label(), texts(findings))
		}
	}
}

// Each row breaks one thing in a build where everything held. The sites are
// 0x1100 and 0x1200 newfstatat, a bridge at 0x1300 (svc 0x1328), 0x1400 refused,
// calls of openat at 0x1500 and 0x1600.
func TestStructureBreaks(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(b *Build, s []scanner.Site)
		want   []string
	}{
		{"svc not listed", func(b *Build, s []scanner.Site) { b.Result.Sites = slices.Delete(s, 3, 4) },
			[]string{"svcs-listed: svc at 0x1400: listed 0 times, want once"}},
		{"svc listed as a call", func(b *Build, s []scanner.Site) { b.Result.Sites[3] = call(0x1400, "openat", "f") },
			[]string{"svcs-listed: svc at 0x1400: listed 0 times, want once"}},
		{"svc listed twice", func(b *Build, s []scanner.Site) { b.Result.Sites = slices.Insert(s, 3, s[3]) }, []string{
			"svcs-listed: svc at 0x1400: listed 2 times, want once",
			"sites-sorted: svc at 0x1400 in getpid: not behind the site before it, at 0x1400"}},
		{"no svc there", func(b *Build, s []scanner.Site) { b.Svcs = slices.Delete(b.Svcs, 3, 4) },
			[]string{"svcs-listed: svc at 0x1400 in getpid: no svc there"}},
		{"unsorted", func(b *Build, s []scanner.Site) { s[0], s[1] = s[1], s[0] },
			[]string{"sites-sorted: svc at 0x1100 in fstatat: not behind the site before it, at 0x1200"}},
		{"accepted with a reason", func(b *Build, s []scanner.Site) { s[0].Reason = scanner.NumberTooFar },
			[]string{"verdicts: svc at 0x1100 in fstatat: verdict accept with reason number-too-far"}},
		{"refused without one", func(b *Build, s []scanner.Site) { s[3].Reason = scanner.ReasonNone },
			[]string{"verdicts: svc at 0x1400 in getpid: verdict refuse with reason none"}},
		{"accepted without a number", func(b *Build, s []scanner.Site) { s[0].Number = scanner.NoNumber },
			[]string{"verdicts: svc at 0x1100 in fstatat: accepted without a number"}},
		{"accepted and not relayed", func(b *Build, s []scanner.Site) { s[0].Number = nr("getpid") },
			[]string{"verdicts: svc at 0x1100 in fstatat: accepted, but no relay handles getpid"}},
		{"call not relayed", func(b *Build, s []scanner.Site) { s[5].Number = nr("getpid") },
			[]string{"verdicts: call at 0x1600 in openat: accepted, but no relay handles getpid"}},
		{"bridge with a number", func(b *Build, s []scanner.Site) { s[2].Number = nr("openat") },
			[]string{"verdicts: bridge at 0x1328: a bridge with one number, openat"}},
		{"refused with a hook", func(b *Build, s []scanner.Site) { s[3].Hook = 0x13fc },
			[]string{"hooks-placed: svc at 0x1400 in getpid: refused with a hook at 0x13fc"}},
		{"hook two words before", func(b *Build, s []scanner.Site) { s[0].Hook = 0x10f8 },
			[]string{"hooks-placed: svc at 0x1100 in fstatat: hook at 0x10f8, want it at [0x10fc 0x1100]"}},
		{"hook behind", func(b *Build, s []scanner.Site) { s[0].Hook = 0x1104 },
			[]string{"hooks-placed: svc at 0x1100 in fstatat: hook at 0x1104, want it at [0x10fc 0x1100]"}},
		{"hook is the svc, unflagged", func(b *Build, s []scanner.Site) { s[0].Hook = 0x1100 },
			[]string{"hooks-placed: svc at 0x1100 in fstatat: hook at 0x1100 with flags proven"}},
		{"hook before, flagged", func(b *Build, s []scanner.Site) { s[0].Flags |= scanner.HookIsSvc },
			[]string{"hooks-placed: svc at 0x1100 in fstatat: hook at 0x10fc with flags proven,hook-is-svc"}},
		{"bridge hooked at its svc", func(b *Build, s []scanner.Site) { s[2].Hook = 0x1324 }, []string{
			"hooks-placed: bridge at 0x1328: hook at 0x1324, want it at [0x1300]",
			"hooks-apart: bridge at 0x1328: hook at 0x1324, inside the range of bridge at 0x1328"}},
		{"call hooked before it", func(b *Build, s []scanner.Site) { s[4].Hook = 0x14fc },
			[]string{"hooks-placed: call at 0x1500 in open: hook at 0x14fc, want it at [0x1500]"}},
		{"text starts at the svc", func(b *Build, s []scanner.Site) { b.Exec[0].Vaddr = 0x1100 },
			[]string{"hooks-placed: svc at 0x1100 in fstatat: hook at 0x10fc, which is no word of the text"}},
		{"text ends before the last call", func(b *Build, s []scanner.Site) { b.Exec[0].Size = 0x600 },
			[]string{"hooks-placed: call at 0x1600 in openat: hook at 0x1600, which is no word of the text"}},
		{"no text", func(b *Build, s []scanner.Site) {
			b.Exec = nil
			b.Result.Sites = s[:1]
			b.Svcs = b.Svcs[:1]
			b.Libc = ""
		},
			[]string{"hooks-placed: svc at 0x1100 in fstatat: hook at 0x10fc, which is no word of the text"}},
		{"misaligned", func(b *Build, s []scanner.Site) { s[5].Vaddr, s[5].Hook = 0x1602, 0x1602 },
			[]string{"hooks-placed: call at 0x1602 in openat: hook at 0x1602, which is no word of the text"}},
		{"hook used twice", func(b *Build, s []scanner.Site) { s[4].Vaddr, s[4].Hook = 0x1600, 0x1600 }, []string{
			"sites-sorted: call at 0x1600 in openat: not behind the site before it, at 0x1600",
			"hooks-apart: call at 0x1600 in openat: hook at 0x1600, which is also that of call at 0x1600 in open"}},
		{"hook on another svc", func(b *Build, s []scanner.Site) {
			s[1].Vaddr, s[1].Hook, b.Svcs[1] = 0x1104, 0x1100, 0x1104
		}, []string{"hooks-apart: svc at 0x1104: hook at 0x1100, which is another site's svc"}},
		{"call at the start of the range", func(b *Build, s []scanner.Site) { move(s, 4, 0x1304) },
			[]string{"hooks-apart: call at 0x1304 in open: hook at 0x1304, inside the range of bridge at 0x1328"}},
		{"call at the end of the range", func(b *Build, s []scanner.Site) { move(s, 4, 0x1324) },
			[]string{"hooks-apart: call at 0x1324 in open: hook at 0x1324, inside the range of bridge at 0x1328"}},
		{"call behind the range", func(b *Build, s []scanner.Site) { move(s, 4, 0x132c) }, nil},
		{"range of a call", func(b *Build, s []scanner.Site) { s[4].Start = 0x1500 },
			[]string{"bridge-ranges: call at 0x1500 in open: range 0x1500 to 0x0 of what is no bridge entry"}},
		{"range too long", func(b *Build, s []scanner.Site) { s[2].End += 4 },
			[]string{"bridge-ranges: bridge at 0x1328: range 0x1304 to 0x1330, want it to end behind the svc"}},
		{"range starts at the svc", func(b *Build, s []scanner.Site) { s[2].Start, s[2].Hook = 0x1328, 0x1324 },
			[]string{"bridge-ranges: bridge at 0x1328: range 0x1328 to 0x132c, want it to end behind the svc"}},
		{"no openat", func(b *Build, s []scanner.Site) { b.Result.Sites = s[:4] }, []string{
			"glibc-calls: openat: no site of a glibc's libc",
			"glibc-bridge: openat: no call through the cancellation bridge of glibc 2.43"}},
		{"no openat in ld.so", func(b *Build, s []scanner.Site) { b.Image = "ld-linux-aarch64.so.1"; b.Result.Sites = s[:4] },
			[]string{"glibc-calls: openat: no site of a glibc's ld.so"}},
		{"no newfstatat", func(b *Build, s []scanner.Site) { b.Result.Sites, b.Svcs = s[2:], b.Svcs[2:] },
			[]string{"glibc-calls: newfstatat: no site of a glibc's libc"}},
		{"bridge in 2.40", func(b *Build, s []scanner.Site) { b.Version = "2.40" },
			[]string{"glibc-bridge: 1 cancellation bridge: glibc 2.40 before 2.41 has none"}},
		{"no bridge in 2.41", func(b *Build, s []scanner.Site) {
			b.Version, b.Result.Sites, b.Svcs = "2.41", slices.Delete(s, 2, 3), slices.Delete(b.Svcs, 2, 3)
		}, []string{"glibc-bridge: 0 cancellation bridges: glibc 2.41 has one"}},
	} {
		b := libc43()
		row.change(b, b.Result.Sites)
		var got []string
		for _, f := range StructuralChecks(b) {
			if f.Severity != Fail {
				t.Errorf("%s: severity %s of %q, want fail", row.name, f.Severity, f.Text)
			}
			got = append(got, f.Case+": "+f.Text)
		}
		if diff := gocmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

// move puts call i of s at vaddr, in order.
func move(s []scanner.Site, i int, vaddr uint64) {
	s[i].Vaddr, s[i].Hook = vaddr, vaddr
	slices.SortFunc(s, func(a, b scanner.Site) int { return cmp.Compare(a.Vaddr, b.Vaddr) })
}

func TestStructureBoundsFaults(t *testing.T) {
	for n, want := range map[int]int{maxFaults: maxFaults, maxFaults + 1: maxFaults + 1, maxFaults + 90: maxFaults + 1} {
		b := build("x.so", "", "", "00")
		for i := range n {
			b.Svcs = append(b.Svcs, uint64(i*4))
		}
		findings := StructuralChecks(b)
		if len(findings) != want {
			t.Errorf("%d faults: %d findings, want %d", n, len(findings), want)
		}
	}
}

func TestExecutable(t *testing.T) {
	b := &Build{Exec: []elfimg.Range{{Vaddr: 0x1000, Size: 0x10}, {Vaddr: 0x2000, Size: 4}}}
	for vaddr, want := range map[uint64]bool{0: false, 0xfff: false, 0x1000: true, 0x100f: true, 0x1010: false, 0x1fff: false, 0x2000: true, 0x2003: true, 0x2004: false, 1<<64 - 1: false} {
		if got := b.executable(vaddr); got != want {
			t.Errorf("executable(0x%x) = %t, want %t", vaddr, got, want)
		}
	}
}
