package guestfs

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestParseBind(t *testing.T) {
	for _, tt := range []struct {
		word string
		want Bind
	}{
		{"/a", Bind{Host: "/a", Guest: "/a"}},
		{"/a:/b", Bind{Host: "/a", Guest: "/b"}},
		{"/a:/b!", Bind{Host: "/a", Guest: "/b", Literal: true}},
		{"/a:b", Bind{Host: "/a", Guest: "/w/b"}},
		{"a:b", Bind{Host: "/w/a", Guest: "/w/b"}},
		{".", Bind{Host: "/w/.", Guest: "/w/."}},
		{"/a:", Bind{Host: "/a", Guest: "/a"}},
		{"/a:/b:c", Bind{Host: "/a", Guest: "/b:c"}},
	} {
		if got, err := ParseBind(tt.word, "/w"); got != tt.want || err != nil {
			t.Errorf("ParseBind(%q) = %+v, %v, want %+v", tt.word, got, err, tt.want)
		}
	}
	if _, err := ParseBind(":/b", "/w"); err == nil {
		t.Error("ParseBind(:/b) = nil, want an error")
	}
}

// TestTargets shows where a bind is found, by a path that is not bound.
func TestTargets(t *testing.T) {
	host := []string{"/r/usr/lib/", "/r/lib -> usr/lib", "/r/bin/dash", "/r/bin/sh -> dash", "/r/dangling -> /home/none", "/r/dev/fd -> /proc/self/fd",
		"/r/dev/stdin -> /proc/self/fd/0", "/r/chain -> lib", "/r/loop -> loop", "/x/f", "/x/in/g", "/file", "/link -> /x", "/proc/self -> 1", "/proc/1/fd/0 -> pipe:[1]", "/proc/7/fd/5", "/proc/7/task/8/fd/5", "/r/home/", "/y/link -> in", "/y/in/"}
	for _, tt := range []struct {
		binds      []Bind
		path, want string
	}{
		// a directory takes the place of a symlink, a file does what it leads to
		{[]Bind{{"/x", "/lib", false}}, "/lib/f", "/x/f as /lib/f"},
		{[]Bind{{"/x", "/lib", false}}, "/usr/lib/f", "/r/usr/lib/f as /usr/lib/f"},
		{[]Bind{{"/file", "/bin/sh", false}}, "/bin/sh", "/file as /bin/dash"},
		{[]Bind{{"/file", "/bin/sh", false}}, "/bin/dash", "/file as /bin/dash"},
		{[]Bind{{"/file", "/bin/sh", true}}, "/bin/sh", "/file as /bin/sh"},
		{[]Bind{{"/file", "/bin/sh", true}}, "/bin/dash", "/r/bin/dash as /bin/dash"},
		{[]Bind{{"/file", "/loop", false}}, "/loop", "/file as /loop"},
		// the symlinks before the last are followed all the same
		{[]Bind{{"/file", "/lib/new", true}}, "/usr/lib/new", "/file as /usr/lib/new"},
		{[]Bind{{"/file", "/lib/../lib/./new/", false}}, "/usr/lib/new", "/file as /usr/lib/new"},
		{[]Bind{{"/x", "/missing/../a//b/", false}}, "/a/b/f", "/x/f as /a/b/f"},
		// nothing behind a link of procfs is a target
		{[]Bind{{"/proc", "/proc", false}, {"/proc/self/fd/0", "/dev/stdin", false}}, "/dev/stdin", "/proc/7/fd/0 as /dev/stdin"},
		{[]Bind{{"/proc/self/fd", "/dev/fd", false}, {"/proc", "/proc", false}}, "/dev/fd/5", "/proc/7/fd/5 as /dev/fd/5"},
		{[]Bind{{"/proc/thread-self/fd", "/dev/fd", false}}, "/dev/fd/5", "/proc/7/task/8/fd/5 as /dev/fd/5"},
		{[]Bind{{"/proc", "/proc", false}, {"/file", "/proc/stat", false}}, "/proc/stat", "/file as /proc/stat"},
		// the last of two wins, the inner one is never hidden
		{[]Bind{{"/x", "/m", false}, {"/y", "/m", false}}, "/m", "/y as /m"},
		{[]Bind{{"/x", "/usr/lib", false}, {"/file", "/lib/f", false}, {"/y", "/usr/lib", false}}, "/usr/lib/f", "/file as /usr/lib/f"},
		{[]Bind{{"/file", "/m/f", false}, {"/x", "/m", false}}, "/m/f", "/file as /m/f"},
		{[]Bind{{"/x", "/m/link/n", false}, {"/y", "/m", false}}, "/m/in/n/f", "/x/f as /m/in/n/f"},
		{[]Bind{{"/x", "/", false}}, "/f", "/x/f as /f"},
		// host sides are followed on the host
		{[]Bind{{"/link", "/m", false}}, "/m/f", "/x/f as /m/f"},
		{[]Bind{{"/link/../link/in", "/m", false}}, "/m/g", "/x/in/g as /m/g"},
	} {
		r := mustNew(t, Config{Root: "/r", Binds: tt.binds, FS: newMem(t, host...)})
		var res Result
		errno := r.Resolve(&res, Caller{Tgid: 7, Tid: 8}, Base{}, []byte(tt.path), Follow)
		if got := outcome(&res, errno); got != tt.want {
			t.Errorf("Resolve(%s) with %+v = %s, want %s", tt.path, tt.binds, got, tt.want)
		}
	}
}

