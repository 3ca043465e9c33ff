//go:build linux && arm64

// The working directory. The kernel's is the guest's, and a link of procfs tells
// it, for 6,300 instructions. The tracer's own costs 1,300: so the tracer stands
// where the task stands whose calls come one after the other, for as long as no
// task of the guest goes elsewhere.

package tracer

import (
	"bytes"
	"strconv"
	"syscall"
	"unsafe"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

var cwdCalls = map[int]handler{
	sysno.Getcwd:  (*Tracer).getcwd,
	sysno.Chdir:   (*Tracer).chdir,
	sysno.Fchdir:  (*Tracer).fchdir,
	sysno.Unshare: (*Tracer).unshare,
}

// A stand tells whose working directory the tracer's is.
type stand struct {
	tid  int  // that asked last; 0: nobody
	here bool // the tracer stands there
}

// moves has the exit of a call seen that may change a working directory. While
// one is on its way nobody's directory is known.
func (t *Tracer) moves(tk *task) {
	if !tk.moves {
		tk.moves = true
		t.moving++
	}
	t.leave()
	tk.end = moved
}

func moved(t *Tracer, tk *task) { t.settle(tk) }

// settle notes that tk changes its directory no more, perhaps because it is gone.
func (t *Tracer) settle(tk *task) {
	if tk.moves {
		tk.moves = false
		t.moving--
	}
}

// leave forgets where the tracer stands.
func (t *Tracer) leave() { t.stand = stand{} }

// goHome leaves a directory whose task is gone: nobody could unmount it.
func (t *Tracer) goHome() {
	if t.stand.here {
		errnoCall(sysno.Chdir, uintptr(unsafe.Pointer(&home[0])), 0, 0, 0)
	}
	t.leave()
}

var home = [2]byte{'/'}

func (t *Tracer) chdir(tk *task, nr int) {
	t.moves(tk)
	t.pathCall(tk, nr)
	if !tk.restore { // it failed before the kernel saw it
		t.settle(tk)
		tk.end = nil
	}
}

func (t *Tracer) fchdir(tk *task, _ int) {
	t.moves(tk)
	toExit(tk.tid, 0)
}

// unshare parts directories (CLONE_FS), which changes none: what the kernel says
// of namespaces it says itself.
func (t *Tracer) unshare(tk *task, _ int) {
	if t.regs.X[0]&namespaces != 0 {
		t.fail(tk, syscall.EPERM)
		return
	}
	cont(tk.tid, 0)
}

// namespaces are the CLONE_NEW* flags: another mount namespace would change what
// every host path means.
const namespaces = 0x7e020080

// cwd returns the host path of tk's directory in t.linkText.
func (t *Tracer) cwd(tk *task) ([]byte, syscall.Errno) {
	if t.moving > 0 || t.stand.tid != tk.tid {
		t.stand = stand{tid: tk.tid}
		return t.readProc(tk, "/cwd")
	}
	if !t.stand.here {
		t.procPath(tk, "/cwd")
		_, e := errnoCall(sysno.Chdir, pathPointer(t.link), 0, 0, 0)
		t.stand.here = e == 0
	}
	if t.stand.here {
		n, e := errnoCall(sysno.Getcwd, uintptr(unsafe.Pointer(&t.linkText[0])), uintptr(len(t.linkText)), 0, 0)
		if e == 0 && n > 1 && t.linkText[0] == '/' {
			t.link = t.link[:0] // it has a name
			return t.linkText[:n-1], 0
		}
	}
	return t.readProc(tk, "/cwd") // it is deleted, for one
}

// procPath makes t.link a path in tk's folder of procfs, a NUL behind it.
func (t *Tracer) procPath(tk *task, name string) {
	t.link = append(t.link[:0], "/proc/"...)
	t.link = strconv.AppendInt(t.link, int64(tk.tid), 10)
	t.link = append(append(t.link, name...), 0)
}

func (t *Tracer) readProc(tk *task, name string) ([]byte, syscall.Errno) {
	t.procPath(tk, name)
	n, e := (*hostFS)(nil).Readlink(t.link, t.linkText[:])
	return t.linkText[:max(n, 0)], e
}

// base finds the directory that a relative path of tk starts from, without a link
// where it surely has a name. Its buffers belong to the tracer and hold until the next call.
func (t *Tracer) base(tk *task, dirfd int32) (guestfs.Base, syscall.Errno) {
	var text []byte
	var e syscall.Errno
	if dirfd == atFDCWD {
		text, e = t.cwd(tk)
	} else {
		var name [16]byte
		text, e = t.readProc(tk, string(strconv.AppendInt(append(name[:0], "/fd/"...), int64(dirfd), 10)))
	}
	switch {
	case e == syscall.ENOENT && dirfd != atFDCWD:
		return guestfs.Base{}, syscall.EBADF
	case e != 0:
		return guestfs.Base{}, e
	case !bytes.HasPrefix(text, []byte("/")): // a pipe or a socket
		return guestfs.Base{}, syscall.ENOTDIR
	}
	return guestfs.Base{Host: text, Link: t.link[:max(len(t.link)-1, 0)]}, 0
}

// getcwd answers from the kernel's own working directory.
func (t *Tracer) getcwd(tk *task, _ int) {
	base, e := t.base(tk, atFDCWD)
	if e != 0 {
		t.fail(tk, e)
		return
	}
	if len(base.Link) > 0 && bytes.HasSuffix(base.Host, []byte(" (deleted)")) && (*hostFS)(nil).Deleted(t.link) {
		t.fail(tk, syscall.ENOENT)
		return
	}
	text := t.guestOf(tk, base.Host)
	switch {
	case uint64(len(text)) > t.regs.X[1]:
		t.fail(tk, syscall.ERANGE)
	case writeMemory(tk.tid, t.regs.X[0], text) != len(text):
		t.fail(tk, syscall.EFAULT)
	default:
		t.finish(tk, int64(len(text)))
	}
}

// A shown is what guestOf last said; binds never change.
type shown struct {
	tid         int
	host, guest []byte
}

// guestOf returns the guest path of a host path for tk, and a NUL.
func (t *Tracer) guestOf(tk *task, host []byte) []byte {
	last := &t.shown
	if last.tid == tk.tid && bytes.Equal(last.host, host) {
		return last.guest
	}
	guest, _, err := t.paths.Guest(last.guest[:0], host, tk.caller(), 0)
	if err != nil {
		guest = append(append(guest[:0], "(unreachable)"...), host...)
	}
	last.tid, last.host, last.guest = tk.tid, append(last.host[:0], host...), append(guest, 0)
	return last.guest
}
