//go:build linux && arm64

// Short paths for long ones. A name that a guest may use has 108 bytes at most,
// its host path has the root's more and does not fit. An alias of the directory
// that it lies in, or of the socket itself, does, and the kernel finds the same
// inode: what is bound so is where it belongs.
//
// An alias is a descriptor of the tracer, which nobody can exchange for another.
// The kernel follows it for processes of the tracer's own user only, so root,
// whose guests may give that up, uses symlinks in a folder of its own.

package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"svcrelay/runtime/guestfs"
)

// aliases are those of a tracer.
type aliases struct {
	prefix []byte // of their paths; empty before the first
	folder string // of the symlinks; "" when they are descriptors
	next   int
	all    []alias // oldest first
}

// An alias is of a call at hand, or of a bound socket: the kernel shows its path
// as the socket's name.
type alias struct {
	id    int
	owner *task  // whose call it is for; nil when it stays
	text  string // as the guest wrote the name
	// leaf is the name in the directory. One that is too long even there is bound
	// as temp and renamed; temp tells other tracers an alias of the socket itself.
	leaf, temp string
	socket     int
}

const (
	// maxKept is how many aliases of bound sockets are kept.
	maxKept = 512
	// firstAlias is above the tracer's other descriptors, lastAlias so far that no
	// number is used again soon.
	firstAlias, lastAlias = 64, 1 << 14
	// maxPrefix leaves most of 108 bytes to the name itself.
	maxPrefix = 48
)

// tempName begins the name of a socket that is about to be renamed: the tracer's
// process and the number of an alias follow.
const tempName = ".svcrelay-"

// exactAliases reports whether an alias is a descriptor.
func (t *Tracer) exactAliases() bool {
	s := &t.sockets.aliases
	if len(s.prefix) == 0 && os.Geteuid() == 0 {
		return false
	}
	t.prepareAliases()
	return s.folder == ""
}

// alias makes t.sockets.path a short path of what was found, for the call of tk.
func (t *Tracer) alias(tk *task, found *guestfs.Result) (e syscall.Errno) {
	u := &t.sockets
	var id int
	if t.prepareAliases(); u.aliases.folder != "" {
		id, e = u.aliases.link(found.Host)
	} else {
		id, e = t.openHost(found, found.Host, found.Via, oNofollow)
	}
	if e == 0 {
		u.aliases.add(tk, alias{id: id})
		u.path = u.aliases.path(u.path[:0], id)
	}
	return e
}

// bindAlias makes t.sockets.path a short path for a socket that is to be bound.
func (t *Tracer) bindAlias(tk *task, found *guestfs.Result, text []byte) syscall.Errno {
	u := &t.sockets
	end := bytes.LastIndexByte(bytes.TrimRight(found.Host, "/"), '/')
	leaf := string(found.Host[end+1:])
	id, e := t.dirAlias(found, max(end, 1))
	if e != 0 {
		return e
	}
	a := alias{id: id, text: string(text), leaf: leaf}
	u.path = append(u.aliases.path(u.path[:0], id), '/')
	if len(u.path)+len(leaf) > pathRoom {
		e = u.aliases.shorten(&a, found.Host)
		leaf = a.temp
	}
	u.path = append(u.path, leaf...)
	u.aliases.add(tk, a)
	return e
}

// dirAlias makes an alias, which may stay, of the first n bytes of what was found.
func (t *Tracer) dirAlias(found *guestfs.Result, n int) (int, syscall.Errno) {
	u := &t.sockets
	u.name = append(append(u.name[:0], found.Host[:n]...), 0)[:n]
	if t.prepareAliases(); u.aliases.folder != "" {
		return u.aliases.link(u.name)
	}
	fd, e := t.openHost(found, u.name, found.Dir, oDirectory)
	if e != 0 {
		return 0, e
	}
	defer unix.Close(fd)
	return u.aliases.number(fd)
}

// openHost opens a host path, of any length and with a NUL behind it: what was
// found, or its directory. Where the kernel can tell, it meets no symlink.
func (t *Tracer) openHost(found *guestfs.Result, host []byte, via guestfs.Via, flags uint64) (int, syscall.Errno) {
	if t.pinning && len(host) < pathMax && !inProc(found) {
		return t.openPlain(host, via, flags)
	}
	from := unix.AT_FDCWD
	for {
		dir, rest := guestfs.Split(host)
		name, how := dir, oDirectory
		if len(dir) == 0 {
			name, how = rest, int(flags)
		}
		fd, err := unix.Openat(from, string(name), how|unix.O_PATH|unix.O_CLOEXEC, 0)
		if from != unix.AT_FDCWD {
			unix.Close(from)
		}
		if err != nil || len(dir) == 0 {
			return fd, errnoOrZero(err)
		}
		from, host = fd, rest
	}
}

// shorten chooses the name under which a socket is bound before it is renamed: one
// that is taken already when the right one is.
func (s *aliases) shorten(a *alias, host []byte) (e syscall.Errno) {
	if _, err := os.Lstat(s.file(a, a.leaf)); err == nil {
		a.temp = "."
		return 0
	}
	if s.folder != "" {
		a.socket, e = s.link(host)
	} else {
		a.socket, e = s.number(a.id) // to be replaced when there is a socket
	}
	slash := a.leaf[len(strings.TrimRight(a.leaf, "/")):]
	a.temp = fmt.Sprintf("%s%d-%d%s", tempName, os.Getpid(), a.socket, slash)
	return e
}