func TestNewErrors(t *testing.T) {
	fs := newMem(t, "/r/etc/passwd", "/file", "/loop -> loop", "/odd/ nolook", "/odd/in/f")
	for _, tt := range []struct {
		root string
		bind Bind
		want syscall.Errno
	}{
		{"/none", Bind{}, syscall.ENOENT},
		{"/file", Bind{}, syscall.ENOTDIR},
		{"", Bind{}, syscall.ENOENT},
		{"/r", Bind{Host: "/none", Guest: "/x"}, syscall.ENOENT},
		{"/r", Bind{Host: "/loop", Guest: "/x"}, syscall.ELOOP},
		{"/r", Bind{Host: "none", Guest: "/x"}, syscall.EINVAL},
		{"/r", Bind{Host: "/file", Guest: "x"}, syscall.EINVAL},
		{"/r", Bind{Host: "/file", Guest: "/etc/passwd/x"}, syscall.ENOTDIR},
		{"/r", Bind{Host: "/file", Guest: "/" + strings.Repeat("x", PathMax)}, syscall.ENAMETOOLONG},
		{"/r", Bind{Host: "/odd/in/f", Guest: "/odd/in/f"}, 0},
		{"/r", Bind{Host: "/odd", Guest: "/odd"}, 0},
	} {
		_, err := New(Config{Root: tt.root, Binds: []Bind{tt.bind}, FS: fs})
		var bad *BindError
		onBind := tt.root == "/r" && tt.want != 0
		switch {
		case tt.want == 0 && err != nil, tt.want != 0 && !errors.Is(err, tt.want), errors.As(err, &bad) != onBind, errors.Is(err, ErrBind) != onBind:
			t.Errorf("New(%s, %+v) = %v, want %v", tt.root, tt.bind, err, tt.want)
		}
	}
}

func TestManyBinds(t *testing.T) {
	fs := newMem(t, "/r/", "/h/")
	var binds []Bind
	for i := range 256 {
		fs.add(fmt.Sprintf("/h/%d/f", i))
		binds = append(binds, Bind{Host: fmt.Sprintf("/h/%d", i), Guest: fmt.Sprintf("/d%d/m%d", i%16, i)})
	}
	r := mustNew(t, Config{Root: "/r", Binds: binds, FS: fs})
	var res Result
	for i := range 256 {
		guest, host := fmt.Sprintf("/d%d/m%d/f", i%16, i), fmt.Sprintf("/h/%d/f", i)
		errno := r.Resolve(&res, Caller{}, Base{}, []byte(guest), Follow)
		if errno != 0 || string(res.Host) != host {
			t.Errorf("Resolve(%s) = %s, %v, want %s", guest, res.Host, errno, host)
		}
		if got, _, err := r.Guest(nil, []byte(host), Caller{}, 0); string(got) != guest || err != nil {
			t.Errorf("Guest(%s) = %s, %v, want %s", host, got, err, guest)
		}
	}
}
