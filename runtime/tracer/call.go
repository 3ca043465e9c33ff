//go:build linux && arm64

// A call that the filter sent. Either the tracer makes it and writes the result
// into x0, or the guest makes it with other paths and gets its registers back at
// the end.

package tracer

import (
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// call handles a seccomp stop.
func (t *Tracer) call(tk *task) {
	if t.regs.getCall(tk.tid) != nil {
		return // it was killed meanwhile
	}
	nr := int(int32(t.regs.X[8]))
	if t.cfg.Stats != nil && nr >= 0 && nr < len(t.cfg.Stats.Calls) {
		t.cfg.Stats.Calls[nr]++
	}
	if nr < 0 || nr >= len(handlers) {
		t.fail(tk, syscall.ENOSYS)
		return
	}
	handlers[nr](t, tk, nr)
}

// finish ends the call that tk is entering with a result, without the kernel.
func (t *Tracer) finish(tk *task, result int64) {
	t.regs.X[0] = uint64(result)
	if setNumber(tk.tid, -1) == nil {
		t.regs.setFirst(tk.tid, 1)
	}
	cont(tk.tid, 0)
}

func (t *Tracer) fail(tk *task, e syscall.Errno) { t.finish(tk, -int64(e)) }

// pathCall translates the paths of a call, and makes it or has it made.
func (t *Tracer) pathCall(tk *task, nr int) {
	spec := &pathCalls[nr]
	args := t.regs.X[:8]
	descriptor := false // the first path is its descriptor itself
	for i := range int(spec.n) {
		empty, e := t.resolve(tk, nr, i)
		switch {
		case e != 0:
			t.fail(tk, e)
			return
		case empty && i == int(spec.n)-1: // nothing to translate; a second path is never empty
			cont(tk.tid, 0)
			return
		case empty:
			descriptor = true
			t.found[i].Host = t.found[i].Host[:0]
		}
	}
	if own := ownCalls[nr]; own.is && !descriptor {
		t.finish(tk, t.makeCall(tk, nr, own, args))
		return
	}
	t.letMake(tk, nr)
}

// resolve finds the host path of path i of the call; empty tells that there is
// none because the call means its descriptor.
func (t *Tracer) resolve(tk *task, nr, i int) (empty bool, e syscall.Errno) {
	spec := &pathCalls[nr]
	p := spec.paths[i]
	args := t.regs.X[:8]
	if args[p.arg] == 0 && (spec.emptyAllowed(args) || nr == sysno.Utimensat) {
		return true, 0
	}
	name, e := readPath(tk.tid, args[p.arg], &t.names[i])
	if e != 0 {
		return false, e
	}
	if len(name) == 0 && i == 0 && (spec.emptyAllowed(args) || nr == sysno.Readlinkat) {
		return true, 0
	}
	if len(name) == 0 { // before the descriptor is looked at
		return false, syscall.ENOENT
	}
	var base guestfs.Base
	if name[0] != '/' {
		dirfd := int32(atFDCWD)
		if p.dirfd >= 0 {
			dirfd = int32(args[p.dirfd])
		}
		if base, e = t.base(tk, dirfd); e != 0 {
			return false, e
		}
	}
	return false, t.paths.Resolve(&t.found[i], tk.caller(), base, name, how(nr, i, args))
}

// emptyAllowed reports whether AT_EMPTY_PATH is set.
func (p *pathCall) emptyAllowed(args []uint64) bool {
	return p.flags >= 0 && args[p.flags]&atEmptyPath != 0
}

// how tells what the call does with the last component of path i.
func how(nr, i int, args []uint64) guestfs.Flags {
	var f guestfs.Flags
	spec := &pathCalls[nr]
	switch nr {
	case sysno.Openat:
		oflags := args[2]
		if oflags&oCreat != 0 {
			f |= guestfs.Create
		}
		if spec.follows(i, args) && !creates(oflags) {
			f |= guestfs.Follow
		}
		return f
	case sysno.Mkdirat, sysno.Mknodat, sysno.Symlinkat, sysno.Unlinkat, sysno.Renameat, sysno.Renameat2:
		return guestfs.Parent | exact(spec)
	case sysno.Linkat:
		if i == 1 {
			return guestfs.Parent | guestfs.Exact
		}
	}
	if spec.follows(i, args) {
		f |= guestfs.Follow
	}
	return f | exact(spec)
}

func exact(spec *pathCall) guestfs.Flags {
	if spec.n > 1 {
		return guestfs.Exact
	}
	return 0
}

// stackGap is how far below the stack pointer host paths are written: further
// than any frame without a stack pointer of its own, which arm64 does not have.
const stackGap = 16

// letMake has the guest make the call with host paths, which are written below
// its stack, and puts the registers back at the end.
func (t *Tracer) letMake(tk *task, nr int) {
	spec := &pathCalls[nr]
	if t.regs.get(tk.tid) != nil {
		return
	}
	copy(tk.saved[:], t.regs.X[:8])
	at := t.regs.SP - stackGap
	for i := range int(spec.n) {
		host := t.found[i].Host
		if len(host) == 0 { // the descriptor itself
			continue
		}
		host = host[:len(host)+1] // its NUL
		at = (at - uint64(len(host))) &^ 15
		if writeMemory(tk.tid, at, host) != len(host) {
			t.fail(tk, syscall.EFAULT)
			return
		}
		t.regs.X[spec.paths[i].arg] = at
	}
	t.adjust(nr)
	tk.restore = true
	if t.regs.setFirst(tk.tid, 8) == nil {
		toExit(tk.tid, 0)
	}
}

// adjust changes what else of the arguments the host path makes wrong: one whose
// symlinks are resolved must meet no other.
func (t *Tracer) adjust(nr int) {
	if nr == sysno.Openat && t.regs.X[2]&oPath == 0 && t.found[0].Link == guestfs.NotProc {
		t.regs.X[2] |= oNofollow
	}
}

// callExit handles the end of a call that was let made, or of an execve that
// failed. What end wrote to the guest's memory stays; the registers are as the
// kernel would have left them.
func (t *Tracer) callExit(tk *task) {
	restore, end := tk.restore, tk.end
	tk.restore, tk.exec, tk.end = false, nil, nil
	if t.cfg.Stats != nil {
		t.cfg.Stats.Exits++
	}
	if end != nil {
		end(t, tk)
	}
	if restore && t.regs.getCall(tk.tid) == nil {
		copy(t.regs.X[1:8], tk.saved[1:8])
		t.regs.setFirst(tk.tid, 8)
	}
	cont(tk.tid, 0)
}