// file is the path of a name in the directory that a is an alias of, as the tracer
// itself may use it.
func (s *aliases) file(a *alias, name string) string {
	return string(s.path(nil, a.id)) + "/" + name
}

// keep makes the alias of a bind that succeeded the name of its socket, and moves
// that to its place.
func (s *aliases) keep(tk *task) syscall.Errno {
	i := slices.IndexFunc(s.all, func(a alias) bool { return a.owner == tk })
	if i < 0 {
		return 0
	}
	a := &s.all[i]
	if e := s.move(a); e != 0 {
		return e
	}
	a.owner, tk.unix.lent = nil, false
	s.evict()
	return 0
}

// move gives a socket its right name. One that somebody else has made meanwhile
// stays; the guest's is then bound to a name that is gone.
func (s *aliases) move(a *alias) syscall.Errno {
	if a.temp == "" {
		return 0
	}
	from, to := s.file(a, a.temp), s.file(a, a.leaf)
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, syscall.EINVAL) { // not with this file system
		if _, err = os.Lstat(to); err == nil {
			err = syscall.EEXIST
		} else {
			err = os.Rename(from, to)
		}
	}
	switch {
	case err == nil:
		return s.show(a)
	case errors.Is(err, syscall.EEXIST):
		err = syscall.EADDRINUSE
	}
	os.Remove(from)
	return errnoOf(err)
}

// show makes a.socket an alias of the socket.
func (s *aliases) show(a *alias) syscall.Errno {
	if s.folder != "" {
		return 0 // it is one by its text
	}
	fd, err := unix.Open(s.file(a, a.leaf), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0 // gone already
	}
	defer unix.Close(fd)
	return errnoOrZero(unix.Dup3(fd, a.socket, unix.O_CLOEXEC))
}

// giveBack ends the aliases of a call.
func (s *aliases) giveBack(tk *task) {
	if !tk.unix.lent {
		return
	}
	tk.unix.lent = false
	s.all = slices.DeleteFunc(s.all, func(a alias) bool {
		if a.owner == tk {
			s.close(a)
		}
		return a.owner == tk
	})
}

// evict ends the oldest alias of a socket when there are too many.
func (s *aliases) evict() {
	kept, oldest := 0, -1
	for i := range s.all {
		if s.all[i].owner == nil {
			if kept++; oldest < 0 {
				oldest = i
			}
		}
	}
	if kept > maxKept {
		s.close(s.all[oldest])
		s.all = slices.Delete(s.all, oldest, oldest+1)
	}
}

// add notes an alias that a call is given.
func (s *aliases) add(tk *task, a alias) {
	a.owner, tk.unix.lent = tk, true
	s.all = append(s.all, a)
}

func (s *aliases) path(dst []byte, id int) []byte {
	return strconv.AppendInt(append(dst, s.prefix...), int64(id), 10)
}

// text finds how the guest wrote the name of a socket that was bound by an alias.
func (s *aliases) text(name []byte) (string, bool) {
	if len(s.prefix) == 0 {
		return "", false
	}
	rest, ok := bytes.CutPrefix(name, s.prefix)
	if !ok {
		return "", false
	}
	digits, _, _ := bytes.Cut(rest, []byte("/"))
	id, ok := decimal(digits)
	i := slices.IndexFunc(s.all, func(a alias) bool { return uint64(a.id) == id && a.text != "" })
	if !ok || i < 0 {
		return "", false
	}
	return s.all[i].text, true
}

// link makes an alias that is a symlink.
func (s *aliases) link(host []byte) (id int, e syscall.Errno) {
	s.next++
	return s.next, errnoOrZero(os.Symlink(string(host), string(s.path(nil, s.next))))
}

// number makes a descriptor another one, whose number was not used lately: it is
// going to be part of a socket's name.
func (s *aliases) number(fd int) (int, syscall.Errno) {
	if s.next < firstAlias || s.next > lastAlias {
		s.next = firstAlias
	}
	id, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, s.next)
	s.next = id + 1
	return id, errnoOrZero(err)
}

func errnoOrZero(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	return errnoOf(err)
}

// prepareAliases decides what aliases are.
func (t *Tracer) prepareAliases() {
	s := &t.sockets.aliases
	if len(s.prefix) > 0 {
		return
	}
	s.prefix = fmt.Appendf(nil, "/proc/%d/fd/", os.Getpid())
	if os.Geteuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp(t.temp(), "svcrelay-")
	if err == nil && len(dir) < maxPrefix && os.Chmod(dir, 0o711) == nil {
		s.folder, s.prefix = dir, append([]byte(dir), '/')
	} else if err == nil {
		os.Remove(dir)
	}
}

func (s *aliases) close(a alias) {
	for _, id := range [...]int{a.id, a.socket} {
		switch {
		case id == 0:
		case s.folder == "":
			unix.Close(id)
		default:
			os.Remove(string(s.path(nil, id)))
		}
	}
}

// remove ends all aliases.
func (s *aliases) remove() error {
	if s.folder == "" {
		return nil
	}
	return os.RemoveAll(s.folder)
}
