//go:build linux && arm64

// Calls that the tracer makes itself: one stop, and of the guest's registers only
// x0 changes. What the kernel would read from or write to guest memory goes
// through buffers here, and a pointer that faults is EFAULT, after the errors of
// the path as in the kernel.

package tracer

import (
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

// An ownCall says how the tracer makes a call: what it copies in and out besides
// the paths.
type ownCall struct {
	is      bool
	pin     pinKind
	in      int8 // argument that points to inSize bytes, -1 for none; null is passed on
	inSize  uint16
	text    int8 // argument that points to a string, -1 for none
	out     int8 // argument that points to a buffer to fill, -1 for none
	outSize uint16
	outLen  int8 // argument with the buffer's length, -1: outSize
	inLen   int8 // argument with the length of in, -1: inSize
}

func own(pin pinKind) ownCall {
	return ownCall{is: true, pin: pin, in: -1, text: -1, out: -1, outLen: -1, inLen: -1}
}

func (o ownCall) fills(arg int8, size uint16) ownCall { o.out, o.outSize = arg, size; return o }
func (o ownCall) fillsUpTo(arg, length int8) ownCall  { o.out, o.outLen = arg, length; return o }
func (o ownCall) reads(arg int8, size uint16) ownCall { o.in, o.inSize = arg, size; return o }
func (o ownCall) readsUpTo(arg, length int8) ownCall  { o.in, o.inLen = arg, length; return o }
func (o ownCall) string(arg int8) ownCall             { o.text = arg; return o }

// ownCalls is by number. Calls that depend on more of the process than its umask
// are not here: on its limits (truncate), its descriptors (openat).
var ownCalls = [sysno.Max + 1]ownCall{
	sysno.Newfstatat:   own(pinFile).fills(2, 128),
	sysno.Statx:        own(pinFile).fills(4, 256),
	sysno.Statfs:       own(pinLink).fills(1, 120),
	sysno.Faccessat:    own(pinFile),
	sysno.Faccessat2:   own(pinFile),
	sysno.Readlinkat:   own(pinFile).fillsUpTo(2, 3),
	sysno.Mkdirat:      own(pinParent),
	sysno.Mknodat:      own(pinParent),
	sysno.Unlinkat:     own(pinParent),
	sysno.Symlinkat:    own(pinParent).string(0),
	sysno.Linkat:       own(pinParent),
	sysno.Renameat:     own(pinParent),
	sysno.Renameat2:    own(pinParent),
	sysno.Fchmodat:     own(pinLink),
	sysno.Fchmodat2:    own(pinLink),
	sysno.Fchownat:     own(pinFile),
	sysno.Utimensat:    own(pinFile).reads(2, 32),
	sysno.Setxattr:     own(pinLink).string(1).readsUpTo(2, 3),
	sysno.Lsetxattr:    own(pinLink).string(1).readsUpTo(2, 3),
	sysno.Getxattr:     own(pinLink).string(1).fillsUpTo(2, 3),
	sysno.Lgetxattr:    own(pinLink).string(1).fillsUpTo(2, 3),
	sysno.Listxattr:    own(pinLink).fillsUpTo(1, 2),
	sysno.Llistxattr:   own(pinLink).fillsUpTo(1, 2),
	sysno.Removexattr:  own(pinLink).string(1),
	sysno.Lremovexattr: own(pinLink).string(1),

	// With AT_EMPTY_PATH these take no descriptor that was opened with O_PATH.
	sysno.Setxattrat:    {pin: pinLink},
	sysno.Getxattrat:    {pin: pinLink},
	sysno.Listxattrat:   own(pinLink).fillsUpTo(3, 4),
	sysno.Removexattrat: own(pinLink).string(3),
}

// maxOwn is the largest buffer of an own call: XATTR_SIZE_MAX.
const maxOwn = 65536

// makeCall makes the call with the host paths that were found, and returns what
// the guest gets in x0.
func (t *Tracer) makeCall(tk *task, nr int, own *ownCall, guest []uint64) int64 {
	var args [6]uintptr
	for i := range args {
		args[i] = uintptr(guest[i])
	}
	if nr == sysno.Readlinkat && t.pins[0].fd < 0 {
		return t.linkResult(tk, guest, 0, 0)
	}
	call := nr
	for i := range int(pathCalls[nr].n) {
		call = t.place(&args, nr, i)
	}
	if e := t.copyIn(tk, nr, own, guest, &args); e != 0 {
		return -int64(e)
	}
	size := own.outRoom(guest)
	if own.out >= 0 && size > 0 {
		args[own.out] = uintptr(unsafe.Pointer(&t.out[0]))
		if own.outLen >= 0 {
			args[own.outLen] = uintptr(size)
		}
	}
	if nr == sysno.Mkdirat || nr == sysno.Mknodat {
		t.takeUmask(tk)
	}
	n, _, e := syscall.RawSyscall6(uintptr(call), args[0], args[1], args[2], args[3], args[4], args[5])
	if nr == sysno.Readlinkat {
		return t.linkResult(tk, guest, int(n), e)
	}
	if e != 0 {
		return -int64(e)
	}
	t.show(tk, nr, t.out[:size])
	return t.copyOut(tk, own, guest, int(n), size)
}

// place puts path i into the arguments, as its pin or as text, and returns the
// number of the call that takes it so.
func (t *Tracer) place(args *[6]uintptr, nr, i int) int {
	spec, p := &pathCalls[nr], &t.pins[i]
	at := spec.paths[i]
	dir, name := fdcwd, t.found[i].Host
	if p.fd >= 0 {
		dir, name = uintptr(p.fd), p.name
	}
	args[at.arg] = pathPointer(name)
	if at.dirfd >= 0 {
		args[at.dirfd] = dir
	}
	if p.fd < 0 {
		return nr
	}
	switch {
	case p.kind == pinLink && spec.flags >= 0:
		args[spec.flags] &^= atSymlinkNofollow // the link leads to the file itself
	case p.kind == pinLink:
		return followed(nr)
	case p.kind == pinParent && nr == sysno.Linkat && i == 0:
		args[spec.flags] &^= atSymlinkFollow // followed already
	case p.kind == pinFile && nr == sysno.Faccessat:
		args[3] = atEmptyPath
		return sysno.Faccessat2
	case p.kind == pinFile && spec.flags >= 0:
		args[spec.flags] = args[spec.flags]&^atSymlinkNofollow | atEmptyPath
	}
	return nr
}

// followed is the call that follows where nr does not: what a pinned link names
// is reached through a link of procfs.
func followed(nr int) int {
	switch nr {
	case sysno.Lsetxattr:
		return sysno.Setxattr
	case sysno.Lgetxattr:
		return sysno.Getxattr
	case sysno.Llistxattr:
		return sysno.Listxattr
	case sysno.Lremovexattr:
		return sysno.Removexattr
	}
	return nr
}

// copyIn reads what the call reads besides its paths.
func (t *Tracer) copyIn(tk *task, nr int, own *ownCall, guest []uint64, args *[6]uintptr) syscall.Errno {
	if own.text >= 0 {
		text, e := readPath(tk.tid, guest[own.text], &t.text)
		switch {
		case e == syscall.ENAMETOOLONG && nr != sysno.Symlinkat: // the name of an attribute
			return syscall.ERANGE
		case e != 0:
			return e
		}
		t.text[len(text)] = 0
		args[own.text] = uintptr(unsafe.Pointer(&t.text[0]))
	}
	if own.in < 0 || guest[own.in] == 0 {
		return 0
	}
	size := uint64(own.inSize)
	if own.inLen >= 0 {
		size = guest[own.inLen]
	}
	if size > maxOwn { // the kernel's answer to a value that is too long
		return syscall.E2BIG
	}
	if readMemory(tk.tid, guest[own.in], t.in[:size]) != int(size) {
		return syscall.EFAULT
	}
	args[own.in] = uintptr(unsafe.Pointer(&t.in[0]))
	return 0
}

// outRoom is how many bytes the call may fill.
func (o *ownCall) outRoom(guest []uint64) int {
	if o.outLen < 0 {
		return int(o.outSize)
	}
	return int(min(guest[o.outLen], maxOwn))
}

// copyOut writes what the call filled and returns its result.
func (t *Tracer) copyOut(tk *task, own *ownCall, guest []uint64, n, size int) int64 {
	if own.out < 0 || size == 0 {
		return int64(n)
	}
	if own.outLen >= 0 {
		size = n
	}
	if writeMemory(tk.tid, guest[own.out], t.out[:size]) != size {
		return -int64(syscall.EFAULT)
	}
	return int64(n)
}

// linkResult returns a link's text as the guest must see it. What a link of procfs
// says is turned back, and read again for it: it may have been cut.
func (t *Tracer) linkResult(tk *task, guest []uint64, n int, e syscall.Errno) int64 {
	size := int(int32(guest[3])) // more than 0: see unknown
	text := t.out[:max(n, 0)]
	switch {
	case t.pins[0].fd >= 0 && e == syscall.ENOENT: // no link: without a pin EINVAL
		return -int64(syscall.EINVAL)
	case t.pins[0].fd < 0:
		if text, e = t.paths.Readlink(t.linkOut[:0], tk.caller(), &t.found[0]); e == 0 {
			t.linkOut = text
		}
	}
	if e != 0 {
		return -int64(e)
	}
	text = text[:min(len(text), size)]
	if writeMemory(tk.tid, guest[2], text) != len(text) {
		return -int64(syscall.EFAULT)
	}
	return int64(len(text))
}
