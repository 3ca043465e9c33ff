//go:build linux && arm64

// Calls that a task makes for the tracer: in the place of one of its own, which it
// makes again then, or between two. The latter, an errand, is made from the end of
// a call on, before anything of the guest runs; a signal that comes first has it
// dropped, since its handler must find the registers of the guest.

package tracer

import "syscall"

// again lets a task that leaves a call make it again as the guest gave it.
func (t *Tracer) again(tk *task) {
	if t.regs.get(tk.tid) != nil {
		return
	}
	copy(t.regs.X[:6], tk.saved[:])
	t.regs.PC -= 4
	t.regs.set(tk.tid)
}

// An errand is a call that the guest makes for the tracer between two of its own.
type errand struct {
	nr      uint64
	args    [6]uint64
	before  regs // to be put back
	entered bool
	start   func(*Tracer, *task, *errand) bool // completes the arguments; may be nil
	end     func(*Tracer, *task, int64)        // takes the result; may be nil
}

// errands resumes a task that leaves a call, if it has an errand to run.
func (t *Tracer) errands(tk *task) bool {
	if tk.errand == nil && tk.loan.used {
		t.returnLoan(tk)
	}
	e := tk.errand
	if e == nil {
		return false
	}
	tk.errand = nil
	if t.regs.get(tk.tid) != nil {
		return false
	}
	e.before = t.regs
	if e.start != nil && !e.start(t, tk, e) {
		t.sockets.aliases.giveBack(tk)
		return false
	}
	copy(t.regs.X[:6], e.args[:])
	t.regs.X[8] = e.nr
	t.regs.PC -= 4
	t.regs.set(tk.tid)
	tk.errand = e
	toExit(tk.tid, 0)
	return true
}

// errandStop takes the stops of a task on an errand: those at the call's entry and
// exit. Any other comes before the call was entered; then it is not made.
func (t *Tracer) errandStop(tk *task, kind stopKind) bool {
	e := tk.errand
	result := -int64(syscall.EINTR)
	switch {
	case kind == stopSyscall && !e.entered, kind == stopSeccomp && e.entered:
		e.entered = true
		toExit(tk.tid, 0)
		return true
	case kind == stopSyscall:
		result, _ = t.result(tk.tid)
	}
	tk.errand = nil
	t.unsay(tk)
	if t.regs.get(tk.tid) == nil {
		seventh := t.regs.X[7] // at a stop of a call it is not the guest's; see report_syscall
		t.regs = e.before
		t.regs.X[7] = seventh
		t.regs.set(tk.tid)
	}
	if e.end != nil {
		e.end(t, tk, result)
	}
	if kind == stopSyscall && !t.errands(tk) {
		cont(tk.tid, 0)
	}
	return kind == stopSyscall
}

// dropCall ends what a call had begun whose task runs another program now.
func (t *Tracer) dropCall(tk *task) {
	t.sockets.aliases.giveBack(tk)
	tk.loan, tk.errand = loan{}, nil
}
