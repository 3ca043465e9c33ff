// The calls that both children make, and what a tracer does around a Resolver:
// descriptors for paths that are too long, and the errors of mount points.
package guestfs

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	if err != nil && !errors.As(err, &e) {
		panic(err)
	}
	return e
}

// osFS is the host itself.
type osFS struct{}

func (osFS) Lstat(host []byte) (uint32, syscall.Errno) {
	fd, rest, done := at(string(host))
	defer done()
	var st unix.Stat_t
	errno := errnoOf(unix.Fstatat(fd, rest, &st, unix.AT_SYMLINK_NOFOLLOW))
	return st.Mode, errno
}

func (osFS) Readlink(host, buf []byte) (int, syscall.Errno) {
	fd, rest, done := at(string(host))
	defer done()
	n, err := unix.Readlinkat(fd, rest, buf)
	return n, errnoOf(err)
}

func (osFS) Deleted(host []byte) bool {
	var st unix.Stat_t
	return unix.Stat(string(host), &st) == nil && st.Nlink == 0
}

// at opens what Split says; the rest is relative to fd.
func at(host string) (fd int, rest string, done func()) {
	fd, done = unix.AT_FDCWD, func() {}
	left := []byte(host)
	for {
		dir, tail := Split(left)
		if dir == nil {
			return fd, string(tail), done
		}
		next, err := unix.Openat(fd, string(dir), unix.O_PATH|unix.O_DIRECTORY, 0)
		done()
		if err != nil {
			return -1, string(tail), func() {}
		}
		fd, left, done = next, tail, func() { unix.Close(next) }
	}
}

type provingOS struct{ osFS }

func (provingOS) Plain(host []byte) bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, string(host), &unix.OpenHow{Flags: unix.O_PATH, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err == nil {
		unix.Close(fd)
	}
	return err == nil || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EACCES)
}

// flagsOf tells how each call takes its paths.
var flagsOf = map[string][2]Flags{
	"stat": {Follow}, "lstat": {0}, "open": {Follow}, "opennofollow": {0}, "opendir": {Follow}, "readlink": {0},
	"access": {Follow}, "chdir": {Follow}, "keep40": {Follow}, "keep41": {Follow}, "keep42": {Follow}, "pipe": {Follow},
	"creat": {Follow | Create}, "creatnew": {Create}, "mkdir": {Parent}, "mknod": {Parent}, "rmdir": {Parent}, "unlink": {Parent},
	"rename": {Parent | Exact, Parent | Exact}, "link": {Exact, Parent | Exact}, "linkfollow": {Follow | Exact, Parent | Exact}, "symlink": {Parent},
	"chmod": {Follow}, "truncate": {Follow},
	"nosymlinks": {Follow | NoLinks}, "nomagiclinks": {Follow | NoMagic}, "noxdev": {Follow | NoCross}, "beneath": {Follow | Beneath}, "inroot": {Follow | InRoot},
}

func call(on side, q request) reply {
	how := flagsOf[q.Op]
	path, res, errno := on.path(q.Path, how[0])
	if errno != 0 {
		return reply{Errno: errno}
	}
	host := path
	if q.Op == "rename" || strings.HasPrefix(q.Op, "link") {
		return reply{Errno: callTwo(on, q, path, res, how[1])}
	}
	if e := mountErrno(q.Op, path, res); e != 0 {
		return reply{Errno: e}
	}
	if q.Op == "readlink" {
		text, errno := on.readlink(path, res)
		return reply{Errno: errno, Text: text, Host: host}
	}
	if q.Op == "chdir" {
		return callChdir(on, path, res)
	}
	fd, rest, done := at(path)
	defer done()
	p := callOne(on, q, fd, rest)
	p.Host = host
	if p.Errno == syscall.ENOENT && res != nil && res.Above && strings.Contains("stat lstat open opennofollow opendir access", q.Op) {
		return reply{Virtual: true}
	}
	return p
}

