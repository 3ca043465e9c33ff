package policy

import (
	"fmt"
	"slices"
	"testing"

	"svcrelay/runtime/sysno"
)

func traced(c sysno.Class, exit ...Stop) Action {
	s := Stop(c)
	for _, e := range exit {
		s |= e
	}
	return Trace(uint16(s))
}

var (
	refused   = Errno(enosys)
	translate = traced(sysno.ClassTranslate)
	inspect   = traced(sysno.ClassInspect)
	option    = traced(sysno.ClassOption)
	process   = traced(sysno.ClassProcess)
	answer    = traced(sysno.ClassAnswer)
	execs     = traced(sysno.ClassExec)
)

func mustGuest(t *testing.T, o Options) Filter {
	t.Helper()
	f, err := Guest(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every number has a decided result: what may run untraced is said once more here.
func TestGuestByClass(t *testing.T) {
	all := mustGuest(t, Options{Ids: true, Uname: true, Waits: true, Window: true})
	some := func(a Action) bool { _, ok := a.Traced(); return ok }
	for nr := -1; nr <= 1024; nr++ {
		r := all.rule(int64(nr))
		class := sysno.ClassOf(nr)
		seen := r.actions()
		switch {
		case nr == -1:
			if !slices.Equal(seen, []Action{Allow}) {
				t.Errorf("number -1: %v, want allow: a skipped call keeps its result", seen)
			}
		case class == sysno.ClassRun:
			if !slices.Equal(seen, []Action{Allow}) {
				t.Errorf("%s: %v, want allow", sysno.Name(nr), seen)
			}
		case class == sysno.ClassRefuse:
			if !slices.Equal(seen, []Action{refused}) {
				t.Errorf("%s: %v, want ENOSYS", sysno.Name(nr), seen)
			}
		case !slices.ContainsFunc(seen, some):
			t.Errorf("%s of class %v: %v, want a stop", sysno.Name(nr), class, seen)
		}
		for _, a := range seen {
			if data, ok := a.Traced(); ok && Stop(data).Class() != class {
				t.Errorf("%s of class %v: stops as %v", sysno.Name(nr), class, Stop(data))
			}
		}
		narrowed := []int{sysno.Madvise, sysno.Mmap, sysno.Munmap, sysno.Mremap, sysno.Shmat, sysno.Utimensat, sysno.Clone, sysno.Prctl, sysno.Ioctl, sysno.Setrlimit, sysno.Prlimit64, sysno.Sendto, sysno.Recvfrom, sysno.Getsockopt, sysno.Socket}
		if class != sysno.ClassRun && slices.Contains(seen, Allow) && nr != -1 && !slices.Contains(narrowed, nr) {
			t.Errorf("%s of class %v is let through for some arguments", sysno.Name(nr), class)
		}
	}
}

// actions lists what a rule may end in, sorted.
func (r Rule) actions() []Action {
	out := []Action{r.Else}
	for _, c := range r.Cases {
		out = append(out, c.Then.actions()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestGuestOptions(t *testing.T) {
	exit := StopExit
	for _, row := range []struct {
		nr              int
		plain, ids, all Action
	}{
		{sysno.Getppid, Allow, Allow, Allow}, {sysno.Read, Allow, Allow, Allow}, {sysno.Openat, translate, translate, translate},
		{sysno.Getuid, Allow, option, option}, {sysno.Fstat, Allow, option | Action(exit), option | Action(exit)}, {sysno.Uname, Allow, Allow, option},
		{sysno.Newfstatat, translate, translate | Action(exit), translate | Action(exit)}, {sysno.Statx, translate, translate | Action(exit), translate | Action(exit)},
		{sysno.Fchmodat, translate, translate | Action(exit), translate | Action(exit)}, {sysno.Fchownat, translate, translate | Action(exit), translate | Action(exit)},
		{sysno.Wait4, Allow, Allow, process}, {sysno.Waitid, Allow, Allow, process}, {sysno.Clone, Allow, Allow, Allow}, {sysno.Clone3, Allow, Allow, Allow},
		{sysno.Readlinkat, translate | Action(exit), translate | Action(exit), translate | Action(exit)}, {sysno.Accept4, translate | Action(exit), translate | Action(exit), translate | Action(exit)},
		{sysno.Recvmsg, translate | Action(exit), translate | Action(exit), translate | Action(exit)}, {sysno.Sendmsg, translate, translate, translate},
		{sysno.Execve, execs, execs, execs}, {sysno.Brk, Allow, Allow, Allow}, {sysno.Mount, answer, answer, answer}, {sysno.Ptrace, process, process, process},
		{sysno.OpenTree, refused, refused, refused}, {sysno.IoUringSetup, refused, refused, refused}, {244, refused, refused, refused}, {472, refused, refused, refused},
	} {
		for name, c := range map[string]struct {
			o    Options
			want Action
		}{"none": {Options{}, row.plain}, "ids": {Options{Ids: true}, row.ids}, "all": {Options{Ids: true, Uname: true, Waits: true}, row.all}} {
			if got := mustGuest(t, c.o).Decide(Data{Nr: int32(row.nr), Arch: Arch}); got != c.want {
				t.Errorf("options %s: Decide(%s) = %v, want %v", name, sysno.Name(row.nr), got, c.want)
			}
		}
	}
}

func TestGuestArguments(t *testing.T) {
	const junk = 0xdead_beef_0000_0000 // what a register may hold above an int
	exit := Action(StopExit)
	for _, row := range []struct {
		nr   int32
		args [6]uint64
		want Action
	}{
		{sysno.Prctl, [6]uint64{prSetDumpable}, inspect}, {sysno.Prctl, [6]uint64{junk | prSetDumpable}, inspect}, {sysno.Prctl, [6]uint64{prGetDumpable}, inspect},
		{sysno.Prctl, [6]uint64{2}, Allow}, {sysno.Prctl, [6]uint64{5}, Allow}, {sysno.Prctl, [6]uint64{15}, Allow}, {sysno.Prctl, [6]uint64{22}, Allow},
		{sysno.Prctl, [6]uint64{37}, Allow}, {sysno.Prctl, [6]uint64{38}, inspect}, {sysno.Prctl, [6]uint64{39}, inspect}, {sysno.Prctl, [6]uint64{40}, Allow},
		{sysno.Prctl, [6]uint64{0x41555856}, inspect}, {sysno.Prctl, [6]uint64{0x41555857}, Allow}, {sysno.Prctl, [6]uint64{prSetDumpable << 32}, Allow},
		{sysno.Prlimit64, [6]uint64{0, rlimitStack, 1}, inspect}, {sysno.Prlimit64, [6]uint64{7, junk | rlimitStack, 1 << 32}, inspect},
		{sysno.Prlimit64, [6]uint64{0, rlimitStack, 0, 9}, Allow}, {sysno.Prlimit64, [6]uint64{3, 2, 1}, Allow}, {sysno.Prlimit64, [6]uint64{3, 4, 1}, Allow},
		{sysno.Setrlimit, [6]uint64{rlimitStack, 1}, inspect}, {sysno.Setrlimit, [6]uint64{junk | rlimitStack}, inspect}, {sysno.Setrlimit, [6]uint64{7}, Allow},
		{sysno.Ioctl, [6]uint64{0, tcgets2}, inspect | exit}, {sysno.Ioctl, [6]uint64{0, junk | tcgets2}, inspect | exit}, {sysno.Ioctl, [6]uint64{0, tcsets2}, inspect | exit},
		{sysno.Ioctl, [6]uint64{0, tcsetsw2}, inspect | exit}, {sysno.Ioctl, [6]uint64{0, tcsetsf2}, inspect | exit}, {sysno.Ioctl, [6]uint64{0, tcsetsf}, inspect | exit},
		{sysno.Ioctl, [6]uint64{0, ficlone}, inspect | exit}, {sysno.Ioctl, [6]uint64{0, tcsetsf - 1}, Allow}, {sysno.Ioctl, [6]uint64{0, 0x402c542e}, Allow},
		{sysno.Ioctl, [6]uint64{0, 0x5401}, Allow}, {sysno.Ioctl, [6]uint64{tcgets2, 0, tcgets2}, Allow},
		{sysno.Newfstatat, [6]uint64{5, 0, 1, atEmptyPath}, Allow}, {sysno.Newfstatat, [6]uint64{5, 0, 1, junk | atEmptyPath | 0x100}, Allow},
		{sysno.Newfstatat, [6]uint64{5, 1, 1, atEmptyPath}, translate}, {sysno.Newfstatat, [6]uint64{5, 1 << 32, 1, atEmptyPath}, translate},
		{sysno.Newfstatat, [6]uint64{5, 0, 1, 0x100}, translate}, {sysno.Newfstatat, [6]uint64{5, 0, 1, atEmptyPath << 32}, translate},
		{sysno.Statx, [6]uint64{5, 0, atEmptyPath}, Allow}, {sysno.Statx, [6]uint64{5, 1, atEmptyPath}, translate}, {sysno.Statx, [6]uint64{5, 0, 0, atEmptyPath}, translate},
		{sysno.Utimensat, [6]uint64{5, 0}, Allow}, {sysno.Utimensat, [6]uint64{5, 1 << 63}, translate}, {sysno.Utimensat, [6]uint64{0, 1}, translate},
		{sysno.Sendto, [6]uint64{3, 1, 1, 0, 0, 0}, Allow}, {sysno.Sendto, [6]uint64{3, 1, 1, 0, 1, 0}, inspect}, {sysno.Sendto, [6]uint64{3, 1, 1, 0, 1 << 40, 0}, inspect},
		{sysno.Recvfrom, [6]uint64{3, 1, 1, 0, 0, 9}, Allow}, {sysno.Recvfrom, [6]uint64{3, 1, 1, 0, 1 << 32, 9}, inspect | exit},
		{sysno.Clone, [6]uint64{0x3d0f00}, Allow}, {sysno.Clone, [6]uint64{17}, Allow}, {sysno.Clone, [6]uint64{0x4111}, Allow}, {sysno.Clone, [6]uint64{junk | 17}, Allow},
		{sysno.Clone, [6]uint64{0x0080_0011}, process}, {sysno.Clone, [6]uint64{0x0002_0011}, process}, {sysno.Clone, [6]uint64{0x1000_0011}, process},
		{sysno.Clone, [6]uint64{0x4000_0011}, process}, {sysno.Clone, [6]uint64{0x8100_0011}, Allow},
		{sysno.Getsockopt, [6]uint64{3, solSocket, soPeercred}, Allow},
	} {
		if got := mustGuest(t, Options{}).Decide(Data{Nr: row.nr, Arch: Arch, Args: row.args}); got != row.want {
			t.Errorf("Decide(%s %#x) = %v, want %v", sysno.Name(int(row.nr)), row.args, got, row.want)
		}
	}
}

func TestGuestArgumentsWithIds(t *testing.T) {
	f := mustGuest(t, Options{Ids: true})
	exit := Action(StopExit)
	for _, row := range []struct {
		nr   int32
		args [6]uint64
		want Action
	}{
		{sysno.Newfstatat, [6]uint64{5, 0, 1, atEmptyPath}, translate | exit}, {sysno.Statx, [6]uint64{5, 0, atEmptyPath}, translate | exit},
		{sysno.Utimensat, [6]uint64{5, 0}, Allow},
		{sysno.Getsockopt, [6]uint64{3, solSocket, soPeercred}, option | exit}, {sysno.Getsockopt, [6]uint64{3, 1<<40 | solSocket, 1<<40 | soPeercred}, option | exit},
		{sysno.Getsockopt, [6]uint64{3, solSocket, soPeercred + 1}, Allow}, {sysno.Getsockopt, [6]uint64{3, solSocket + 1, soPeercred}, Allow},
	} {
		if got := f.Decide(Data{Nr: row.nr, Arch: Arch, Args: row.args}); got != row.want {
			t.Errorf("Decide(%s %#x) = %v, want %v", sysno.Name(int(row.nr)), row.args, got, row.want)
		}
	}
}

// The address that a filter sees lies behind the svc, at both ends of the gate.
func TestGate(t *testing.T) {
	for _, gate := range [][2]uint64{{gateStart, gateEnd}, {0xf_ffff_0000, 0x10_0000_0000}, {0xf_ffff_0000, 0x10_0001_0000}, {0x10000, 0x10004}, {0xffff_fffc, 0x1_0000_0000}} {
		start, end := gate[0], gate[1]
		m := newMachine(t, mustGuest(t, Options{Ids: true, Uname: true, Waits: true, GateStart: start, GateEnd: end}))
		for svc, inside := range map[uint64]bool{start - 4: false, start: true, start + 4: start+4 < end, end - 4: true, end: false, end + 4: false,
			start ^ 1<<32: false, start ^ 1<<63: false, 0: false} {
			for _, row := range []struct {
				nr    int32
				class sysno.Class
				gated bool
			}{
				{sysno.Openat, sysno.ClassTranslate, true}, {sysno.Newfstatat, sysno.ClassTranslate, true}, {sysno.Readlinkat, sysno.ClassTranslate, true},
				{sysno.Fstat, sysno.ClassOption, true}, {sysno.Uname, sysno.ClassOption, true}, {sysno.Prctl, sysno.ClassInspect, true},
				{sysno.Execve, sysno.ClassExec, false}, {sysno.Mount, sysno.ClassAnswer, false}, {sysno.Ptrace, sysno.ClassProcess, false},
			} {
				d := Data{Nr: row.nr, Arch: Arch, IP: svc + 4, Args: [6]uint64{prSetDumpable, 1}}
				got := m.run(t, d)
				if data, stops := got.Traced(); stops == (row.gated && inside) || stops && Stop(data).Class() != row.class {
					t.Errorf("gate %#x to %#x: %s by the svc at %#x: %v, want let through %t", start, end, sysno.Name(int(row.nr)), svc, got, row.gated && inside)
				}
				m.agree(t, d)
			}
			if got := m.run(t, Data{Nr: sysno.OpenTree, Arch: Arch, IP: svc + 4}); got != refused {
				t.Errorf("open_tree by the svc at %#x: %v, want ENOSYS", svc, got)
			}
		}
	}
}

func TestGuestRefusesBadGates(t *testing.T) {
	for _, gate := range [][2]uint64{{8, 4}, {1, 4}, {4, 6}, {2, 2}} {
		if _, err := Guest(Options{GateStart: gate[0], GateEnd: gate[1]}); err == nil {
			t.Errorf("Guest with a gate of %#x = nil error", gate)
		}
	}
}

// No gate is not a gate at 0: an address of 0 or 4 lets nothing through.
func TestNoGate(t *testing.T) {
	f := mustGuest(t, Options{})
	for _, ip := range []uint64{0, 4, gateStart + 4} {
		if got := f.Decide(Data{Nr: sysno.Openat, Arch: Arch, IP: ip}); got != translate {
			t.Errorf("Decide(openat at %#x) = %v, want %v", ip, got, translate)
		}
	}
}

func TestGuestBlocked(t *testing.T) {
	f := mustGuest(t, Options{Blocked: AndroidBlocked(31, false)})
	for nr, want := range map[int32]Action{
		sysno.SetRobustList: refused, sysno.Rseq: refused, sysno.Faccessat2: refused, sysno.Clone3: refused, sysno.CloseRange: refused, sysno.Settimeofday: Errno(1),
		sysno.Accept: translate | Action(StopExit), sysno.Setuid: answer, sysno.Mount: answer, // answered by the tracer, trapped or not
		sysno.Openat: translate, sysno.Statx: translate, sysno.Getppid: Allow,
	} {
		if got := f.Decide(Data{Nr: nr, Arch: Arch}); got != want {
			t.Errorf("blocked at 31: Decide(%s) = %v, want %v", sysno.Name(int(nr)), got, want)
		}
	}
	if got := mustGuest(t, Options{}).Decide(Data{Nr: sysno.SetRobustList, Arch: Arch}); got != Allow {
		t.Errorf("nothing blocked: Decide(set_robust_list) = %v, want allow", got)
	}
	// A vendor's policy may trap what no AOSP release does.
	if got := mustGuest(t, Options{Blocked: []int{sysno.MemfdCreate}}).Decide(Data{Nr: sysno.MemfdCreate, Arch: Arch}); got != refused {
		t.Errorf("memfd_create blocked: %v, want ENOSYS", got)
	}
}

// TestGuestCost keeps the length of the ways through the filter.
func TestGuestCost(t *testing.T) {
	m := newMachine(t, mustGuest(t, Options{GateStart: gateStart, GateEnd: gateEnd}))
	steps := func(nr int32, ip uint64) int {
		_, ran := m.prog.trace(Data{Nr: nr, Arch: Arch, IP: ip})
		return len(ran)
	}
	worst := 0
	for nr := int32(-1); nr <= 1024; nr++ {
		if _, ok := m.filter.constant(nr); ok {
			worst = max(worst, steps(nr, 0))
		}
	}
	got := fmt.Sprintf("%d instructions; getppid %d, read %d, openat %d, from the gate %d, worst constant %d", len(m.prog),
		steps(sysno.Getppid, 0), steps(sysno.Read, 0), steps(sysno.Openat, 0), steps(sysno.Openat, gateStart+4), worst)
	if want := "194 instructions; getppid 11, read 11, openat 13, from the gate 16, worst constant 11"; got != want {
		t.Errorf("the filter with a gate: %s, want %s", got, want)
	}
}
