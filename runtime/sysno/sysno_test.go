package sysno

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The relayed set is a promise to the scanner, so it is spelled out here once
// more: a row that gains or loses its relay by mistake must show.
const (
	seedCalls = "openat newfstatat statx readlinkat faccessat mkdirat unlinkat renameat renameat2 symlinkat " +
		"fchmodat utimensat truncate statfs getxattr lgetxattr listxattr llistxattr inotify_add_watch getcwd"
	pathCalls   = "mknodat linkat fchownat setxattr lsetxattr removexattr lremovexattr bind connect fstat"
	mixedCalls  = "faccessat2 fchmodat2 openat2"
	answerCalls = "clone3 set_robust_list get_robust_list rseq"
	cacheCalls  = "chdir"
)

func TestRelayedSet(t *testing.T) {
	want := map[string]Relay{}
	for names, relay := range map[string]Relay{seedCalls: RelayPath, pathCalls: RelayPath, mixedCalls: RelayPath | RelayAnswer,
		answerCalls: RelayAnswer, cacheCalls: RelayCache} {
		for _, name := range strings.Fields(names) {
			want[name] = relay
		}
	}
	got, relayed := map[string]Relay{}, map[string]Relay{}
	for nr := -1; nr <= Max+1; nr++ {
		c, _ := ByNumber(nr)
		if c.Relay != 0 {
			got[c.Name] = c.Relay
		}
		if Relayed(nr) {
			relayed[Name(nr)] = c.Relay
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Relay of the rows (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, relayed); d != "" {
		t.Errorf("Relayed(nr) of the rows (-want +got):\n%s", d)
	}
}

func TestSeedHasTwentyCalls(t *testing.T) {
	var got []string
	for _, c := range All() {
		if c.Seed {
			got = append(got, c.Name)
		}
	}
	want := strings.Fields(seedCalls)
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" || len(got) != 20 {
		t.Errorf("%d seed calls, want 20 (-want +got):\n%s", len(got), d)
	}
}

func TestLookup(t *testing.T) {
	for _, row := range []struct {
		nr   int
		name string // "" for a hole
	}{
		{-1, ""}, {0, "io_setup"}, {56, "openat"}, {80, "fstat"}, {243, "recvmmsg"}, {244, ""}, {259, ""}, {260, "wait4"},
		{294, "kexec_file_load"}, {295, ""}, {423, ""}, {424, "pidfd_send_signal"}, {470, "listns"}, {471, "rseq_slice_yield"},
		{472, ""}, {4095, ""}, {1 << 40, ""}, {-1 << 63, ""},
	} {
		c, ok := ByNumber(row.nr)
		if ok != (row.name != "") || c.Name != row.name {
			t.Errorf("ByNumber(%d) = %q, %t, want %q", row.nr, c.Name, ok, row.name)
		}
		if row.name == "" {
			if ClassOf(row.nr) != ClassRefuse || Relayed(row.nr) {
				t.Errorf("ClassOf(%d), Relayed = %v, %t, want refuse, false", row.nr, ClassOf(row.nr), Relayed(row.nr))
			}
			continue
		}
		if back, ok := ByName(row.name); !ok || back.Nr != row.nr {
			t.Errorf("ByName(%q) = %d, %t, want %d, true", row.name, back.Nr, ok, row.nr)
		}
	}
	if Max != 471 || Openat != 56 {
		t.Errorf("Max, Openat = %d, %d, want 471, 56", Max, Openat)
	}
}

func TestByNameMisses(t *testing.T) {
	for _, name := range []string{"", "a", "open", "openat3", "zzz", "Openat", "rseq\x00"} {
		if c, ok := ByName(name); ok {
			t.Errorf("ByName(%q) = %d, true, want false", name, c.Nr)
		}
	}
}

func TestName(t *testing.T) {
	for nr, want := range map[int]string{56: "openat", 9999: "syscall-9999", 244: "syscall-244", -1: "syscall--1"} {
		if got := Name(nr); got != want {
			t.Errorf("Name(%d) = %q, want %q", nr, got, want)
		}
	}
}

func TestAllAscendsAndAgrees(t *testing.T) {
	calls := All()
	if len(calls) != 327 {
		t.Errorf("len(All()) = %d, want 327", len(calls))
	}
	last := -1
	for _, c := range calls {
		if c.Nr <= last {
			t.Errorf("All(): %s is %d after %d", c.Name, c.Nr, last)
		}
		last = c.Nr
		n, _ := ByNumber(c.Nr)
		s, _ := ByName(c.Name)
		if cmp.Diff(c, n) != "" || cmp.Diff(c, s) != "" || ClassOf(c.Nr) != c.Class || Name(c.Nr) != c.Name {
			t.Errorf("%s (%d): lookups disagree", c.Name, c.Nr)
		}
	}
	calls[0].Name = "changed"
	if Name(0) != "io_setup" {
		t.Errorf("Name(0) = %q after a write to All()'s slice, want io_setup", Name(0))
	}
}

// TestRows looks at what every reader of a row takes for granted.
func TestRows(t *testing.T) {
	for _, c := range All() {
		if len(c.Args) > 6 || c.Class == 0 || c.Since == "" {
			t.Errorf("%s: %d arguments, class %v, since %q", c.Name, len(c.Args), c.Class, c.Since)
		}
		for i, a := range c.Args {
			var next Arg
			if i+1 < len(c.Args) {
				next = c.Args[i+1]
			}
			if a == ArgDirfd && next != ArgPath && next != ArgEntry || a == ArgDirfd2 && next != ArgPath2 && next != ArgEntry2 {
				t.Errorf("%s: %v stands before %v", c.Name, a, next)
			}
		}
		paths := slices.ContainsFunc(c.Args, func(a Arg) bool { return a == ArgPath || a == ArgEntry })
		if paths && (c.Class == ClassRun || c.Class == ClassOption) {
			t.Errorf("%s: takes a path and its class is %v: it would run untranslated", c.Name, c.Class)
		}
	}
}

func TestRowContents(t *testing.T) {
	statx, _ := ByName("statx")
	statx.Note = ""
	want := Call{Nr: 291, Name: "statx", Since: "4.11", Args: []Arg{ArgDirfd, ArgPath, ArgAtflags, ArgFlags, ArgStat},
		Class: ClassTranslate, Relay: RelayPath, Seed: true, Android: Android{Some: 30, All: 30}, Sigsys: Sigsys{Kind: SigsysTracer}}
	if d := cmp.Diff(want, statx); d != "" {
		t.Errorf("ByName(statx) (-want +got):\n%s", d)
	}
	for name, args := range map[string]string{
		"linkat": "dirfd entry dirfd2 entry2 followflags", "symlinkat": "text dirfd entry", "sync": "", "openat2": "dirfd path how len",
		"clone": "flags addr ptr addr ptr", "fanotify_mark": "fd flags int dirfd path", "mmap": "addr len prot flags fd off",
	} {
		c, _ := ByName(name)
		got := make([]string, len(c.Args))
		for i, a := range c.Args {
			got[i] = a.String()
		}
		if s := strings.Join(got, " "); s != args {
			t.Errorf("arguments of %s = %q, want %q", name, s, args)
		}
	}
}

func TestIndexAndPointer(t *testing.T) {
	c, _ := ByName("symlinkat")
	for a, want := range map[Arg]int{ArgText: 0, ArgDirfd: 1, ArgEntry: 2, ArgPath: -1} {
		if got := c.Index(a); got != want {
			t.Errorf("symlinkat Index(%v) = %d, want %d", a, got, want)
		}
	}
	for a, want := range map[Arg]bool{ArgPath: true, ArgEnvp: true, ArgDirfd: false, ArgAddr: false, ArgArg: false, 0: false, 255: false} {
		if got := a.Pointer(); got != want {
			t.Errorf("%v.Pointer() = %t, want %t", a, got, want)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{ArgPath.String(), "path"}, {ArgEnvp.String(), "envp"}, {Arg(0).String(), "arg-0"}, {(ArgEnvp + 1).String(), "arg-" + strconv.Itoa(int(ArgEnvp)+1)},
		{ClassRun.String(), "run"}, {ClassProcess.String(), "process"}, {Class(0).String(), "class-0"}, {(ClassProcess + 1).String(), "class-" + strconv.Itoa(int(ClassProcess)+1)},
		{Relay(0).String(), "-"}, {RelayPath.String(), "path"}, {(RelayPath | RelayAnswer).String(), "path+answer"}, {RelayCache.String(), "cache"},
		{Unlisted.String(), "unlisted"}, {Allowed.String(), "allowed"}, {(Allowed + 1).String(), "allowance-4"},
	} {
		if row.got != row.want {
			t.Errorf("String() = %q, want %q", row.got, row.want)
		}
	}
}

func TestRelayHas(t *testing.T) {
	both := RelayPath | RelayAnswer
	if !both.Has(RelayPath) || !both.Has(both) || RelayPath.Has(both) || both.Has(RelayCache) || both.Has(0) {
		t.Errorf("Has is wrong for %v", both)
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	var sink int
	allocs := testing.AllocsPerRun(100, func() {
		c, _ := ByNumber(Openat)
		n, _ := ByName("renameat2")
		sink += c.Nr + n.Nr + len(Name(Statx)) + int(ClassOf(Rseq)) + int(c.Android.AllowedAt(33)) + c.Index(ArgPath)
		if Relayed(Fstat) && !Relayed(9999) && ArgPath.Pointer() {
			sink++
		}
	})
	if allocs != 0 {
		t.Errorf("lookups make %v allocations, want 0 (%d)", allocs, sink)
	}
}

func BenchmarkRelayed(b *testing.B) {
	n := 0
	for i := range b.N {
		if Relayed(i & 511) {
			n++
		}
	}
	if b.N > 511 && n == 0 {
		b.Fatal("nothing is relayed")
	}
}
