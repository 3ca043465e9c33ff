package guestfs

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGuest(t *testing.T) {
	fs := newMem(t, "/r/home/u/f", "/r/mnt/under", "/x/deep/f", "/x/file", "/y/f", "/proc/self -> 1", "/proc/7/fd/")
	binds := []Bind{
		{Host: "/x", Guest: "/mnt"},        // via 2
		{Host: "/x", Guest: "/again"},      // 3
		{Host: "/x/deep", Guest: "/d"},     // 4
		{Host: "/r/home", Guest: "/alias"}, // 5
		{Host: "/y", Guest: "/mnt/deep"},   // 6
		{Host: "/x/file", Guest: "/file"},  // 7
		{Host: "/proc/self/fd", Guest: "/dev/fd"},
	}
	r := mustNew(t, Config{Root: "/r", Binds: binds, FS: fs})
	who := Caller{Tgid: 7, Tid: 8}
	for _, tt := range []struct {
		host string
		via  Via
		want string
		then Via
	}{
		{"/r", 0, "/", 1},
		{"/r/", 0, "/", 1},
		{"/r/etc/x", 0, "/etc/x", 1},
		{"/rr/etc", 0, "", 0},
		{"/r/mnt/under", 0, "", 0}, // the bind lies over it
		{"/r/mnt", 0, "", 0},
		{"/r/home/u", 0, "/alias/u", 5},
		{"/r/home/u", 1, "/home/u", 1},
		{"/r/home/u", 4, "/alias/u", 5}, // a hint that cannot be
		{"/r/home/u", 99, "/alias/u", 5},
		{"/x", 0, "/mnt", 2},
		{"/x", 3, "/again", 3},
		{"/x/a", 0, "/mnt/a", 2},
		{"/x/a", 3, "/again/a", 3},
		{"/x/deep/f", 0, "/d/f", 4},
		{"/x/deep/f", 3, "/again/deep/f", 3},
		{"/x/deep/f", 2, "/d/f", 4}, // hidden there by /mnt/deep
		{"/x/deeper", 0, "/mnt/deeper", 2},
		{"/y/f", 0, "/mnt/deep/f", 6},
		{"/x/file", 0, "/file", 7},
		{"/x/file (deleted)", 0, "/file (deleted)", 7},
		{"/x/a (deleted)", 0, "/mnt/a (deleted)", 2},
		{"/x (deleted)", 0, "/mnt (deleted)", 2},
		{"/proc/7/fd/3", 0, "/dev/fd/3", 8},
		{"/proc/8/fd/3", 0, "", 0},
		{"/proc/07/fd", 0, "", 0},
		{"/elsewhere", 0, "", 0},
		{"pipe:[1]", 0, "", 0},
		{"", 0, "", 0},
	} {
		got, then, err := r.Guest([]byte("> "), []byte(tt.host), who, tt.via)
		if string(got) != "> "+tt.want || then != tt.then || errors.Is(err, ErrOutside) != (tt.want == "") {
			t.Errorf("Guest(%q, via %d) = %q, %d, %v, want %q, %d", tt.host, tt.via, got, then, err, tt.want, tt.then)
		}
	}
}

func TestGuestOfHostRoot(t *testing.T) {
	r := mustNew(t, Config{Root: "/", FS: newMem(t, "/a/b")})
	for _, host := range []string{"/", "/a/b", "/a (deleted)"} {
		if got, _, err := r.Guest(nil, []byte(host), Caller{}, 0); string(got) != host || err != nil {
			t.Errorf("Guest(%q) = %q, %v, want the same", host, got, err)
		}
	}
	var res Result
	if errno := r.Resolve(&res, Caller{}, Base{Host: []byte("/")}, []byte("a/../"), 0); errno != 0 || string(res.Host) != "/" || string(res.Guest) != "/" {
		t.Errorf("Resolve(a/../) = %q as %q, %v, want /", res.Host, res.Guest, errno)
	}
}

