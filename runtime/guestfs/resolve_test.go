package guestfs

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// world is the host of most tables here.
func world(t testing.TB) *memFS {
	return newMem(t,
		"/r/usr/lib/libc", "/r/usr/bin/sh", "/r/lib -> usr/lib", "/r/bin -> /usr/bin", "/r/etc/passwd",
		"/r/home/u/f", "/r/home/u/up -> ..", "/r/home/u/here -> .", "/r/tmp/",
		"/r/loop -> loop", "/r/dangling -> missing/x", "/r/gone -> nothing", "/r/toroot -> /", "/r/slash -> etc/", "/r/fslash -> etc/passwd/",
		"/r/todev -> /dev/null", "/r/dev/hidden", "/r/locked/ nosearch", "/r/locked/in/x",
		"/r/out -> /../../x/secret", "/r/magic -> /proc/self/exe",
		"/x/secret", "/dev/null", "/dev/shm/a", "/dev/link -> /etc/passwd", "/data/one/f", "/data/two/f", "/data/file",
		"/r/shut/ nosearch", "/r/shut/b/", "/sys/odd/ nolook", "/sys/odd/in/f", "/sys/oddlink -> odd/in",
	)
}

func worldBinds() []Bind {
	return []Bind{
		{Host: "/dev", Guest: "/dev"}, {Host: "/data/two", Guest: "/dev/two"}, {Host: "/data/file", Guest: "/etc/bound"},
		{Host: "/data/one", Guest: "/not/there/one"}, {Host: "/sys", Guest: "/sys"}, {Host: "/r/tmp", Guest: "/dev/shm"},
		{Host: "/data/one", Guest: "/shut/b"},
	}
}

// errno prints an errno by what the tables call it.
func errnoName(e syscall.Errno) string {
	names := map[syscall.Errno]string{0: "", syscall.ENOENT: "ENOENT", syscall.ENOTDIR: "ENOTDIR", syscall.EACCES: "EACCES",
		syscall.ELOOP: "ELOOP", syscall.ENAMETOOLONG: "ENAMETOOLONG", syscall.EXDEV: "EXDEV", syscall.EINVAL: "EINVAL"}
	if n, ok := names[e]; ok {
		return n
	}
	return e.Error()
}

// outcome is what a table compares: an errno, or the two paths.
func outcome(res *Result, errno syscall.Errno) string {
	if errno != 0 {
		return errnoName(errno)
	}
	return string(res.Host) + " as " + string(res.Guest)
}

