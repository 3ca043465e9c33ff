//go:build linux && arm64

// A call that the filter sent. Either the tracer makes it and writes the result
// into x0, or the guest makes it with other paths and gets its registers back at
// the end.

package tracer

import (
	"bytes"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// call handles a seccomp stop.
func (t *Tracer) call(tk *task) {
	if t.entered(tk.tid) != nil {
		return // it was killed meanwhile
	}
	nr := int(int32(t.regs.X[8]))
	t.stats.call(nr)
	if nr < 0 || nr >= len(handlers) {
		t.fail(tk, syscall.ENOSYS)
		return
	}
	handlers[nr](t, tk, nr)
}

// finish ends the call that tk is entering with a result, without the kernel.
func (t *Tracer) finish(tk *task, result int64) {
	t.unsay(tk)
	tk.end = nil
	t.regs.X[0] = uint64(result)
	if setNumber(tk.tid, -1) == nil {
		t.regs.setFirst(tk.tid, 1)
	}
	cont(tk.tid, 0)
}

func (t *Tracer) fail(tk *task, e syscall.Errno) { t.finish(tk, -int64(e)) }

// pathCall translates the paths of a call, and makes it or has it made.
func (t *Tracer) pathCall(tk *task, nr int) {
	spec, own := &pathCalls[nr], &ownCalls[nr]
	if t.loaderOpens(tk, nr) {
		return
	}
	if spec.unknown(nr, t.regs.X[:8]) {
		t.fail(tk, syscall.EINVAL)
		return
	}
	pins := t.pinning && own.is && !tk.proc.foreign
	defer t.release()
	for i := range int(spec.n) {
		empty, e := t.resolve(tk, nr, i, pins)
		switch {
		case e != 0:
			t.failPath(tk, nr, i, e)
			return
		case empty && i == int(spec.n)-1: // nothing to translate; a second path is never empty
			t.descriptorCall(tk, nr)
			return
		case empty: // the first path is its descriptor itself
			t.found[i].Host = t.found[i].Host[:0]
			own = &ownCalls[sysno.Openat] // the guest's to make
		}
	}
	if e := t.mountError(tk, nr); e != 0 {
		t.fail(tk, e)
		return
	}
	if own.is && t.mayMake(tk, nr) {
		t.finish(tk, t.makeOwn(tk, nr, own, t.regs.X[:8]))
		return
	}
	t.letMake(tk, nr)
}

// release closes the pins of the call at hand.
func (t *Tracer) release() {
	t.pins[0].release()
	t.pins[1].release()
}

// resolve finds the host path of path i of the call and, for one that the tracer
// makes, pins it; empty tells that there is none because the call means its
// descriptor.
func (t *Tracer) resolve(tk *task, nr, i int, pins bool) (empty bool, e syscall.Errno) {
	name, empty, e := t.pathOf(tk, nr, i)
	if empty || e != 0 {
		return empty, e
	}
	p, args := pathCalls[nr].paths[i], t.regs.X[:8]
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
	if e = t.find(tk, nr, i, base, name, pins); e == 0 && (t.isWindow(t.found[i].Host) || t.intoLoader(tk, &t.found[i])) {
		e = syscall.ENOENT
	}
	if t.cfg.Verbose >= Translations {
		t.sayPath(tk, nr, i, name, e)
	}
	return false, e
}

// pathOf reads path i of the call.
func (t *Tracer) pathOf(tk *task, nr, i int) (name []byte, empty bool, e syscall.Errno) {
	spec, args := &pathCalls[nr], t.regs.X[:8]
	addr := args[spec.paths[i].arg]
	if addr == 0 && (spec.emptyAllowed(args) || nr == sysno.Utimensat) {
		return nil, true, 0
	}
	if name, e = readPath(tk.tid, addr, &t.names[i]); e != 0 {
		return nil, false, e
	}
	if len(name) == 0 && i == 0 && (spec.emptyAllowed(args) || nr == sysno.Readlinkat) {
		return nil, true, 0
	}
	if len(name) == 0 { // before the descriptor is looked at
		return nil, false, syscall.ENOENT
	}
	return name, false, 0
}

// maxRaces is how often a path is looked up again that has changed between the
// look and the opening.
const maxRaces = 8

// find resolves a name. Most meet no symlink: those are not looked at before they
// are opened, or before the guest opens them.
func (t *Tracer) find(tk *task, nr, i int, base guestfs.Base, name []byte, pins bool) syscall.Errno {
	h, found, kind := how(nr, i, t.regs.X[:8]), &t.found[i], ownCalls[nr].pin
	asks := (pins || nr == sysno.Openat && t.pinning) && h&guestfs.Exact == 0
	in := linkedKey(base.Host, name)
	walk := tk.walk || t.linked.has(in)
	tk.walk, t.unproven = false, false
	if asks && !walk && t.paths.Direct(found, tk.caller(), base, name, h) {
		if !pins && len(found.Host) < pathMax {
			t.unproven = true
			return 0
		}
		if pins {
			if e := t.pinPath(&t.pins[i], found, kind, h&guestfs.Follow != 0); e != syscall.ELOOP {
				return e
			}
			walk = true
		}
	}
	if asks && walk {
		h |= guestfs.Walk
	}
	e := t.resolvePinned(tk, i, base, name, h, kind, pins)
	if asks {
		t.linked.note(in, found.Linked())
	}
	return e
}

// resolvePinned resolves a name for path i and, if asked to, pins it: again when a
// symlink has come in between.
func (t *Tracer) resolvePinned(tk *task, i int, base guestfs.Base, name []byte, h guestfs.Flags, kind pinKind, pins bool) syscall.Errno {
	found := &t.found[i]
	if e := t.baseError(&base); e != 0 {
		return e
	}
	for range maxRaces {
		if e := t.paths.Resolve(found, tk.caller(), base, name, h); e != 0 || !pins || inProc(found) {
			return e
		}
		if e := t.pinPath(&t.pins[i], found, kind, h&guestfs.Follow != 0); e != syscall.ELOOP {
			return e
		}
	}
	return syscall.ELOOP
}

// inProc reports whether what was found lies in procfs, whose links no call
// follows that follows no symlinks: they are given as text.
func inProc(found *guestfs.Result) bool { return bytes.HasPrefix(found.Host, []byte("/proc/")) }

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

// letMake has the guest make the call with host paths that the tracer says, and puts the registers back at the end.
func (t *Tracer) letMake(tk *task, nr int) {
	if t.foreignMemory() {
		t.fail(tk, syscall.EACCES)
		return
	}
	spec, opens2 := &pathCalls[nr], t.opens2(nr)
	copy(tk.saved[:], t.regs.X[:6])
	at, sp := uint64(0), t.regs.SP-stackGap
	for i := range int(spec.n) {
		host := t.found[i].Host
		if len(host) == 0 { // the descriptor itself
			continue
		}
		host = host[:len(host)+1] // its NUL
		if opens2 {
			host = t.withHow(host)
		}
		var ok bool
		if at, sp, ok = t.say(tk, sp, host); !ok {
			t.fail(tk, syscall.EFAULT)
			return
		}
		t.regs.X[spec.paths[i].arg] = at
	}
	switch {
	case opens2:
		t.asOpenat2(tk, at)
	case nr == sysno.Openat && t.regs.X[2]&oPath == 0 && t.found[0].Link == guestfs.NotProc:
		t.regs.X[2] |= oNofollow // its symlinks are resolved: it must meet no other
	}
	t.reach(tk, &t.found[0])
	tk.restore = true
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}

// callExit handles the end of a call that was let made, or of an execve that
// failed. What end wrote to the guest's memory stays; the registers are as the
// kernel would have left them.
func (t *Tracer) callExit(tk *task) {
	end := tk.end
	if tk.exec != nil {
		t.execFailed(tk)
	}
	tk.exec, tk.end = nil, nil
	t.stats.end()
	if end != nil {
		end(t, tk)
	}
	if tk.restore {
		tk.restore = false
		if result, err := t.result(tk.tid); err == nil {
			t.regs.X[0] = uint64(result)
			copy(t.regs.X[1:6], tk.saved[1:6])
			t.regs.setFirst(tk.tid, 6)
		}
	}
	t.unsay(tk)
	t.reached(tk)
	if !t.errands(tk) {
		cont(tk.tid, 0)
	}
}
