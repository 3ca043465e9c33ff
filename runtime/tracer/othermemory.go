//go:build linux && arm64

// The memory of other processes. Whoever may write it is that process, and not
// every process of the user is the guest's: one outside knows no root.

package tracer

import (
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

var otherCalls = map[int]handler{
	sysno.ProcessVmReadv:  (*Tracer).otherMemory,
	sysno.ProcessVmWritev: (*Tracer).otherMemory,
}

// otherMemory lets a process into those of the guest.
func (t *Tracer) otherMemory(tk *task, _ int) {
	pid := int(int32(t.regs.X[0]))
	other := t.books.byTid[pid]
	switch {
	case pid <= 0 || other != nil && other.proc == tk.proc:
		cont(tk.tid, 0)
	case other == nil && syscall.Kill(pid, 0) == syscall.ESRCH:
		t.fail(tk, syscall.ESRCH)
	case other == nil, other.proc != nil && other.proc.loading:
		t.fail(tk, syscall.EPERM)
	default:
		t.reachInto(tk, pid)
		toExit(tk.tid, 0)
	}
}

// foreignMemory reports whether the path at hand is the memory of a process that is
// not the guest's.
func (t *Tracer) foreignMemory() bool {
	found := &t.found[0]
	return found.Link == guestfs.Mem && t.books.byTid[found.Tid] == nil
}

// inside reports whether a path names a descriptor of a process, a file that it has
// mapped, or its memory.
func inside(found *guestfs.Result) bool {
	return found.Link == guestfs.Fd || found.Link == guestfs.Other || found.Link == guestfs.Mem
}

// intoLoader reports whether a path leads to the window, or into a process that the
// loader is at work in. Its descriptor of the window could be opened again there, for writing: the
// file belongs to the guest's user.
func (t *Tracer) intoLoader(tk *task, found *guestfs.Result) bool {
	switch {
	case !inside(found):
		return false
	case found.Link == guestfs.Other && t.isMapped(found):
		return true
	}
	other := t.books.byTid[found.Tid]
	return other != nil && other.proc != nil && other.proc.loading && other.proc != tk.proc
}

// isMapped reports whether a path is the window where a program has it mapped: root
// may open that.
func (t *Tracer) isMapped(found *guestfs.Result) bool {
	n, e := (*hostFS)(nil).Readlink(found.Host, t.linkText[:])
	return e == 0 && t.isWindow(t.linkText[:n])
}

// reach notes that a call that the guest makes leads into another process.
func (t *Tracer) reach(tk *task, found *guestfs.Result) {
	if !inside(found) {
		return
	}
	if other := t.books.byTid[found.Tid]; other == nil || other.proc != tk.proc {
		t.reachInto(tk, found.Tid)
	}
}

func (t *Tracer) reachInto(tk *task, tid int) {
	t.reached(tk)
	tk.reaches = tid
	t.reaching++
}

// reached notes that no such call is on its way any more.
func (t *Tracer) reached(tk *task) {
	if tk.reaches != 0 {
		tk.reaches = 0
		t.reaching--
	}
}

// reachedInto reports whether a call is on its way that leads into tid: it may have
// been looked at before the loader was there, and be made when it is.
func (t *Tracer) reachedInto(tid int) bool {
	if t.reaching > 0 {
		for _, tk := range t.books.byTid {
			if tk.reaches == tid {
				return true
			}
		}
	}
	return false
}
