//go:build linux && arm64

// Short paths for long ones. A name that a guest may use has 108 bytes at most,
// its host path has the root's more and does not fit. An alias of the directory
// that it lies in, or of the socket itself, does, and the kernel finds the same
// inode: what is bound so is where it belongs.
//
// An alias is a symlink in a folder of the tracer's that no path of a guest leads
// into. A link of /proc/<tracer>/fd would need no folder; the kernel follows it for
// those only who may look into the tracer, and no guest may.

package tracer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"svcrelay/runtime/guestfs"
)

// aliases are those of a tracer.
type aliases struct {
	folder string   // "" before the first
	lock   *os.File // of the folder: tells that the tracer lives
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
	// maxFolder leaves room in 108 bytes for an alias in it, and a name in that.
	maxFolder = 70
)

// alias makes t.sockets.path a short path of what was found, for the call of tk.
func (t *Tracer) alias(tk *task, found *guestfs.Result) syscall.Errno {
	u := &t.sockets
	id, e := t.newAlias(found.Host)
	if e == 0 {
		u.aliases.add(tk, alias{id: id})
		u.path = u.aliases.path(u.path[:0], id)
	}
	return e
}

// newAlias makes an alias of a host path.
func (t *Tracer) newAlias(host []byte) (id int, e syscall.Errno) {
	s := &t.sockets.aliases
	if s.folder == "" {
		if err := s.open(t.temp(), "/tmp", "/dev/shm"); err != nil {
			return 0, errnoOf(err)
		}
	}
	s.next++
	return s.next, errnoOrZero(os.Symlink(string(host), string(s.path(nil, s.next))))
}

func errnoOrZero(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	return errnoOf(err)
}

// open makes the folder in the first place that will do. Those of tracers that were
// killed go.
func (s *aliases) open(places ...string) (err error) {
	for _, place := range places {
		prefix := filepath.Join(place, fmt.Sprintf("%s%d-", folderName, os.Geteuid()))
		if len(prefix)+10 > maxFolder {
			err = syscall.ENAMETOOLONG
			continue
		}
		removeStale(prefix)
		if err = s.openIn(place, filepath.Base(prefix)); err == nil {
			return nil
		}
	}
	return err
}

func (s *aliases) openIn(place, prefix string) error {
	dir, err := os.MkdirTemp(place, prefix)
	if err != nil {
		return fmt.Errorf("folder for aliases: %w", err)
	}
	s.lock, err = os.Open(dir)
	if err == nil {
		err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_SH)
	}
	if err == nil { // a guest that gives up root still goes through it
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		s.lock.Close()
		os.Remove(dir)
		return fmt.Errorf("folder for aliases: %w", err)
	}
	s.folder = dir
	return nil
}

// owns reports whether a host path is of the folder: no guest may go there, though
// it may see it.
func (s *aliases) owns(host []byte) bool {
	n := len(s.folder)
	return n > 0 && len(host) >= n && string(host[:n]) == s.folder && (len(host) == n || host[n] == '/')
}

// add notes an alias that a call is given.
func (s *aliases) add(tk *task, a alias) {
	a.owner, tk.unix.lent = tk, true
	s.all = append(s.all, a)
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

// path appends the path of an alias.
func (s *aliases) path(dst []byte, id int) []byte {
	return strconv.AppendInt(append(append(dst, s.folder...), '/'), int64(id), 10)
}

// text finds how the guest wrote the name of a socket that was bound by an alias.
func (s *aliases) text(name []byte) (string, bool) {
	if !s.owns(name) {
		return "", false
	}
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(name[len(s.folder):], []byte("/")), []byte("/"))
	id, ok := decimal(digits)
	i := slices.IndexFunc(s.all, func(a alias) bool { return uint64(a.id) == id && a.text != "" })
	if !ok || i < 0 {
		return "", false
	}
	return s.all[i].text, true
}

func (s *aliases) close(a alias) {
	for _, id := range [...]int{a.id, a.socket} {
		if id != 0 {
			os.Remove(string(s.path(nil, id)))
		}
	}
}

// remove ends all aliases.
func (s *aliases) remove() {
	if s.folder != "" {
		os.RemoveAll(s.folder)
		s.lock.Close()
	}
}