func TestResolve(t *testing.T) {
	long := strings.Repeat("n", 255)
	for _, tt := range []struct {
		path string
		how  Flags
		want string
	}{
		{"", Follow, "ENOENT"},
		{"/", Follow, "/r as /"},
		{"//", 0, "/r as /"},
		{"/.", 0, "/r/. as /"},
		{"/..", 0, "/r as /"},
		{"/../../x/secret", Follow, "ENOENT"},
		{"/out", Follow, "ENOENT"},
		{"/usr/lib/libc", Follow, "/r/usr/lib/libc as /usr/lib/libc"},
		{"/lib/libc", Follow, "/r/usr/lib/libc as /usr/lib/libc"},
		{"/lib", Follow, "/r/usr/lib as /usr/lib"},
		{"/lib", 0, "/r/lib as /lib"},
		{"/lib/", 0, "/r/usr/lib/ as /usr/lib"},
		{"/lib/.", 0, "/r/usr/lib/. as /usr/lib"},
		{"/lib/..", 0, "/r/usr as /usr"},
		{"/bin/./sh", Follow, "/r/usr/bin/sh as /usr/bin/sh"},
		{"/bin//sh", Follow, "/r/usr/bin/sh as /usr/bin/sh"},
		{"/home/u/up/u/here/f", Follow, "/r/home/u/f as /home/u/f"},
		{"/toroot", Follow, "/r as /"},
		{"/toroot/..", Follow, "/r as /"},
		{"/toroot/lib", Follow, "/r/usr/lib as /usr/lib"},
		{"/slash", Follow, "/r/etc/ as /etc"},
		{"/slash/passwd", Follow, "/r/etc/passwd as /etc/passwd"},
		{"/fslash", Follow, "/r/etc/passwd/ as /etc/passwd"},
		{"/loop", Follow, "ELOOP"},
		{"/loop", 0, "/r/loop as /loop"},
		{"/loop/", 0, "ELOOP"},
		{"/loop/x", 0, "ELOOP"},
		{"/dangling", Follow, "ENOENT"},
		{"/dangling", 0, "/r/dangling as /dangling"},
		{"/gone", Follow | Create, "/r/nothing as /nothing"},
		{"/gone", Create, "/r/gone as /gone"},
		{"/gone/", Create | Follow, "/r/gone/ as /gone"},
		{"/gone/", 0, "/r/nothing/ as /nothing"},
		{"/gone", Parent, "/r/gone as /gone"},
		{"/gone/", Parent, "/r/gone/ as /gone"},
		{"/lib/", Parent, "/r/lib/ as /lib"},
		{"/lib/new", Parent, "/r/usr/lib/new as /usr/lib/new"},
		{"/lib/.", Parent, "/r/usr/lib/. as /usr/lib"},
		{"/lib/./", Parent, "/r/usr/lib/./ as /usr/lib"},
		{"/lib/..", Parent, "/r/usr/lib/.. as /usr/lib"},
		{"/", Parent, "/ as /"},
		{"///", Parent, "/ as /"},
		{"/missing", Follow, "/r/missing as /missing"},
		{"/missing/x", Follow, "ENOENT"},
		{"/missing/x", Parent, "ENOENT"},
		{"/missing/..", Follow, "ENOENT"},
		{"/missing/.", Follow, "ENOENT"},
		{"/missing/", Follow, "/r/missing/ as /missing"},
		{"/missing/", Parent, "/r/missing/ as /missing"},
		{"/etc/passwd/", 0, "/r/etc/passwd/ as /etc/passwd"},
		{"/etc/passwd/x", 0, "ENOTDIR"},
		{"/etc/passwd/.", 0, "ENOTDIR"},
		{"/etc/passwd/..", 0, "ENOTDIR"},
		{"/locked", Follow, "/r/locked as /locked"},
		{"/locked/in", 0, "/r/locked/in as /locked/in"},
		{"/locked/in/x", 0, "EACCES"},
		{"/locked/..", 0, "EACCES"},
		{"/locked/.", 0, "/r/locked/. as /locked"},
		{"/dev", Follow, "/dev as /dev"},
		{"/dev/null", Follow, "/dev/null as /dev/null"},
		{"/dev/hidden", Follow, "/dev/hidden as /dev/hidden"},
		{"/dev/link", Follow, "/r/etc/passwd as /etc/passwd"},
		{"/dev/two/f", Follow, "/data/two/f as /dev/two/f"},
		{"/dev/two/../null", Follow, "/dev/null as /dev/null"},
		{"/dev/..", Follow, "/r as /"},
		{"/dev/shm/x", Follow, "/r/tmp/x as /dev/shm/x"},
		{"/todev", Follow, "/dev/null as /dev/null"},
		{"/etc/bound", Follow, "/data/file as /etc/bound"},
		{"/etc/bound/", Follow, "/data/file/ as /etc/bound"},
		{"/etc/bound/x", 0, "ENOTDIR"},
		{"/etc/bound/x", Parent, "ENOTDIR"},
		{"/shut/b/f", Follow, "EACCES"},
		{"/shut/b", Parent, "EACCES"},
		{"/locked/x", Parent, "/r/locked/x as /locked/x"},
		{"/locked/x", Parent | Exact, "EACCES"},
		{"/locked/.", Parent | Exact, "EACCES"},
		{"/usr/x", Parent | Exact, "/r/usr/x as /usr/x"},
		{"/not", Follow, "/r/not as /not"},
		{"/not/there/one/f", Follow, "/data/one/f as /not/there/one/f"},
		{"/not/there/one/../one/f", Follow, "/data/one/f as /not/there/one/f"},
		{"/not/there/two", Follow, "/r/not/there/two as /not/there/two"},
		{"/not/here/x", Follow, "ENOENT"},
		{"/sys/odd/in/f", Follow, "/sys/odd/in/f as /sys/odd/in/f"},
		{"/sys/odd/../odd/in/f", Follow, "/sys/odd/in/f as /sys/odd/in/f"},
		{"/not/" + long + "n/x", Follow, "ENAMETOOLONG"},
		{"/not/" + long + "n", Parent, "ENAMETOOLONG"},
		{"/not/" + long + "/x", Follow, "ENOENT"},
		{"/sys/oddlink/f", Follow, "/sys/odd/in/f as /sys/odd/in/f"},
		{"/sys/odd/in/../in/f", Follow, "/sys/odd/in/f as /sys/odd/in/f"},
		{"/" + long, Follow, "/r/" + long + " as /" + long},
		{"/" + long + "/x", Follow, "ENOENT"},
		{"/" + long + "n/x", Follow, "ENAMETOOLONG"},
		{"/missing/" + long + "n/x", Follow, "ENOENT"},
		{"/" + strings.Repeat("./", 2046) + "etc", Follow, "ENAMETOOLONG"},
		{"/" + strings.Repeat("./", 2045) + "tmp", Follow, "/r/tmp as /tmp"},
		{"/" + strings.Repeat("./", 2045) + "/tmp", Follow, "/r/tmp as /tmp"},
		{"relative", Follow, "ENOTDIR"},
		{"/lib/libc", Follow | NoLinks, "ELOOP"},
		{"/lib", NoLinks, "/r/lib as /lib"},
		{"/usr/lib", Follow | Beneath, "EXDEV"},
		{"/dev/null", Follow | NoCross, "EXDEV"},
		{"/etc/passwd", Follow | NoCross, "/r/etc/passwd as /etc/passwd"},
	} {
		fs := world(t)
		r := mustNew(t, Config{Root: "/r", Binds: worldBinds(), FS: fs})
		var res Result
		errno := r.Resolve(&res, Caller{}, Base{}, []byte(tt.path), tt.how)
		if got := outcome(&res, errno); got != tt.want {
			t.Errorf("Resolve(%.60q, %#x) = %s, want %s", tt.path, tt.how, got, tt.want)
		}
		r = mustNew(t, Config{Root: "/r", Binds: worldBinds(), FS: provingFS{fs}})
		sameCall(t, fs, tt.path, tt.want, func(res *Result) syscall.Errno {
			return r.Resolve(res, Caller{}, Base{}, []byte(tt.path), tt.how)
		})
	}
}

