package guestfs

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// hot are the paths that are measured, with what is looked at for each.
var hot = []struct {
	name, path  string
	how         Flags
	calls, with int // looks at the host, and with proofs
}{
	{"deep", "/usr/lib/aarch64-linux-gnu/python3/os.py", Follow, 5, 1},
	{"deep nofollow", "/usr/lib/aarch64-linux-gnu/python3/os.py", 0, 4, 1},
	{"parent", "/usr/lib/aarch64-linux-gnu/python3/new", Parent, 4, 1},
	{"missing", "/usr/lib/aarch64-linux-gnu/python3/no.py", Follow, 5, 1},
	{"relative", "python3/os.py", Follow, 2, 1},
	{"symlink", "/lib/aarch64-linux-gnu/python3/os.py", Follow, 7, 4},
	{"dotdot", "/usr/lib/../lib/aarch64-linux-gnu/python3/os.py", Follow, 7, 7},
	{"bind", "/dev/shm/a/b/c", Follow, 3, 1},
	{"device", "/dev/null", Follow, 1, 1},
	{"self", "/proc/self/status", Follow, 3, 3},
	{"magic", "/proc/self/fd/3", Follow, 4, 4},
}

func hotResolver(t testing.TB) (*memFS, *Resolver, *Resolver) {
	m := newMem(t, "/data/r/usr/lib/aarch64-linux-gnu/python3/os.py", "/data/r/lib -> usr/lib", "/shm/a/b/c", "/dev/null", "/proc/self -> 1", "/proc/7/status", "/proc/7/fd/3 -> pipe:[1]")
	c := Config{Root: "/data/r", FS: m, Binds: []Bind{{Host: "/dev", Guest: "/dev"}, {Host: "/shm", Guest: "/dev/shm"}, {Host: "/proc", Guest: "/proc"}}}
	for i := range 22 {
		m.add(fmt.Sprintf("/host/%d/", i))
		c.Binds = append(c.Binds, Bind{Host: fmt.Sprintf("/host/%d", i), Guest: fmt.Sprintf("/mnt/%d", i)})
	}
	plain := mustNew(t, c)
	c.FS = provingFS{m}
	return m, plain, mustNew(t, c)
}

var (
	hotBase   = Base{Host: []byte("/data/r/usr/lib/aarch64-linux-gnu")}
	hotCaller = Caller{Tgid: 7, Tid: 7}
)

// TestCost counts looks at the host, and allocations, of which there are none.
func TestCost(t *testing.T) {
	m, plain, proving := hotResolver(t)
	var res Result
	for _, h := range hot {
		path := []byte(h.path)
		for r, want := range map[*Resolver]int{plain: h.calls, proving: h.with} {
			m.calls = 0
			if errno := r.Resolve(&res, hotCaller, hotBase, path, h.how); errno != 0 {
				t.Errorf("Resolve(%s) = %v, want nil", path, errno)
			}
			if m.calls != want {
				t.Errorf("Resolve(%s) looked %d times, want %d (proofs: %v)", path, m.calls, want, r.prover != nil)
			}
			if r.prover != nil {
				continue // the one of the test allocates
			}
			if n := testing.AllocsPerRun(100, func() { r.Resolve(&res, hotCaller, hotBase, path, h.how) }); n != 0 {
				t.Errorf("Resolve(%s) allocates %v times, want 0", path, n)
			}
		}
	}
	dst := make([]byte, 0, 256)
	host := []byte("/data/r/usr/lib/aarch64-linux-gnu/python3")
	if n := testing.AllocsPerRun(100, func() { dst, _, _ = plain.Guest(dst[:0], host, hotCaller, 0) }); n != 0 {
		t.Errorf("Guest(%s) allocates %v times, want 0", host, n)
	}
	link := []byte("/proc/self/fd/3")
	if n := testing.AllocsPerRun(100, func() {
		plain.Resolve(&res, hotCaller, hotBase, link, 0)
		dst, _ = plain.Readlink(dst[:0], hotCaller, &res)
	}); n != 0 {
		t.Errorf("Readlink(%s) allocates %v times, want 0", link, n)
	}
}

