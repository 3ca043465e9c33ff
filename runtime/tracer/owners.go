//go:build linux && arm64

// Owners of files under ids that are only shown. What belongs to the tracer's user
// belongs, for whoever looks, to whom it would belong had the looker made it: so
// root sees its own files, and a daemon that gave root up still owns what it
// made. Nothing is remembered: a change to any other owner counts as done when the
// kernel refuses it to a root that it does not know.

package tracer

import (
	"strconv"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// Where struct stat and struct statx have the two ids, one behind the other.
const (
	statOwner  = 24
	statxOwner = 20
)

var ownerCalls = map[int]handler{
	sysno.Fstat:     (*Tracer).fstat,
	sysno.Fchown:    (*Tracer).fchown,
	sysno.Fchmod:    (*Tracer).letForgive,
	sysno.Fsetxattr: (*Tracer).letForgive,
	sysno.Capset:    (*Tracer).letForgive,
	sysno.Socket:    (*Tracer).auditSocket,
}

// mayMake reports whether the tracer may make a path call in place of tk, which is
// not so when the kernel would judge tk by other ids. The text of a link below
// /proc no guest can read: the host's path is in it.
func (t *Tracer) mayMake(tk *task, nr int) bool {
	return !tk.proc.foreign || nr == sysno.Readlinkat && t.found[0].Link != guestfs.NotProc
}

// makeOwn makes a path call of tk and returns what the guest gets in x0.
func (t *Tracer) makeOwn(tk *task, nr int, own *ownCall, guest []uint64) int64 {
	forgives := t.forgives(tk)
	switch {
	case nr == sysno.Fchownat && t.who.mode == idsShown:
		t.who.hostOwner(&tk.ids, guest[2:4])
	case nr == sysno.Mknodat && forgives && !t.who.mknod:
		guest[2] = ordinary(guest[2])
	}
	result := t.makeCall(tk, nr, own, guest)
	switch nr {
	case sysno.Linkat:
		return t.linkRefusal(result)
	case sysno.Fchownat, sysno.Fchmodat, sysno.Fchmodat2, sysno.Setxattr, sysno.Lsetxattr:
		if refused(result) && forgives {
			return 0
		}
	}
	return result
}

// ordinary is the mode of the file that is made in place of a device, when the
// kernel lets nobody but the real root make one: what unpacks archives goes on to
// set its owner, mode and times.
func ordinary(mode uint64) uint64 {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFCHR, syscall.S_IFBLK:
		return syscall.S_IFREG | mode&0o777
	}
	return mode
}

// show changes what an own call filled before the guest sees it.
func (t *Tracer) show(tk *task, nr int, filled []byte) {
	switch {
	case nr == sysno.Statfs:
		showShm(filled, t.found[0].Guest)
	case t.who.mode != idsShown:
	case nr == sysno.Newfstatat:
		t.who.showOwner(&tk.ids, filled[statOwner:])
	case nr == sysno.Statx:
		t.who.showOwner(&tk.ids, filled[statxOwner:])
	}
}

// descriptorCall handles a path call that names a descriptor and no path.
func (t *Tracer) descriptorCall(tk *task, nr int) {
	args := t.regs.X[:8]
	switch {
	case t.who.mode != idsShown:
		cont(tk.tid, 0)
	case nr == sysno.Newfstatat || nr == sysno.Statx:
		flags := pathCalls[nr].flags
		args[flags] &^= atEmptyPath | atSymlinkNofollow
		t.finish(tk, t.statDescriptor(tk, nr, int32(args[0]), args))
	case nr == sysno.Fchownat:
		t.chownDescriptor(tk, 2)
	case nr == sysno.Fchmodat2:
		t.letForgive(tk, nr)
	default:
		cont(tk.tid, 0)
	}
}

func (t *Tracer) fstat(tk *task, _ int) {
	fd := int32(t.regs.X[0])
	if fd < 0 {
		t.fail(tk, syscall.EBADF)
		return
	}
	args := [8]uint64{2: t.regs.X[1]}
	t.finish(tk, t.statDescriptor(tk, sysno.Newfstatat, fd, args[:]))
}

// statDescriptor looks at a guest's descriptor by its link in /proc: one stop, and
// the very file, whatever it is called.
func (t *Tracer) statDescriptor(tk *task, nr int, fd int32, args []uint64) int64 {
	host := append(t.found[0].Host[:0], "/proc/"...)
	host = strconv.AppendInt(host, int64(tk.tid), 10)
	if fd == atFDCWD {
		host = append(host, "/cwd"...)
	} else {
		host = append(host, "/fd/"...)
		host = strconv.AppendInt(host, int64(fd), 10)
	}
	host = append(host, 0)
	t.found[0].Host = host[:len(host)-1]
	result := t.makeOwn(tk, nr, &ownCalls[nr], args)
	if result == -int64(syscall.ENOENT) {
		result = -int64(syscall.EBADF)
	}
	return result
}

func (t *Tracer) fchown(tk *task, _ int) { t.chownDescriptor(tk, 1) }

// chownDescriptor has the guest make a chown whose ids are from argument first on.
func (t *Tracer) chownDescriptor(tk *task, first int) {
	copy(tk.saved[:], t.regs.X[:6])
	t.who.hostOwner(&tk.ids, t.regs.X[first:first+2])
	tk.restore, tk.end = true, endForgive
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}

// letForgive lets the kernel make a call that root may make.
func (t *Tracer) letForgive(tk *task, _ int) {
	tk.end = endForgive
	toExit(tk.tid, 0)
}

func endForgive(t *Tracer, tk *task) {
	if refused(t.ended(tk)) && t.forgives(tk) {
		t.setEnded(tk, 0)
	}
}

// ended is what a call that has ended returned; 0 for a task that was killed.
func (t *Tracer) ended(tk *task) int64 {
	result, err := t.result(tk.tid)
	if err != nil {
		return 0
	}
	return result
}

func (t *Tracer) setEnded(tk *task, result int64) {
	t.regs.X[0] = uint64(result)
	t.regs.setFirst(tk.tid, 1)
}

// auditSocket handles the socket that speaks to the kernel's audit: login programs
// of root give up when they are refused one, and not when there is none.
func (t *Tracer) auditSocket(tk *task, _ int) {
	tk.end = endAuditSocket
	toExit(tk.tid, 0)
}

func endAuditSocket(t *Tracer, tk *task) {
	if refused(t.ended(tk)) && t.forgives(tk) {
		t.setEnded(tk, -int64(syscall.EPROTONOSUPPORT))
	}
}

// refused reports whether the kernel denied a call to whoever is not root.
func refused(result int64) bool {
	return result == -int64(syscall.EPERM) || result == -int64(syscall.EACCES)
}
