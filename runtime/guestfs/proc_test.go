package guestfs

import (
	"testing"
)

// procWorld has a process of the guest, 7 with a thread 8, and a stranger, 9.
func procWorld(t testing.TB) *memFS {
	return newMem(t, "/r/a/b/prog", "/r/home/u/f", "/r/self -> /proc/self", "/x/f", "/kept/1", "/secret/f",
		"/proc/self -> 1", "/proc/thread-self -> 1/task/1", "/proc/7/exe -> /loader", "/proc/7/root -> /", "/proc/7/cwd -> /r/home/u",
		"/proc/7/fd/1 -> /dev/pts/0", "/proc/7/fd/2 -> /r/home/u", "/proc/7/fd/3 -> pipe:[1]", "/proc/7/fd/4 -> /x/gone (deleted)", "/proc/7/fd/5 -> /secret",
		"/proc/7/fd/6 -> /x", "/proc/7/ns/mnt -> mnt:[1]", "/proc/7/stat", "/proc/7/task/8/exe -> /loader", "/proc/7/task/8/fd/2 -> /r/home/u", "/proc/7/map_files/1-2 -> /loader",
		"/proc/9/exe -> /system/app", "/proc/9/root -> /", "/proc/9/cwd -> /secret", "/proc/9/fd/1 -> /secret/f", "/proc/9/fd/2 -> /x/f", "/proc/9/fd/3 -> socket:[2]",
		"/proc/9/fd/4 -> /x/f (deleted)", "/proc/9/map_files/1-2 -> /system/app")
}

// eightToo answers for 7 and 8, and keeps the program of 8 as a descriptor.
type eightToo struct{ tracedSeven }

func (eightToo) Traced(tid int) bool { return tid == 7 || tid == 8 }

func (p eightToo) Link(t *Target, who Caller, tid int, link Link) bool {
	if tid == 8 && link == Exe {
		t.Guest, t.Host = append(t.Guest[:0], "/memfd:prog (deleted)"...), append(t.Host[:0], "/kept/1"...)
		return true
	}
	return p.tracedSeven.Link(t, who, tid, link)
}