func BenchmarkResolve(b *testing.B) {
	_, plain, _ := hotResolver(b)
	for _, h := range hot {
		b.Run(strings.ReplaceAll(h.name, " ", "-"), func(b *testing.B) {
			var res Result
			path := []byte(h.path)
			b.ReportAllocs()
			for b.Loop() {
				plain.Resolve(&res, hotCaller, hotBase, path, h.how)
			}
		})
	}
}

// dirFS holds directories only and costs nothing: what is left is the walk.
type dirFS struct{ FS }

func (dirFS) Lstat([]byte) (uint32, syscall.Errno) { return typeDir | 0o755, 0 }

func BenchmarkWalk(b *testing.B) {
	r := mustNew(b, Config{Root: "/data/r", FS: dirFS{}, Binds: []Bind{{Host: "/dev", Guest: "/dev"}, {Host: "/proc", Guest: "/proc"}}})
	var res Result
	path := []byte(hot[0].path)
	b.ReportAllocs()
	for b.Loop() {
		r.Resolve(&res, hotCaller, hotBase, path, Follow)
	}
}

func BenchmarkGuest(b *testing.B) {
	_, plain, _ := hotResolver(b)
	host := []byte("/data/r/usr/lib/aarch64-linux-gnu/python3")
	dst := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		dst, _, _ = plain.Guest(dst[:0], host, hotCaller, 0)
	}
}

// TestLongPaths goes where the guest path fits and the host path does not.
func TestLongPaths(t *testing.T) {
	base := folder(t)
	for _, depth := range []int{4000, 4095 - len("/f"), 4094 - len("/f")} {
		root := fmt.Sprintf("%s/%d", base, depth)
		must(t, os.Mkdir(root, 0o755))
		makeDeep(t, root, depth)
		guest := deepName(depth) + "/f"
		r := mustNew(t, Config{Root: root, FS: osFS{}})
		var res Result
		if errno := r.Resolve(&res, Caller{}, Base{}, []byte(guest), Follow); errno != 0 || len(res.Host) != len(root)+len(guest) {
			t.Fatalf("Resolve(%d bytes) = %d bytes, %v, want %d", len(guest), len(res.Host), errno, len(root)+len(guest))
		}
		if mode, errno := (osFS{}).Lstat(res.Host); errno != 0 || mode&typeMask != syscall.S_IFREG {
			t.Errorf("lstat of %d bytes = %#o, %v, want a file", len(res.Host), mode, errno)
		}
		up := deepName(depth)[:3000] + "/../x"
		if errno := r.Resolve(&res, Caller{}, Base{}, []byte(up), Follow); errno != 0 && errno != syscall.ENOENT {
			t.Errorf("Resolve(%d bytes) = %v, want nil or ENOENT", len(up), errno)
		}
	}
}

func deepName(depth int) string {
	name := strings.Repeat("/"+strings.Repeat("d", 99), depth/100)
	if rest := depth % 100; rest > 1 {
		name += "/" + strings.Repeat("e", rest-1)
	}
	return name
}

// makeDeep makes the folders one inside the other, and a file f in the last.
func makeDeep(t *testing.T, root string, depth int) {
	t.Helper()
	left := deepName(depth)
	for dir := root; left != ""; {
		cut := min(len(left), 2000)
		if cut < len(left) {
			cut = strings.LastIndexByte(left[:cut], '/')
		}
		must(t, os.MkdirAll(dir+left[:cut], 0o755))
		f, err := os.Open(dir + left[:cut])
		must(t, err)
		t.Cleanup(func() { f.Close() })
		dir, left = fmt.Sprintf("/proc/self/fd/%d", f.Fd()), left[cut:]
		if left == "" {
			must(t, os.WriteFile(dir+"/f", nil, 0o644))
		}
	}
}
