//go:build linux && arm64

// Memory of the guest's that its kernel writes to for the tracer. A few hundred
// bytes below the stack pointer are free; further down there may be the heap, as on
// the stacks of Go's goroutines, or nothing. More is borrowed: the guest is made to
// map it before the call, and to unmap it afterwards.

package tracer

import (
	"syscall"

	"svcrelay/runtime/sysno"
)

// stackRoom is how much is used below the stack pointer: the least that Go leaves
// under a function that makes a call is some 500 bytes.
const stackRoom = 256

// A loan is memory that the guest has mapped for us.
type loan struct {
	addr, size uint64
	used       bool
}

// scratch returns where the n bytes of a makeWith are going to be.
func (t *Tracer) scratch(tk *task, n int) uint64 {
	if tk.loan.size >= uint64(n) {
		tk.loan.used = true
		return tk.loan.addr
	}
	return (t.regs.SP - stackGap - uint64(n)) &^ 15
}

// save keeps the guest's registers, before they are changed for the call.
func (t *Tracer) save(tk *task) { copy(tk.saved[:], t.regs.X[:6]) }

// makeWith has the guest make the call with the arguments in t.regs and with b in
// its memory at a place that scratch chose. Where that cannot be, memory is
// borrowed and the call comes again. end is called at its exit.
func (t *Tracer) makeWith(tk *task, at uint64, b []byte, end func(*Tracer, *task)) {
	fits := tk.loan.used || len(b) <= stackRoom
	if !fits || writeMemory(tk.tid, at, b) != len(b) {
		t.borrow(tk, len(b))
		return
	}
	tk.restore, tk.end = true, end
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}

// borrow lets the guest map n bytes in place of the call, and make the call then.
func (t *Tracer) borrow(tk *task, n int) {
	copy(t.regs.X[:6], tk.saved[:])
	if tk.loan.used { // unmapped by another thread
		tk.loan = loan{}
		t.fail(tk, syscall.EFAULT)
		return
	}
	const unit = 1 << 16 // the largest page
	tk.loan.size = (uint64(n) + unit - 1) &^ (unit - 1)
	const readWrite, privateAnonymous = 3, 0x22
	copy(t.regs.X[:6], []uint64{0, tk.loan.size, readWrite, privateAnonymous, ^uint64(0), 0})
	tk.restore, tk.end = true, (*Tracer).borrowed
	if t.regs.setFirst(tk.tid, 6) == nil && setNumber(tk.tid, sysno.Mmap) == nil {
		toExit(tk.tid, 0)
	}
}

// borrowed is the end of that mmap: the guest goes back to its call, unless there
// is no memory.
func (t *Tracer) borrowed(tk *task) {
	if t.regs.getCall(tk.tid) != nil {
		return
	}
	if addr := t.regs.X[0]; addr < ^uint64(0)-4095 {
		tk.loan.addr = addr
		t.again(tk)
		return
	}
	tk.loan = loan{}
}

// returnLoan unmaps what was borrowed, unless the call is going to be restarted.
func (t *Tracer) returnLoan(tk *task) {
	l := tk.loan
	tk.loan.used = false
	const first, last = 516, 512 // ERESTART_RESTARTBLOCK, ERESTARTSYS
	if result, err := t.result(tk.tid); err != nil || -result >= last && -result <= first {
		return
	}
	tk.loan = loan{}
	tk.errand = &errand{nr: sysno.Munmap, args: [6]uint64{l.addr, l.size}, end: func(_ *Tracer, tk *task, result int64) {
		if result != 0 { // it will do for another call
			tk.loan = loan{addr: l.addr, size: l.size}
		}
	}}
}
