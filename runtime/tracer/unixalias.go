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
	"fmt"
	"os"
	"slices"
	"strconv"
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

// add notes an alias that a call is given.
func (s *aliases) add(tk *task, a alias) {
	a.owner, tk.unix.lent = tk, true
	s.all = append(s.all, a)
}

func (s *aliases) path(dst []byte, id int) []byte {
	return strconv.AppendInt(append(dst, s.prefix...), int64(id), 10)
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
