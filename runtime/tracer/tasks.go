//go:build linux && arm64

// New tasks, signals and the calls that Android's policy traps.

package tracer

import (
	"os"
	"strconv"
	"syscall"

	"svcrelay/runtime/sysno"
)

// child handles the event of a task that made another one.
func (t *Tracer) child(parent *task) {
	if tid, err := eventMessage(parent.tid); err == nil && tid != 0 {
		t.born(parent, int(tid))
	} else {
		t.findLost(parent)
	}
	cont(parent.tid, 0)
}

// stoppedEarly books a task whose parent has not told of it yet: it waits.
func (t *Tracer) stoppedEarly(tid int) {
	if t.ending() {
		syscall.Kill(tid, syscall.SIGKILL)
		return
	}
	t.books.addTask(tid, nil).early = true
	t.early++
}

// born books a new task. Its first stop may have come before this event; then it
// is resumed now. It may be gone already, and it may have been adopted.
func (t *Tracer) born(parent *task, tid int) {
	tk := t.books.byTid[tid]
	switch {
	case tk != nil && tk.early:
		t.bookEarly(tk, parent)
	case tk == nil:
		if tgid := groupOf(tid, parent.proc); tgid != 0 {
			t.book(t.books.addTask(tid, nil), tgid, parent)
		}
	}
}

// book makes a new task one of a process, that of its parent or a new one.
func (t *Tracer) book(tk *task, tgid int, parent *task) {
	t.stats.task()
	tk.kept, tk.proc = parent.kept, parent.proc
	if tgid != parent.proc.tgid {
		tk.proc = t.books.addProcess(tgid, parent.proc)
		tk.proc.count = t.stats.born(tgid, tk.proc.exe)
	}
	tk.proc.tasks++
	if t.ending() {
		syscall.Kill(tk.tid, syscall.SIGKILL)
	}
}

func (t *Tracer) bookEarly(tk, parent *task) {
	tk.early = false
	t.early--
	tgid := groupOf(tk.tid, parent.proc)
	if tgid == 0 { // killed: its end will be reported
		tgid = parent.proc.tgid
	}
	t.book(tk, tgid, parent)
	cont(tk.tid, 0)
}

// adopt books the tasks that wait for their parent to tell of them, since it may
// be dead, who was killed before it could.
func (t *Tracer) adopt(dead *task) {
	for tid, tk := range t.books.byTid {
		if !tk.early {
			continue
		}
		if parent := t.parentOf(tid, dead); parent.proc != nil {
			t.bookEarly(tk, parent)
		}
	}
}

// parentOf finds a task of the process that a task came from: its own, its
// parent's, or else that of the dead task.
func (t *Tracer) parentOf(tid int, dead *task) *task {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return dead
	}
	for _, field := range []string{"Tgid:", "PPid:"} {
		if tk := t.books.byTid[statusField(status, field)]; tk != nil && tk.proc != nil {
			return tk
		}
	}
	return dead
}

// findLost looks for the children of a task whose event did not say which: some
// vendor kernels lose the message.
func (t *Tracer) findLost(parent *task) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, n := range names {
		tid, err := strconv.Atoi(n.Name())
		if err != nil || t.books.byTid[tid] != nil && !t.books.byTid[tid].early {
			continue
		}
		status, err := os.ReadFile("/proc/" + n.Name() + "/status")
		if err == nil && statusField(status, "TracerPid:") == os.Getpid() {
			t.born(parent, tid)
		}
	}
}

// groupOf returns the thread group of a child of p: p's, or its own; 0 when it is
// gone.
func groupOf(tid int, p *process) int {
	for _, tgid := range [...]int{p.tgid, tid} {
		if _, _, e := syscall.RawSyscall(sysno.Tgkill, uintptr(tgid), uintptr(tid), 0); e != syscall.ESRCH {
			return tgid
		}
	}
	return 0
}

// sysSeccomp is the si_code of a SIGSYS that a filter sent.
const sysSeccomp = 1

// deliver handles a signal on its way to a task. SIGSYS from the policy around
// the tracer is answered, every other signal goes on: also the SIGSYS of a filter
// of the guest's own, which has a number of its own in it where policies have 0.
func (t *Tracer) deliver(tk *task, sig syscall.Signal) {
	t.stats.signal()
	if sig == syscall.SIGSYS {
		var info sigInfo
		if t.filtered && getSigInfo(tk.tid, &info) == nil && info.Code == sysSeccomp && info.Errno == 0 {
			t.trapped(tk, int(info.Syscall))
			return
		}
	}
	cont(tk.tid, sig)
}

// trapped answers a call that the ambient policy did not let through. The kernel
// has put back the registers as they were at its entry, and will not make it.
func (t *Tracer) trapped(tk *task, nr int) {
	if t.regs.get(tk.tid) != nil {
		return
	}
	switch s := sysno.SigsysOf(nr); s.Kind {
	case sysno.SigsysCall: // the same again, by its other number
		t.regs.X[8] = uint64(s.Value)
		t.regs.PC -= 4
		for i := len(callArgs(nr)); i < 6; i++ {
			t.regs.X[i] = 0
		}
	case sysno.SigsysErrno:
		t.regs.X[0] = negative(syscall.Errno(s.Value))
	default:
		if sysno.ClassOf(nr) == sysno.ClassAnswer || nr == sysno.Statx { // these finish a call
			handlers[nr](t, tk, nr)
			return
		}
		t.regs.X[0] = negative(syscall.EPERM) // as a guest may pretend
	}
	t.regs.set(tk.tid)
	cont(tk.tid, 0)
}

func callArgs(nr int) []sysno.Arg {
	c, _ := sysno.ByNumber(nr)
	return c.Args
}

// negative is an errno as a call returns it.
func negative(e syscall.Errno) uint64 { return -uint64(e) }