func TestProc(t *testing.T) {
	for _, tt := range []struct {
		path string
		how  Flags
		want string
		link Link
	}{
		{"/proc/self", 0, "/proc/self as /proc/self", Self},
		{"/proc/self", Follow, "/proc/7 as /proc/7", NotProc},
		{"/proc/self/stat", Follow, "/proc/7/stat as /proc/7/stat", NotProc},
		{"/self/stat", Follow, "/proc/7/stat as /proc/7/stat", NotProc},
		{"/proc/self/stat/x", Follow, "ENOTDIR", 0},
		{"/proc/thread-self", 0, "/proc/thread-self as /proc/thread-self", ThreadSelf},
		{"/proc/thread-self/fd/2/f", Follow, "/r/home/u/f as /home/u/f", NotProc},
		{"/proc/self/exe", 0, "/proc/7/exe as /proc/7/exe", Exe},
		{"/proc/self/exe", Follow, "/r/a/b/prog as /a/b/prog", NotProc},
		{"/proc/self/exe/", Follow, "/r/a/b/prog/ as /a/b/prog", NotProc},
		{"/proc/self/exe/x", Follow, "ENOTDIR", 0},
		{"/proc/thread-self/exe", Follow, "/kept/1 as /memfd:prog (deleted)", NotProc},
		{"/proc/self/task/8/exe", Follow, "/kept/1 as /memfd:prog (deleted)", NotProc},
		{"/proc/self/mem", Follow, "/proc/7/mem as /proc/7/mem", Mem},
		{"/proc/self/task/8/mem", Follow, "/proc/7/task/8/mem as /proc/7/task/8/mem", Mem},
		{"/proc/self/root", 0, "/proc/7/root as /proc/7/root", ProcRoot},
		{"/proc/self/root", Follow, "/r as /", NotProc},
		{"/proc/self/root/..", Follow, "/r as /", NotProc},
		{"/proc/self/root/home/u", Follow, "/r/home/u as /home/u", NotProc},
		{"/proc/self/cwd", Follow, "/r/home/u as /home/u", NotProc},
		{"/proc/self/cwd/../../x", Follow, "/r/x as /x", NotProc},
		{"/proc/self/fd/1", Follow, "/proc/7/fd/1 as /proc/7/fd/1", Fd},
		{"/proc/self/fd/1", Follow | Create, "/proc/7/fd/1 as /proc/7/fd/1", Fd},
		{"/proc/self/fd/1", 0, "/proc/7/fd/1 as /proc/7/fd/1", Fd},
		{"/proc/self/fd/2/f", Follow, "/r/home/u/f as /home/u/f", NotProc},
		{"/proc/self/fd/2/..", Follow, "/r/home as /home", NotProc},
		{"/proc/self/fd/2/", 0, "/proc/7/fd/2/ as /proc/7/fd/2", Fd},
		{"/proc/self/fd/3", Follow, "/proc/7/fd/3 as /proc/7/fd/3", Fd},
		{"/proc/self/fd/3/x", Follow, "ENOTDIR", 0},
		{"/proc/self/fd/4", Follow, "/proc/7/fd/4 as /proc/7/fd/4", Fd},
		{"/proc/self/fd/4/.", Follow, "/proc/7/fd/4/. as /mnt/gone (deleted)", NotProc},
		{"/proc/self/fd/4/..", Follow, "/x as /mnt", NotProc},
		{"/proc/self/fd/4/../f", Follow, "/x/f as /mnt/f", NotProc},
		{"/proc/self/fd/5/f", Follow, "EACCES", 0},
		{"/proc/self/fd/6/f", Follow, "/x/f as /mnt/f", NotProc},
		{"/proc/self/fd/77", Follow, "/proc/7/fd/77 as /proc/7/fd/77", Fd},
		{"/proc/self/fd/77/x", Follow, "ENOENT", 0},
		{"/proc/self/ns/mnt", Follow, "/proc/7/ns/mnt as /proc/7/ns/mnt", Other},
		{"/proc/self/map_files/1-2", Follow, "/proc/7/map_files/1-2 as /proc/7/map_files/1-2", Other},
		{"/dev/fd/2/f", Follow, "/r/home/u/f as /home/u/f", NotProc},
		{"/dev/fd/1", Follow, "/proc/7/fd/1 as /dev/fd/1", Fd},
		{"/dev/fd/..", Follow, "/r/dev as /dev", NotProc},
		{"/dev/stdin", Follow, "/proc/7/fd/3 as /dev/stdin", Fd},
		{"/dev/stdin", 0, "/proc/7/fd/3 as /dev/stdin", Fd},
		{"/dev/stdin/x", Follow, "ENOTDIR", 0},
		// a stranger's links are read, and followed where they stay inside
		{"/proc/9/exe", 0, "/proc/9/exe as /proc/9/exe", Exe},
		{"/proc/9/exe", Follow, "EACCES", 0},
		{"/proc/9/root", Follow, "EACCES", 0},
		{"/proc/9/root/secret/f", Follow, "EACCES", 0},
		{"/proc/9/cwd/f", Follow, "EACCES", 0},
		{"/proc/9/fd/1", Follow, "EACCES", 0},
		{"/proc/9/fd/2", Follow, "/proc/9/fd/2 as /proc/9/fd/2", Fd},
		{"/proc/9/fd/3", Follow, "/proc/9/fd/3 as /proc/9/fd/3", Fd},
		{"/proc/9/fd/4", Follow, "/proc/9/fd/4 as /proc/9/fd/4", Fd},
		{"/proc/9/map_files/1-2", Follow, "EACCES", 0},
		{"/proc/self/exe", Follow | NoMagic, "ELOOP", 0},
		{"/proc/self/stat", Follow | NoMagic, "/proc/7/stat as /proc/7/stat", NotProc},
		{"/proc/self/stat", Follow | NoLinks, "ELOOP", 0},
		{"/proc/9/fd/3/../x", Parent, "ENOTDIR", 0},
	} {
		fs := procWorld(t)
		fs.add("/proc/7/fd/4").gone = true
		fs.add("/proc/7/fd/4 -> /x/gone (deleted)")
		r := mustNew(t, Config{Root: "/r", FS: fs, Procs: eightToo{}, Binds: []Bind{
			{Host: "/proc", Guest: "/proc"}, {Host: "/proc/self/fd", Guest: "/dev/fd"}, {Host: "/proc/self/fd/3", Guest: "/dev/stdin"}, {Host: "/x", Guest: "/mnt"}}})
		var res Result
		errno := r.Resolve(&res, Caller{Tgid: 7, Tid: 8}, Base{}, []byte(tt.path), tt.how)
		if got := outcome(&res, errno); got != tt.want || errno == 0 && res.Link != tt.link {
			t.Errorf("Resolve(%q, %#x) = %s (link %d), want %s (%d)", tt.path, tt.how, got, res.Link, tt.want, tt.link)
		}
	}
}