func callChdir(on side, path string, res *Result) reply {
	if errno := errnoOf(syscall.Chdir(path)); errno != 0 {
		if errno == syscall.ENOENT && res != nil && res.Above {
			return reply{Virtual: true}
		}
		return reply{Errno: errno}
	}
	on.chdir(res)
	buf := make([]byte, 2*PathMax)
	n, err := syscall.Getcwd(buf)
	if err != nil {
		return reply{Errno: errnoOf(err)}
	}
	var via Via
	if res != nil {
		via = res.Via
	}
	return reply{Text: on.text(string(buf[:n-1]), via)}
}

var resolveOf = map[string]uint64{"nosymlinks": unix.RESOLVE_NO_SYMLINKS, "nomagiclinks": unix.RESOLVE_NO_MAGICLINKS, "noxdev": unix.RESOLVE_NO_XDEV,
	"beneath": unix.RESOLVE_BENEATH, "inroot": unix.RESOLVE_IN_ROOT}

func callOne(on side, q request, fd int, path string) reply {
	if resolve, ok := resolveOf[q.Op]; ok {
		if _, ours := on.(*resolverSide); ours {
			resolve = 0 // done already
		}
		fd, err := unix.Openat2(fd, path, &unix.OpenHow{Flags: unix.O_PATH, Resolve: resolve})
		if err != nil {
			return reply{Errno: errnoOf(err)}
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		return statReply(&st, unix.Fstat(fd, &st))
	}
	var err error
	var st unix.Stat_t
	switch q.Op {
	case "stat":
		err = unix.Fstatat(fd, path, &st, 0)
		return statReply(&st, err)
	case "lstat":
		err = unix.Fstatat(fd, path, &st, unix.AT_SYMLINK_NOFOLLOW)
		return statReply(&st, err)
	case "open":
		return openReply(fd, path, 0)
	case "opennofollow":
		return openReply(fd, path, unix.O_NOFOLLOW)
	case "opendir":
		return openReply(fd, path, unix.O_DIRECTORY)
	case "creat":
		return openReply(fd, path, unix.O_CREAT)
	case "creatnew":
		return openReply(fd, path, unix.O_CREAT|unix.O_EXCL)
	case "keep40", "keep41", "keep42":
		err = keep(fd, path, int(q.Op[4]-'0')*10+int(q.Op[5]-'0'))
	case "pipe":
		err = keepPipe(43)
	case "access":
		err = unix.Faccessat(fd, path, unix.X_OK, 0)
	case "mkdir":
		err = unix.Mkdirat(fd, path, 0o777)
	case "mknod":
		err = unix.Mknodat(fd, path, unix.S_IFIFO|0o666, 0)
	case "rmdir":
		err = unix.Unlinkat(fd, path, unix.AT_REMOVEDIR)
	case "unlink":
		err = unix.Unlinkat(fd, path, 0)
	case "symlink":
		err = unix.Symlinkat(q.Path2, fd, path)
	case "chmod":
		err = unix.Fchmodat(fd, path, 0o777, 0)
	case "truncate":
		err = unix.Truncate(path, 0)
	default:
		panic(q.Op)
	}
	return reply{Errno: errnoOf(err)}
}

func statReply(st *unix.Stat_t, err error) reply {
	if err != nil {
		return reply{Errno: errnoOf(err)}
	}
	return reply{Stat: true, Dev: st.Dev, Ino: st.Ino, Mode: st.Mode}
}

func openReply(dir int, path string, flags int) reply {
	fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|flags, 0o666)
	if err != nil {
		return reply{Errno: errnoOf(err)}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	return statReply(&st, err)
}

// mountErrno is what the kernel says when a call would remove a mount point.
func mountErrno(op, host string, res *Result) syscall.Errno {
	if res == nil || !res.Mount || op != "rmdir" && op != "unlink" {
		if res != nil && res.Last == Root && op == "rmdir" {
			return syscall.EBUSY
		}
		return 0
	}
	var st unix.Stat_t
	if unix.Lstat(strings.TrimRight(host, "/"), &st) != nil {
		return 0
	}
	slash := strings.HasSuffix(host, "/")
	switch dir := isDir(st.Mode); {
	case op == "rmdir" && !dir, op == "unlink" && slash && !dir:
		return syscall.ENOTDIR
	case op == "unlink" && dir:
		return syscall.EISDIR
	}
	return syscall.EBUSY
}

func callTwo(on side, q request, from string, old *Result, how Flags) syscall.Errno {
	if errno := lookErrno(from); errno != 0 && q.Op != "rename" {
		return errno // the old name first, whole
	}
	to, new, errno := on.path(q.Path2, how)
	if errno != 0 {
		return errno
	}
	if old != nil {
		if errno := twoMounts(q.Op, from, to, old, new); errno != 0 {
			return errno
		}
	}
	fromDir, from, done := at(from)
	defer done()
	toDir, to, done2 := at(to)
	defer done2()
	switch q.Op {
	case "rename":
		return errnoOf(unix.Renameat(fromDir, from, toDir, to))
	case "link":
		return errnoOf(unix.Linkat(fromDir, from, toDir, to, 0))
	}
	return errnoOf(unix.Linkat(fromDir, from, toDir, to, unix.AT_SYMLINK_FOLLOW))
}

func lookErrno(host string) syscall.Errno {
	fd, rest, done := at(host)
	defer done()
	var st unix.Stat_t
	return errnoOf(unix.Fstatat(fd, rest, &st, unix.AT_SYMLINK_NOFOLLOW))
}

// twoMounts gives the errors of rename and link that come from mounts.
func twoMounts(op, from, to string, old, new *Result) syscall.Errno {
	if op == "rename" {
		switch {
		case old.Dir != new.Dir:
			return syscall.EXDEV
		case old.Last != Name || new.Last != Name:
			return syscall.EBUSY
		case !old.Mount && !new.Mount:
			return 0
		}
		return renameMount(from, to, old, new)
	}
	switch {
	case new.Last != Name || lookErrno(strings.TrimRight(to, "/")) != syscall.ENOENT:
		return 0 // the kernel says it before it looks at mounts
	case old.Via != new.Dir:
		if strings.HasSuffix(to, "/") {
			return syscall.ENOENT
		}
		return syscall.EXDEV
	}
	return 0
}

// renameMount is what rename says when one of its names is a mount point.
func renameMount(from, to string, old, new *Result) syscall.Errno {
	var a, b unix.Stat_t
	if err := unix.Lstat(strings.TrimRight(from, "/"), &a); err != nil {
		return errnoOf(err)
	}
	errno := errnoOf(unix.Lstat(strings.TrimRight(to, "/"), &b))
	haveNew := errno == 0
	if !haveNew && errno != syscall.ENOENT {
		return errno
	}
	if !isDir(a.Mode) && (strings.HasSuffix(from, "/") || strings.HasSuffix(to, "/")) {
		return syscall.ENOTDIR
	}
	if old.Mount && new.Mount && string(old.Guest) == string(new.Guest) {
		return 0
	}
	switch {
	case strings.HasPrefix(string(new.Guest), string(old.Guest)+"/"):
		return syscall.EINVAL
	case strings.HasPrefix(string(old.Guest), string(new.Guest)+"/"):
		return syscall.ENOTEMPTY
	case haveNew && isDir(a.Mode) && !isDir(b.Mode):
		return syscall.ENOTDIR
	case haveNew && !isDir(a.Mode) && isDir(b.Mode):
		return syscall.EISDIR
	}
	return syscall.EBUSY
}

// keep opens path as a number that both children have free.
func keep(dir int, path string, number int) error {
	fd, err := unix.Openat(dir, path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Dup3(fd, number, 0)
}

func keepPipe(number int) error {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return err
	}
	return unix.Dup3(p[0], number, 0)
}
