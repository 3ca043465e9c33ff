//go:build linux && arm64

// Calls that the tracer makes itself: one stop, and of the guest's registers only
// x0 changes. What the kernel would read from or write to guest memory goes
// through buffers here, and a pointer that faults is EFAULT, after the errors of
// the path as in the kernel.

package tracer

import (
	"bytes"
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

// An ownCall says how the tracer makes a call: what it copies in and out besides
// the paths.
type ownCall struct {
	is      bool
	in      int8 // argument that points to inSize bytes, -1 for none; null is passed on
	inSize  uint16
	text    int8 // argument that points to a string, -1 for none
	out     int8 // argument that points to a buffer to fill, -1 for none
	outSize uint16
	outLen  int8 // argument with the buffer's length, -1: outSize
	inLen   int8 // argument with the length of in, -1: inSize
}

func plain() ownCall { return ownCall{is: true, in: -1, text: -1, out: -1, outLen: -1, inLen: -1} }

func (o ownCall) fills(arg int8, size uint16) ownCall { o.out, o.outSize = arg, size; return o }
func (o ownCall) fillsUpTo(arg, length int8) ownCall  { o.out, o.outLen = arg, length; return o }
func (o ownCall) reads(arg int8, size uint16) ownCall { o.in, o.inSize = arg, size; return o }
func (o ownCall) readsUpTo(arg, length int8) ownCall  { o.in, o.inLen = arg, length; return o }
func (o ownCall) string(arg int8) ownCall             { o.text = arg; return o }

// ownCalls is by number. Calls that depend on the process itself are not here:
// its umask (mkdirat, mknodat), its limits (truncate), its descriptors (openat).
var ownCalls = [sysno.Max + 1]ownCall{
	sysno.Newfstatat:   plain().fills(2, 128),
	sysno.Statx:        plain().fills(4, 256),
	sysno.Statfs:       plain().fills(1, 120),
	sysno.Faccessat:    plain(),
	sysno.Faccessat2:   plain(),
	sysno.Readlinkat:   plain().fillsUpTo(2, 3),
	sysno.Unlinkat:     plain(),
	sysno.Symlinkat:    plain().string(0),
	sysno.Linkat:       plain(),
	sysno.Renameat:     plain(),
	sysno.Renameat2:    plain(),
	sysno.Fchmodat:     plain(),
	sysno.Fchmodat2:    plain(),
	sysno.Fchownat:     plain(),
	sysno.Utimensat:    plain().reads(2, 32),
	sysno.Setxattr:     plain().string(1).readsUpTo(2, 3),
	sysno.Lsetxattr:    plain().string(1).readsUpTo(2, 3),
	sysno.Getxattr:     plain().string(1).fillsUpTo(2, 3),
	sysno.Lgetxattr:    plain().string(1).fillsUpTo(2, 3),
	sysno.Listxattr:    plain().fillsUpTo(1, 2),
	sysno.Llistxattr:   plain().fillsUpTo(1, 2),
	sysno.Removexattr:  plain().string(1),
	sysno.Lremovexattr: plain().string(1),
}

// maxOwn is the largest buffer of an own call: XATTR_SIZE_MAX.
const maxOwn = 65536

// makeCall makes the call with the host paths that were found, and returns what
// the guest gets in x0.
func (t *Tracer) makeCall(tk *task, nr int, own ownCall, guest []uint64) int64 {
	var args [6]uintptr
	for i := range args {
		args[i] = uintptr(guest[i])
	}
	spec := &pathCalls[nr]
	for i := range int(spec.n) {
		p := spec.paths[i]
		args[p.arg] = pathPointer(t.found[i].Host)
		if p.dirfd >= 0 {
			args[p.dirfd] = fdcwd
		}
	}
	if e := t.copyIn(tk, own, guest, &args); e != 0 {
		return -int64(e)
	}
	size := own.outRoom(guest)
	if own.out >= 0 && size > 0 {
		args[own.out] = uintptr(unsafe.Pointer(&t.out[0]))
		if own.outLen >= 0 {
			args[own.outLen] = uintptr(size)
		}
	}
	n, _, e := syscall.RawSyscall6(uintptr(nr), args[0], args[1], args[2], args[3], args[4], args[5])
	if e != 0 {
		return -int64(e)
	}
	if nr == sysno.Readlinkat {
		return t.linkResult(tk, guest, int(n))
	}
	return t.copyOut(tk, own, guest, int(n), size)
}

// copyIn reads what the call reads besides its paths.
func (t *Tracer) copyIn(tk *task, own ownCall, guest []uint64, args *[6]uintptr) syscall.Errno {
	if own.text >= 0 {
		text, e := readPath(tk.tid, guest[own.text], &t.text)
		if e != 0 {
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
func (o ownCall) outRoom(guest []uint64) int {
	if o.outLen < 0 {
		return int(o.outSize)
	}
	return int(min(guest[o.outLen], maxOwn))
}

// copyOut writes what the call filled and returns its result.
func (t *Tracer) copyOut(tk *task, own ownCall, guest []uint64, n, size int) int64 {
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

// linkResult returns a link's text as the guest must see it. The host's text of a
// link below /proc is turned back; a cut text is read whole first.
func (t *Tracer) linkResult(tk *task, guest []uint64, n int) int64 {
	size := int(int32(guest[3]))
	if size <= 0 {
		return -int64(syscall.EINVAL)
	}
	text, e := t.paths.Readlink(t.linkOut[:0], tk.caller(), &t.found[0])
	if e != 0 {
		return -int64(e)
	}
	t.linkOut = text
	text = text[:min(len(text), size)]
	if writeMemory(tk.tid, guest[2], text) != len(text) {
		return -int64(syscall.EFAULT)
	}
	return int64(len(text))
}

// getcwd answers from the kernel's own working directory.
func (t *Tracer) getcwd(tk *task) {
	base, e := t.base(tk, atFDCWD)
	if e != 0 {
		t.fail(tk, e)
		return
	}
	if bytes.HasSuffix(base.Host, []byte(" (deleted)")) && (*hostFS)(nil).Deleted(t.link) {
		t.fail(tk, syscall.ENOENT)
		return
	}
	text, _, err := t.paths.Guest(t.linkOut[:0], base.Host, tk.caller(), 0)
	if err != nil {
		text = append(t.linkOut[:0], "(unreachable)"...)
		text = append(text, base.Host...)
	}
	text = append(text, 0)
	t.linkOut = text
	switch {
	case uint64(len(text)) > t.regs.X[1]:
		t.fail(tk, syscall.ERANGE)
	case writeMemory(tk.tid, t.regs.X[0], text) != len(text):
		t.fail(tk, syscall.EFAULT)
	default:
		t.finish(tk, int64(len(text)))
	}
}