// TestDeletedBase starts from a directory that has no name any more, and from one
// that is only called as if it had none.
func TestDeletedBase(t *testing.T) {
	for _, tt := range []struct {
		base, path string
		gone       bool
		want       string
	}{
		{"/r/home/u (deleted)", ".", true, "/proc/7/cwd/. as /home/u (deleted)"},
		{"/r/home/u (deleted)", "x", true, "/proc/7/cwd/x as /home/u (deleted)/x"},
		{"/r/home/u (deleted)", "..", true, "/r/home as /home"},
		{"/r/home/u (deleted)", "../u/f", true, "/r/home/u/f as /home/u/f"},
		{"/r/home/u (deleted)", "x", false, "/r/home/u (deleted)/x as /home/u (deleted)/x"},
		{"/r/top (deleted)", "..", true, "/r as /"},
		{"/x (deleted)", ".", true, "/proc/7/cwd/. as /mnt (deleted)"},
		{"/secret/x (deleted)", ".", true, "EACCES"},
		{"/secret/x (deleted)", "/home", true, "/r/home as /home"},
	} {
		fs := procWorld(t)
		fs.add("/r/home/u (deleted)/")
		fs.add("/proc/7/cwd/") // a directory behind the link
		fs.root.in["proc"].in["7"].in["cwd"].gone = tt.gone
		fs.root.in["proc"].in["7"].in["cwd"].mode = typeDir
		fs.root.in["proc"].in["7"].in["cwd"].in = map[string]*node{}
		r := mustNew(t, Config{Root: "/r", FS: fs, Binds: []Bind{{Host: "/x", Guest: "/mnt"}}})
		from := Base{Host: []byte(tt.base), Link: terminated([]byte("/proc/7/cwd"))}
		var res Result
		errno := r.Resolve(&res, Caller{Tgid: 7, Tid: 7}, from, []byte(tt.path), 0)
		if got := outcome(&res, errno); got != tt.want {
			t.Errorf("Resolve(%q from %q, gone %v) = %s, want %s", tt.path, tt.base, tt.gone, got, tt.want)
		}
	}
}

// TestSwapped puts a symlink where the host side of a bind was.
func TestSwapped(t *testing.T) {
	for _, proving := range []bool{false, true} {
		mem := newMem(t, "/r/tmp/in/f", "/r/etc/", "/x/in/f")
		var fs FS = mem
		if proving {
			fs = provingFS{mem}
		}
		r := mustNew(t, Config{Root: "/r", FS: fs, Binds: []Bind{{Host: "/r/tmp/in", Guest: "/shm"}, {Host: "/x", Guest: "/y"}}})
		resolve := func() string {
			var res Result
			errno := r.Resolve(&res, Caller{}, Base{}, []byte("/shm/f"), Follow)
			return outcome(&res, errno)
		}
		if got := resolve(); got != "/r/tmp/in/f as /shm/f" {
			t.Errorf("Resolve(/shm/f) = %s, want /r/tmp/in/f", got)
		}
		mem.root.in["r"].in["tmp"] = &node{mode: typeLink, text: "/x"}
		if got := resolve(); got != "EACCES" {
			t.Errorf("Resolve(/shm/f) behind a symlink = %s, want EACCES", got)
		}
	}
}
