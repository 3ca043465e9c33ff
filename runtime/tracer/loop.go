//go:build linux && arm64

// The loop: wait for any stop, say what it is, resume. It runs on one thread,
// the only one that may make ptrace requests.

package tracer

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/policy"
)

// wall is __WALL and __WNOTHREAD: every kind of child, and those of this thread
// alone.
const wall = 0x40000000 | 0x20000000

// A Tracer traces one guest.
type Tracer struct {
	cfg   Config
	stats *Stats // that of cfg, once the guest runs
	books *books
	first int // the process whose status is the guest's
	// status of the first process once it is gone.
	status syscall.WaitStatus
	gone   bool
	early  int // tasks that stopped before their parent told of them
	stops  int // so far; it may overflow

	paths    *guestfs.Resolver
	filter   policy.Program
	filtered bool // a policy around the tracer traps calls
	pinning  bool // paths are opened, not handed on as text
	noInfo   bool // the kernel has no PTRACE_GET_SYSCALL_INFO
	anchors  []anchor
	who      guestIdentity
	uts      *utsname // what uname says; nil: the kernel's own
	window   window
	loader   string // host path of the exec loader
	// loaderErr tells that the guest did not start because of it.
	loaderErr   error
	closeLoader func()

	stand    stand
	shown    shown
	linked   linkedDirs
	moving   int // tasks in a call that may change a working directory
	reaching int // tasks in a call that reaches into another process

	// Of the task at hand; reused for every stop.
	regs     regs
	names    [2][pathMax]byte
	found    [2]guestfs.Result
	pins     [2]pin
	unproven bool // found is a text that nobody has looked at yet
	link     []byte
	linkText [pathMax]byte
	linkOut  []byte
	text     [pathMax]byte
	in, out  [maxOwn]byte
	xattr    xattrArgs
	sockets  unixSockets
}

// loop runs until no task is left. The books do not tell: a task whose parent
// was killed has perhaps not been heard of.
func (t *Tracer) loop() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		tid, ws, err := t.next()
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			return nil
		case err != nil:
			return fmt.Errorf("wait for the guest: %w", err)
		}
		t.stop(tid, ws)
	}
}

// stop handles one wait status.
func (t *Tracer) stop(tid int, ws syscall.WaitStatus) {
	kind, sig := classify(ws)
	tk := t.books.byTid[tid]
	if kind == stopExited {
		t.exited(tid, tk, ws)
		return
	}
	if tk == nil {
		t.stoppedEarly(tid)
		return
	}
	if tk.proc != nil {
		tk.proc.count.stop()
	}
	if tk.errand != nil && t.errandStop(tk, kind) {
		return
	}
	switch kind {
	case stopSeccomp:
		t.call(tk)
	case stopSyscall:
		t.callExit(tk)
	case stopChild:
		t.child(tk)
	case stopExec:
		t.executed(tk)
	case stopGroup:
		listen(tid)
	case stopSignal:
		t.deliver(tk, sig)
	default:
		cont(tid, 0)
	}
}

// exited books the end of a task. The first process decides the guest's status.
func (t *Tracer) exited(tid int, tk *task, ws syscall.WaitStatus) {
	if tid == t.first {
		t.status, t.gone = ws, true
		if t.cfg.KillOnExit {
			t.killAll()
		}
	}
	if tk == nil {
		return
	}
	t.settle(tk)
	t.unsay(tk)
	t.sockets.aliases.giveBack(tk)
	t.reached(tk)
	if t.stand.tid == tid {
		t.goHome()
	}
	if tk.early {
		tk.early = false
		t.early--
	}
	if t.early > 0 {
		t.adopt(tk)
	}
	if tk.proc != nil && tk.proc.tasks == 1 {
		t.stats.died(tk.proc.count)
	}
	t.books.drop(tk)
}

// ending reports whether the guest ends with its first process, and it is gone.
func (t *Tracer) ending() bool { return t.gone && t.cfg.KillOnExit }

func (t *Tracer) killAll() {
	for tid := range t.books.byTid {
		syscall.Kill(tid, syscall.SIGKILL)
	}
}
