//go:build linux && arm64

// bind: it makes a socket at a place and gives it a name, which the kernel keeps as
// the text that it was given. How the guest wrote that is remembered here, where the
// text does not tell; and a socket whose path is too long is bound in another way.

package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"svcrelay/runtime/guestfs"
)

// tempName begins the name of a socket that is about to be renamed: the tracer's
// process and the number of an alias follow.
const tempName = ".svcrelay-"

// bound is the end of a bind.
func (t *Tracer) bound(tk *task) {
	switch lent := tk.unix.lent; {
	case t.regs.getCall(tk.tid) != nil:
	case t.regs.X[0] != 0:
		t.explain(tk)
	case !lent:
		t.spell(tk)
	default:
		if e := t.sockets.aliases.keep(tk); e != 0 {
			t.setResult(tk, -int64(e))
		}
	}
	t.sockets.aliases.giveBack(tk)
}

// spell remembers how the guest wrote the path of a socket that has just been
// bound, where its host path does not tell.
func (t *Tracer) spell(tk *task) {
	u := &t.sockets
	path, ok := t.readPathAt(tk, t.regs.X[1], t.regs.X[2])
	if !ok {
		return
	}
	u.path = append(u.path[:0], path...)
	if path, ok = t.readPathAt(tk, tk.saved[1], tk.saved[2]); !ok {
		return
	}
	guest, _, err := t.paths.Guest(u.name[:0], u.path, tk.caller(), 0)
	u.name = guest
	switch {
	case bytes.Equal(u.path, path) || err == nil && bytes.Equal(guest, path):
		u.spelled.forget(u.path)
	default:
		u.spelled.remember(u.path, path)
	}
}

// readPathAt reads the path in an address.
func (t *Tracer) readPathAt(tk *task, at, size uint64) ([]byte, bool) {
	b := t.sockets.addr[:min(uint32(size), sockaddrMax)]
	if readMemory(tk.tid, at, b) != len(b) {
		return nil, false
	}
	return unixPath(b)
}

// bindAlias makes t.sockets.path a short path for a socket that is to be bound.
func (t *Tracer) bindAlias(tk *task, found *guestfs.Result, text []byte) syscall.Errno {
	u := &t.sockets
	end := bytes.LastIndexByte(bytes.TrimRight(found.Host, "/"), '/')
	a := alias{text: string(text), leaf: string(found.Host[end+1:])}
	var e syscall.Errno
	if a.id, e = t.newAlias(found.Host[:max(end, 1)]); e != 0 {
		return e
	}
	u.path = append(u.aliases.path(u.path[:0], a.id), '/')
	name := a.leaf
	if len(u.path)+len(name) > pathRoom {
		e = t.shorten(&a, found.Host)
		name = a.temp
	}
	u.path = append(u.path, name...)
	u.aliases.add(tk, a)
	return e
}

// shorten chooses the name under which a socket is bound before it is renamed: one
// that is taken already when the right one is.
func (t *Tracer) shorten(a *alias, host []byte) (e syscall.Errno) {
	if _, err := os.Lstat(t.sockets.aliases.file(a, a.leaf)); err == nil {
		a.temp = "."
		return 0
	}
	a.socket, e = t.newAlias(bytes.TrimRight(host, "/"))
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
		return 0
	case errors.Is(err, syscall.EEXIST):
		err = syscall.EADDRINUSE
	}
	os.Remove(from)
	return errnoOf(err)
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
