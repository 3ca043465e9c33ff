//go:build rig

// What the rig promises, tried on real machines. Needs the emulator, and what
// `make rig` fetches.

package rigtest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"svcrelay/cmd/internal/kernel"
	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rootfs"
	"svcrelay/cmd/internal/selinux"
)

var noTimes = cmpopts.IgnoreFields(Result{}, "User", "System", "Wall")

func TestRun(t *testing.T) {
	m := Start(t, machine.Options{})
	host := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(host, []byte("#!/bin/sh\necho made >out; echo put"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    Options
		argv string
		want Result
	}{
		{"architecture", Options{}, "uname -m", Result{Stdout: "aarch64\n"}},
		{"exit code", Options{}, "sh -c exit\\ 7", Result{Code: 7}},
		{"both outputs", Options{}, "sh -c echo\\ a;echo\\ b\\ >&2", Result{Stdout: "a\n", Stderr: "b\n"}},
		{"signal", Options{}, "sh -c kill\\ -ABRT\\ $$", Result{Code: -1, Signal: int(syscall.SIGABRT)}},
		{"timeout", Options{Timeout: 100 * time.Millisecond}, "sleep 60", Result{Code: -1, Signal: int(syscall.SIGKILL)}},
		{"input", Options{Stdin: "abc"}, "wc -c", Result{Stdout: "3\n"}},
		{"no input", Options{}, "wc -c", Result{Stdout: "0\n"}},
		{"environment", Options{Env: []string{"A=b"}}, "printenv A", Result{Stdout: "b\n"}},
		{"folder", Options{Dir: "/usr"}, "pwd", Result{Stdout: "/usr\n"}},
		{"user", Options{UID: 1000, Root: "forky"}, "id", Result{Stdout: "uid=1000(u) gid=1000(u) groups=1000(u)\n"}},
		{"files", Options{Files: map[string]string{"/x/in": host}, Dir: "/x", Collect: []string{"/x/out", "/x/none"}}, "/x/in",
			Result{Stdout: "put\n", Files: map[string]string{"/x/out": "made\n"}}},
		{"files in a root", Options{Root: "bookworm", Files: map[string]string{"x/in": host}, Dir: "x", Collect: []string{"x/out"}}, "/x/in",
			Result{Stdout: "put\n", Files: map[string]string{"x/out": "made\n"}}},
		{"loopback", Options{}, "python3 -c import\\ socket;s=socket.create_server(('127.0.0.1',0));socket.create_connection(s.getsockname());print(1)",
			Result{Stdout: "1\n"}},
	} {
		got := m.Run(t, tt.o, words(tt.argv)...)
		if diff := cmp.Diff(tt.want, got, noTimes); diff != "" {
			t.Errorf("%s: %s: -want +got:\n%s", tt.name, tt.argv, diff)
		}
	}
}

// words splits at spaces that no backslash precedes.
func words(s string) []string {
	w := strings.Split(strings.ReplaceAll(s, `\ `, "\x00"), " ")
	for i := range w {
		w[i] = strings.ReplaceAll(w[i], "\x00", " ")
	}
	return w
}

// TestRoots: each root carries its glibc, and what real programs need is there.
func TestRoots(t *testing.T) {
	m := Start(t, machine.Options{})
	for _, r := range rootfs.Roots {
		got := m.Run(t, Options{Root: r.Name}, "python3", "-c", "import os;print(os.confstr('CS_GNU_LIBC_VERSION'))")
		if want := "glibc " + r.Glibc + "\n"; got.Stdout != want {
			t.Errorf("root %s: %q%s, want %q", r.Name, got.Stdout, got.Stderr, want)
		}
		m.wantPrograms(t, r.Name, "awk", "bash", "find", "gdb", "mount", "proot", "ps", "strace", "tar")
	}
	for _, root := range []string{"bookworm", "forky"} {
		m.wantPrograms(t, root, "apt-get", "dpkg", "gcc", "git", "make")
	}
}

// wantPrograms checks that programs start, all their libraries found.
func (m *Machine) wantPrograms(t *testing.T, root string, programs ...string) {
	t.Helper()
	for _, p := range programs {
		got := m.Run(t, Options{Root: root}, "sh", "-c", `/lib/ld-linux-aarch64.so.1 --list "$(command -v "$0")"`, p)
		if got.Code != 0 || strings.Contains(got.Stdout+got.Stderr, "not found") {
			t.Errorf("root %s: %s: code %d, %s%s", root, p, got.Code, got.Stdout, got.Stderr)
		}
	}
}

// TestCompiler: the compiler of a full root makes programs that run.
func TestCompiler(t *testing.T) {
	for _, root := range []string{"bookworm", "forky"} {
		got := Run(t, Options{Root: root, Dir: "/tmp"}, "sh", "-c",
			"echo 'int puts(const char*);int main(){puts(\"made\");return 3;}' >a.c && gcc -o a a.c && ./a")
		if got.Stdout != "made\n" || got.Code != 3 {
			t.Errorf("root %s: %q, code %d, %s, want made and 3", root, got.Stdout, got.Code, got.Stderr)
		}
	}
}

// TestBuild: a command of the module runs in the machine, also under a filter,
// since a Go program without C makes no call that is blocked.
func TestBuild(t *testing.T) {
	o := Options{Options: machine.Options{Kernel: kernel.Default}, Level: 31, Files: map[string]string{"/x": Build(t, "cmd/rig/agent")}}
	if got := Run(t, o, "/x"); got.Code != 127 || got.Stderr != "agent: runs in the test machine only\n" {
		t.Errorf("agent: code %d, signal %d, %q", got.Code, got.Signal, got.Stderr)
	}
}

// TestFresh: nothing that a machine does is seen by the next one.
func TestFresh(t *testing.T) {
	o := Options{Options: machine.Options{Kernel: kernel.Default}, Root: "forky"}
	Run(t, o, "sh", "-c", "echo x >/etc/left; rm /etc/hosts")
	if got := Run(t, o, "sh", "-c", "ls /etc/left; cat /etc/hosts"); got.Code != 0 || !strings.Contains(got.Stderr, "left") {
		t.Errorf("a second machine: %q %q, code %d, want no /etc/left and hosts as before", got.Stdout, got.Stderr, got.Code)
	}
}

// TestAppFilter: glibc from 2.36 on makes calls in every program's start-up that
// no app may make; 2.31 makes them with the first thread.
func TestAppFilter(t *testing.T) {
	m := Start(t, machine.Options{})
	for _, tt := range []struct {
		root   string
		level  int
		signal int
	}{
		{"bullseye", 34, 0},
		{"bookworm", 0, 0},
		{"bookworm", 31, int(syscall.SIGSYS)},
		{"bookworm", 36, int(syscall.SIGSYS)},
		{"forky", 34, int(syscall.SIGSYS)},
	} {
		if got := m.Run(t, Options{Root: tt.root, Level: tt.level}, "/bin/true"); got.Signal != tt.signal {
			t.Errorf("root %s, level %d: true: code %d, signal %d, want signal %d", tt.root, tt.level, got.Code, got.Signal, tt.signal)
		}
	}
}

// patch maps a file's code, writes into it and makes it code again; it prints
// what a patcher of libraries would be told.
const patch = `import ctypes,mmap,os,sys
libc=ctypes.CDLL(None,use_errno=True)
libc.mmap.restype=ctypes.c_void_p
libc.mmap.argtypes=[ctypes.c_void_p,ctypes.c_size_t]+[ctypes.c_int]*3+[ctypes.c_long]
libc.mprotect.argtypes=[ctypes.c_void_p,ctypes.c_size_t,ctypes.c_int]
size=mmap.PAGESIZE
p=libc.mmap(None,size,5,2,os.open(sys.argv[1],os.O_RDONLY),0)
if libc.mprotect(p,size,3): sys.exit('RW: '+os.strerror(ctypes.get_errno()))
ctypes.memset(p,0,4)
print('RX again:',os.strerror(ctypes.get_errno()) if libc.mprotect(p,size,5) else 'ok')`

// TestSELinux: an app may patch and run only what it did not write, unless it
// targets an old level.
func TestSELinux(t *testing.T) {
	for _, k := range []string{"5.10", kernel.Default, "7"} {
		m := Start(t, machine.Options{Kernel: k, SELinux: true})
		for _, tt := range []struct {
			domain, argv string
			want         string
		}{
			{"", "cat /sys/fs/selinux/enforce", "1"},
			{selinux.App, "cat /proc/self/attr/current", selinux.App + "\x00"},
			{selinux.App, "/r/forky/bin/true", "code 127"},
			{selinux.App27, "/r/bookworm/lib/ld-linux-aarch64.so.1 --help", "ok"},
			{selinux.App, "/r/bookworm/lib/ld-linux-aarch64.so.1 --help", "code 127"},
			{selinux.App, "python3 -c PATCH /r/forky/lib/aarch64-linux-gnu/libc.so.6", "RX again: Permission denied"},
			{selinux.App27, "python3 -c PATCH /r/forky/lib/aarch64-linux-gnu/libc.so.6", "RX again: ok"},
			{selinux.App, "python3 -c PATCH /lib/aarch64-linux-gnu/libc.so.6", "RX again: ok"},
		} {
			argv := words(tt.argv)
			if i := slices.Index(argv, "PATCH"); i > 0 {
				argv[i] = patch
			}
			if got := brief(m.Run(t, Options{Domain: tt.domain}, argv...)); !strings.HasPrefix(got, tt.want) {
				t.Errorf("kernel %s, domain %s: %s: %s, want %s", k, tt.domain, tt.argv, got, tt.want)
			}
		}
	}
}

// brief is the first line that a program printed, ok for a long text, or its code.
func brief(r Result) string {
	line, rest, _ := strings.Cut(r.Stdout, "\n")
	switch {
	case r.Code != 0:
		return "code " + strconv.Itoa(r.Code) + " " + r.Stderr
	case rest != "":
		return "ok"
	}
	return line
}

// TestKernels boots every kernel.
func TestKernels(t *testing.T) {
	for _, k := range kernel.Kernels {
		o := Options{Options: machine.Options{Kernel: k.Name}}
		got := Run(t, o, "sh", "-c", "uname -r; getconf PAGESIZE; ls /r/forky/usr/bin/gcc")
		version, rest, _ := strings.Cut(got.Stdout, "\n")
		major, _, _ := strings.Cut(k.Name, "-")
		if !strings.HasPrefix(version, major+".") {
			t.Errorf("kernel %s says it is %s", k.Name, version)
		}
		want := "4096\n/r/forky/usr/bin/gcc\n"
		if strings.HasSuffix(k.Name, "-16k") {
			want = "16384\n/r/forky/usr/bin/gcc\n"
		}
		if rest != want {
			t.Errorf("kernel %s: %q, want %q", k.Name, rest, want)
		}
	}
}

// TestCPUs: max has what the others lack.
func TestCPUs(t *testing.T) {
	for cpu, want := range map[string]map[string]bool{
		"cortex-a76":  {"atomics": true, "sve": false, "bti": false, "paca": false},
		"neoverse-n1": {"atomics": true, "sve": false, "bti": false, "paca": false},
		"max":         {"atomics": true, "sve": true, "bti": true, "paca": true},
	} {
		text := Run(t, Options{Options: machine.Options{CPU: cpu, Cores: 2}}, "cat", "/proc/cpuinfo").Stdout
		if n := strings.Count(text, "processor\t"); n != 2 {
			t.Errorf("%s: %d cores, want 2", cpu, n)
		}
		got := map[string]bool{}
		for name := range want {
			got[name] = strings.Contains(text, " "+name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: features -want +got:\n%s", cpu, diff)
		}
	}
}

// counter prints how many virtual nanoseconds 100 getppid take when nothing
// comes between.
const counter = `import os,time
def once():
    f,now=os.getppid,time.monotonic_ns
    t=now()
    for i in range(100): f()
    return now()-t
print(min(once() for i in range(100)))`

// TestIcount: two machines count the same, within a thousandth.
func TestIcount(t *testing.T) {
	var counts []int
	for range 2 {
		o := Options{Options: machine.Options{Icount: true}, Env: []string{"PYTHONHASHSEED=0"}}
		got := Run(t, o, "setarch", "-R", "python3", "-c", counter)
		n, err := strconv.Atoi(strings.TrimSpace(got.Stdout))
		if err != nil {
			t.Fatal(err, got.Stderr)
		}
		counts = append(counts, n)
	}
	low, high := slices.Min(counts), slices.Max(counts)
	if (high-low)*1000 > high || low < 50_000 || high > 200_000 {
		t.Errorf("100 getppid of python took %v instructions, want about 100,000, twice nearly the same", counts)
	}
	t.Log(counts)
}

// BenchmarkStart is from a template to the end of a first program, the check
// that the template is current included.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		r, err := machine.Find(func(string) {})
		if err != nil {
			b.Fatal(err)
		}
		v, err := r.Start(machine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		(&Machine{v}).Run(b, Options{}, "true")
		v.Kill()
	}
}

// BenchmarkRun is one program in a machine that runs.
func BenchmarkRun(b *testing.B) {
	m := Start(b, machine.Options{Cores: 1})
	for b.Loop() {
		m.Run(b, Options{}, "true")
	}
}
