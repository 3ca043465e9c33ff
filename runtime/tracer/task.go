//go:build linux && arm64

// The books: one task per thread, one process per thread group. Both come from
// free lists, so that a guest that forks for ever leaves nothing behind.

package tracer

import "syscall"

// A process is what the threads of a group share.
type process struct {
	tgid  int
	tasks int    // alive
	exe   string // guest path of the program it runs
	count *counter
	next  *process

	auxv uint64 // where its auxiliary vector is
	// undumpable: it told the kernel, as it believes, not to let it be dumped.
	undumpable bool
	// foreign: the kernel may have other ids for it than the tracer's.
	foreign bool

	fresh  bool // its program was just loaded and opens the window next
	window bool // its program has the window
	// loading: the loader is at work in it, and may have the window open.
	loading bool
	copy    string // host path of the copy that its program is loaded from
}

// kept is what a thread hands on to those that it makes, and keeps over an exec.
type kept struct {
	ids        ids // as the guest sees them, where the kernel does not say
	noNewPrivs bool
}

// A task is one traced thread.
type task struct {
	tid  int
	proc *process
	kept

	// restore tells to put saved back at the exit of the call that it is in.
	restore bool
	saved   [6]uint64 // x0 to x5 at that call, as the guest had them
	walk    bool      // its path met a symlink: look at it this time
	exec    *execution
	// end is called at the exit of the call that it is in, before the registers
	// are put back.
	end func(*Tracer, *task)
	// pathError is the path's error, while the kernel is asked for an earlier one.
	pathError syscall.Errno

	moves bool   // it is in a call that may change a working directory
	slot  uint16 // of the window, and one
	said  bool   // the slot is taken
	early bool   // it stopped before its parent told of it
	// reaches is the task whose descriptors or memory the call that it is in names.
	reaches int
	words   ioctlWords
	next    *task
	// The tasks before and after it in turn.
	before, after *task

	unix   unixCall
	loan   loan
	errand *errand
}

// books is all tasks by thread id.
type books struct {
	byTid     map[int]*task
	freeTasks *task
	freeProcs *process
	turn      *task // whose turn is next
}

func newBooks() *books { return &books{byTid: make(map[int]*task, 1024)} }

// addTask books a new thread of p.
func (b *books) addTask(tid int, p *process) *task {
	t := b.freeTasks
	if t != nil {
		b.freeTasks = t.next
		*t = task{}
	} else {
		t = &task{}
	}
	t.tid, t.proc = tid, p
	if p != nil {
		p.tasks++
	}
	b.byTid[tid] = t
	b.enlist(t)
	return t
}

// addProcess books a new thread group that runs what parent ran.
func (b *books) addProcess(tgid int, parent *process) *process {
	p := b.freeProcs
	if p != nil {
		b.freeProcs = p.next
		*p = process{}
	} else {
		p = &process{}
	}
	p.tgid = tgid
	if parent != nil {
		p.exe, p.window = parent.exe, parent.window
		p.auxv, p.undumpable, p.foreign = parent.auxv, parent.undumpable, parent.foreign
	}
	return p
}

// drop forgets a thread that is gone.
func (b *books) drop(t *task) {
	delete(b.byTid, t.tid)
	b.delist(t)
	if p := t.proc; p != nil {
		if p.tasks--; p.tasks == 0 {
			removeCopy(&p.copy)
			p.next, b.freeProcs = b.freeProcs, p
		}
	}
	t.next, b.freeTasks = b.freeTasks, t
}