// sameCall allows a proof to leave an errno to the call itself.
func sameCall(t *testing.T, fs *memFS, path, want string, resolve func(*Result) syscall.Errno) {
	t.Helper()
	var res Result
	errno := resolve(&res)
	got := outcome(&res, errno)
	if errno == 0 && got != want {
		if _, errno = fs.find(terminated(res.Host)); errno != 0 {
			got = errnoName(errno)
		}
	}
	if got != want {
		t.Errorf("with proofs Resolve(%.60q) = %s, want %s", path, got, want)
	}
}

func TestLinkLimit(t *testing.T) {
	fs := newMem(t, "/r/l0 -> end", "/r/end")
	for i := 1; i < 45; i++ {
		fs.add(fmt.Sprintf("/r/l%d -> l%d", i, i-1))
		fs.add(fmt.Sprintf("/r/s%d -> .", i))
	}
	r := mustNew(t, Config{Root: "/r", FS: fs})
	var res Result
	for _, tt := range []struct {
		path string
		want string
	}{
		{"/l38", "/r/end as /end"},
		{"/l39", "/r/end as /end"},
		{"/l40", "ELOOP"},
		{strings.Repeat("/s1", 40) + "/end", "/r/end as /end"},
		{strings.Repeat("/s1", 41) + "/end", "ELOOP"},
	} {
		errno := r.Resolve(&res, Caller{}, Base{}, []byte(tt.path), Follow)
		if got := outcome(&res, errno); got != tt.want {
			t.Errorf("Resolve(%q) = %s, want %s", tt.path, got, tt.want)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range []struct {
		base, path string
		how        Flags
		want       string
	}{
		{"/r/home/u", "f", Follow, "/r/home/u/f as /home/u/f"},
		{"/r/home/u", "../../lib/libc", Follow, "/r/usr/lib/libc as /usr/lib/libc"},
		{"/r/home/u", "../../../../x", 0, "/r/x as /x"},
		{"/r", "etc", 0, "/r/etc as /etc"},
		{"/r", ".", 0, "/r/. as /"},
		{"/r/tmp", "x", 0, "/r/tmp/x as /dev/shm/x"},
		{"/dev/shm", "x", 0, "EACCES"}, // hidden
		{"/data/two", "..", 0, "/dev as /dev"},
		{"/data", "two", 0, "EACCES"},
		{"/data/twofold", "x", 0, "EACCES"},
		{"/data/one", "../one", 0, "/data/one as /not/there/one"},
		{"/r/shut", "b/f", 0, "EACCES"},
		{"/r/shut/x", "../b/f", 0, "EACCES"},
		{"/data/one", "../../..", 0, "/r as /"},
		{"/rr", "etc", 0, "EACCES"},
		{"pipe:[1]", "etc", 0, "ENOTDIR"},
		{"/r/etc/passwd", "x", Follow, "/r/etc/passwd/x as /etc/passwd/x"},
		{"/r/etc/passwd", "x/y", Follow, "ENOTDIR"},
		{"/r/home", "u/f", Beneath, "/r/home/u/f as /home/u/f"},
		{"/r/home", "u/../u/f", Beneath, "/r/home/u/f as /home/u/f"},
		{"/r/home", "u/up/../x", Beneath, "EXDEV"},
		{"/r/home", "../x", Beneath, "EXDEV"},
		{"/r/home", "../x", InRoot, "/r/home/x as /home/x"},
		{"/r/home", "/../u/f", InRoot, "/r/home/u/f as /home/u/f"},
		{"/r", "toroot/x", Follow | InRoot, "/r/x as /x"},
		{"/r", "toroot/x", Beneath, "EXDEV"},
		{"/r", "dev/..", NoCross, "EXDEV"},
		{"/dev", "..", NoCross, "EXDEV"},
	} {
		r := mustNew(t, Config{Root: "/r", Binds: worldBinds(), FS: world(t)})
		var res Result
		errno := r.Resolve(&res, Caller{}, Base{Host: []byte(tt.base)}, []byte(tt.path), tt.how)
		if got := outcome(&res, errno); got != tt.want {
			t.Errorf("Resolve(%q from %s, %#x) = %s, want %s", tt.path, tt.base, tt.how, got, tt.want)
		}
	}
}

// oddLinks says that everything is a symlink and reads it strangely.
type oddLinks struct {
	*memFS
	text  string
	errno syscall.Errno
}

func (o *oddLinks) Lstat([]byte) (uint32, syscall.Errno) { return typeLink, 0 }

func (o *oddLinks) Readlink(_, buf []byte) (int, syscall.Errno) { return copy(buf, o.text), o.errno }

func TestOddLinks(t *testing.T) {
	for _, tt := range []struct {
		text  string
		errno syscall.Errno
		want  syscall.Errno
	}{
		{"", syscall.EINVAL, syscall.ENOENT}, // no link any more
		{"", syscall.EIO, syscall.EIO},
		{"", 0, syscall.ENOENT},
		{strings.Repeat("/", PathMax-1), 0, 0},
		{strings.Repeat("/", PathMax), 0, syscall.ENAMETOOLONG},
		{strings.Repeat("/x", PathMax), 0, syscall.ENAMETOOLONG},
	} {
		fs := &oddLinks{memFS: newMem(t, "/r/")}
		r := mustNew(t, Config{Root: "/r", FS: fs.memFS})
		r.fs, fs.text, fs.errno = fs, tt.text, tt.errno
		var res Result
		if got := r.Resolve(&res, Caller{}, Base{}, []byte("/a"), Follow); got != tt.want {
			t.Errorf("Resolve() of a link with %d bytes, %v = %v, want %v", len(tt.text), tt.errno, got, tt.want)
		}
	}
}

// TestAncestor replaces the directories that lead to a bind.
func TestAncestor(t *testing.T) {
	fs := newMem(t, "/r/a/", "/x/f", "/r/c/d")
	r := mustNew(t, Config{Root: "/r", FS: fs, Binds: []Bind{{Host: "/x", Guest: "/a/b"}}})
	for _, tt := range []struct{ line, path, want string }{
		{"/r/a", "/a/b/f", "/x/f as /a/b/f"}, // a file: still the way to the bind
		{"/r/a", "/a/c/f", "ENOTDIR"},
		{"/r/a -> /c", "/a/d", "/r/c/d as /c/d"},
		{"/r/a -> /c", "/a/b/f", "ENOENT"},
	} {
		delete(fs.root.in["r"].in, "a")
		fs.add(tt.line)
		var res Result
		errno := r.Resolve(&res, Caller{}, Base{}, []byte(tt.path), Follow)
		if got := outcome(&res, errno); got != tt.want {
			t.Errorf("with %s Resolve(%s) = %s, want %s", tt.line, tt.path, got, tt.want)
		}
	}
}

// TestPlace looks at what a Result says beside the paths.
func TestPlace(t *testing.T) {
	type place struct {
		via, dir     Via
		mount, above bool
		last         Last
	}
	fs := world(t)
	for _, proving := range []FS{fs, provingFS{fs}} {
		r := mustNew(t, Config{Root: "/r", Binds: worldBinds(), FS: proving})
		for _, tt := range []struct {
			path string
			want place
		}{
			{"/", place{1, 1, false, true, Root}},
			{"/.", place{1, 1, false, true, Dot}},
			{"/dev", place{2, 1, true, true, Name}},
			{"/dev/", place{2, 1, true, true, Name}},
			{"/dev/.", place{2, 2, false, true, Dot}},
			{"/dev/..", place{2, 2, false, true, DotDot}},
			{"/dev/null", place{2, 2, false, false, Name}},
			{"/dev/two", place{3, 2, true, false, Name}},
			{"/dev/two/f", place{3, 3, false, false, Name}},
			{"/dev/two/../x", place{2, 2, false, false, Name}},
			{"/dev/two/../../x", place{1, 1, false, false, Name}},
			{"/etc/bound", place{4, 1, true, false, Name}},
			{"/not", place{1, 1, false, true, Name}},
			{"/not/there", place{1, 1, false, true, Name}},
			{"/not/there/x", place{1, 1, false, false, Name}},
			{"/usr/lib/x", place{1, 1, false, false, Name}},
			{"/dev/shm/x", place{7, 7, false, false, Name}},
			{"/toroot/dev", place{2, 1, true, true, Name}},
		} {
			var res Result
			errno := r.Resolve(&res, Caller{}, Base{}, []byte(tt.path), Parent)
			if got := (place{res.Via, res.Dir, res.Mount, res.Above, res.Last}); got != tt.want || errno != 0 {
				t.Errorf("Resolve(%s) is at %+v, %v, want %+v", tt.path, got, errno, tt.want)
			}
		}
	}
}

// TestCovered finds the place under a bind by another way to it.
func TestCovered(t *testing.T) {
	r := mustNew(t, Config{Root: "/r", FS: newMem(t, "/r/a/b/", "/x/"), Binds: []Bind{{Host: "/x", Guest: "/a/b"}, {Host: "/r/a", Guest: "/alias"}}})
	var res Result
	for path, want := range map[string]bool{"/a/b": true, "/alias/b": true, "/alias/c": false, "/alias": true, "/a": false, "/alias/b/.": false} {
		if errno := r.Resolve(&res, Caller{}, Base{}, []byte(path), Parent); errno != 0 || res.Mount != want {
			t.Errorf("Resolve(%s) = Mount %v, %v, want %v", path, res.Mount, errno, want)
		}
	}
}

// TestClosedBind has a bind in a bind that may not be searched.
func TestClosedBind(t *testing.T) {
	fs := newMem(t, "/r/", "/x/ nosearch", "/y/f")
	for _, proving := range []FS{fs, provingFS{fs}} {
		r := mustNew(t, Config{Root: "/r", FS: proving, Binds: []Bind{{Host: "/x", Guest: "/m"}, {Host: "/y", Guest: "/m/in"}}})
		var res Result
		for _, path := range []string{"/m/in/f", "/m/in/d/f", "/m/in"} {
			if errno := r.Resolve(&res, Caller{}, Base{}, []byte(path), Follow); errno != syscall.EACCES {
				t.Errorf("Resolve(%s) = %s, %v, want EACCES", path, res.Host, errno)
			}
		}
	}
}