func TestSplit(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("/d", n/2) + strings.Repeat("x", n%2) }
	for _, tt := range []struct {
		host      string
		dir, rest int
	}{
		{"/a", 0, 2},
		{deep(4095), 0, 4095},
		{deep(4096), 4094, 1},
		{deep(4097), 4094, 2},
		{deep(9000), 4094, 4905},
		{"/" + strings.Repeat("n", 5000), 0, 5001},
		{"/a" + strings.Repeat("/", 5000) + "b", 4095, 1},
		{"/a//", 0, 4},
	} {
		dir, rest := Split([]byte(tt.host))
		if len(dir) != tt.dir || len(rest) != tt.rest || !strings.HasPrefix(tt.host, string(dir)) || !strings.HasSuffix(tt.host, string(rest)) {
			t.Errorf("Split(%d bytes) = %d, %d bytes, want %d, %d", len(tt.host), len(dir), len(rest), tt.dir, tt.rest)
		}
	}
}

func TestReadlink(t *testing.T) {
	fs := newMem(t, "/r/lib -> /usr/lib", "/r/file", "/x/f", "/proc/self -> 1", "/proc/thread-self -> 1/task/1", "/proc/mounts -> self/mounts",
		"/proc/7/fd/1 -> /dev/pts/0", "/proc/7/fd/2 -> /x/f", "/proc/7/fd/3 -> pipe:[1]", "/proc/7/fd/4 -> /x/f (deleted)", "/proc/7/exe -> /loader", "/proc/7/root -> /",
		"/proc/7/cwd -> /r", "/proc/9/exe -> /system/bin/app", "/proc/9/cwd -> /x", "/proc/7/task/8/exe -> /loader")
	r := mustNew(t, Config{Root: "/r", FS: fs, Procs: tracedSeven{}, Binds: []Bind{{Host: "/proc", Guest: "/proc"}, {Host: "/x", Guest: "/mnt"}, {Host: "/x", Guest: "/not/there/x"}}})
	for _, tt := range []struct {
		path, want string
		errno      syscall.Errno
	}{
		{"/lib", "/usr/lib", 0},
		{"/file", "", syscall.EINVAL},
		{"/mnt", "", syscall.EINVAL},
		{"/not", "", syscall.EINVAL},
		{"/missing", "", syscall.ENOENT},
		{"/proc/self", "7", 0},
		{"/proc/thread-self", "7/task/8", 0},
		{"/proc/mounts", "self/mounts", 0},
		{"/proc/self/fd/1", "/dev/pts/0", 0},
		{"/proc/self/fd/2", "/mnt/f", 0},
		{"/proc/self/fd/3", "pipe:[1]", 0},
		{"/proc/7/fd/4", "/mnt/f (deleted)", 0},
		{"/proc/self/exe", "/a/b/prog", 0},
		{"/proc/7/root", "/", 0},
		{"/proc/7/cwd", "/", 0},
		{"/proc/9/exe", "/system/bin/app", 0},
		{"/proc/9/cwd", "/mnt", 0},
	} {
		var res Result
		who := Caller{Tgid: 7, Tid: 8}
		if errno := r.Resolve(&res, who, Base{}, []byte(tt.path), 0); errno != 0 {
			t.Errorf("Resolve(%q) = %v, want nil", tt.path, errno)
			continue
		}
		if got, errno := r.Readlink(nil, who, &res); string(got) != tt.want || errno != tt.errno {
			t.Errorf("Readlink(%q) = %q, %v, want %q, %v", tt.path, got, errno, tt.want, tt.errno)
		}
	}
}

func TestNames(t *testing.T) {
	fs := newMem(t, "/r/dev/", "/x/", "/x/f", "/r/etc/")
	r := mustNew(t, Config{Root: "/r", FS: fs, Binds: []Bind{
		{Host: "/x", Guest: "/dev"}, {Host: "/x", Guest: "/dev/b/c"}, {Host: "/x/f", Guest: "/dev/a"}, {Host: "/x/f", Guest: "/etc/f"}, {Host: "/x", Guest: "/new"},
	}})
	for guest, want := range map[string][]string{"/": {"dev", "etc", "new"}, "/dev": {"a", "b"}, "/dev/b": {"c"}, "/dev/a": nil, "/none": nil} {
		if diff := cmp.Diff(want, r.Names([]byte(guest))); diff != "" {
			t.Errorf("Names(%s): -want +got\n%s", guest, diff)
		}
	}
	want := []Placeholder{
		{"/dev/a", "/x/a", false}, {"/dev/b", "/x/b", true}, {"/dev/b/c", "/x/b/c", true}, {"/etc/f", "/r/etc/f", false}, {"/new", "/r/new", true},
	}
	if diff := cmp.Diff(want, r.Placeholders()); diff != "" {
		t.Errorf("Placeholders(): -want +got\n%s", diff)
	}
}
