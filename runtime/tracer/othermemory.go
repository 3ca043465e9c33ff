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
	switch {
	case pid <= 0 || t.books.byTid[pid] != nil:
		cont(tk.tid, 0)
	case syscall.Kill(pid, 0) == syscall.ESRCH:
		t.fail(tk, syscall.ESRCH)
	default:
		t.fail(tk, syscall.EPERM)
	}
}

// foreignMemory reports whether the path at hand is the memory of a process that is
// not the guest's.
func (t *Tracer) foreignMemory() bool {
	found := &t.found[0]
	return found.Link == guestfs.Mem && t.books.byTid[found.Tid] == nil
}
