//go:build linux && arm64

// setxattrat and getxattrat: the value's address and size lie in a structure of
// the guest's. The other two of the family have no structure and are as any call
// that the tracer makes.

package tracer

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

var xattrCalls = map[int]handler{
	sysno.Setxattrat: (*Tracer).xattrat,
	sysno.Getxattrat: (*Tracer).xattrat,
}

// xattrArgs is struct xattr_args, and room for what later kernels put behind.
type xattrArgs [256]byte

func (a *xattrArgs) value() uint64      { return binary.LittleEndian.Uint64(a[:]) }
func (a *xattrArgs) size() uint64       { return uint64(binary.LittleEndian.Uint32(a[8:])) }
func (a *xattrArgs) point(to uintptr)   { binary.LittleEndian.PutUint64(a[:], uint64(to)) }
func (a *xattrArgs) address() uintptr   { return uintptr(unsafe.Pointer(a)) }
func (a *xattrArgs) fits(n uint64) bool { return n >= 16 && n <= uint64(len(a)) }

// xattrat makes the call with a copy of the structure. What the guest's pointers
// do not lead to is unmapped here as well: the kernel says when that matters.
func (t *Tracer) xattrat(tk *task, nr int) {
	defer t.release()
	empty, pathError := t.resolve(tk, nr, 0, t.pinning)
	if empty {
		cont(tk.tid, 0)
		return
	}
	var args [6]uintptr
	for i := range args {
		args[i] = uintptr(t.regs.X[i])
	}
	if pathError == 0 {
		t.place(&args, nr, 0)
	} else {
		args[1] = pathPointer(tooLong)
	}
	value := t.xattrIn(tk, nr, &args)
	n, _, e := syscall.RawSyscall6(uintptr(nr), args[0], args[1], args[2], args[3], args[4], args[5])
	switch {
	case pathError != 0 && e == syscall.ENAMETOOLONG:
		t.fail(tk, pathError)
	case e != 0:
		t.fail(tk, e)
	case nr == sysno.Getxattrat && value.size() > 0 && writeMemory(tk.tid, value.value(), t.out[:n]) != int(n):
		t.fail(tk, syscall.EFAULT)
	default:
		t.finish(tk, int64(n))
	}
}

// xattrIn copies the name, the structure and the value that is to be set, and
// returns the guest's structure.
func (t *Tracer) xattrIn(tk *task, nr int, args *[6]uintptr) (guest xattrArgs) {
	args[3], args[4] = unmapped, unmapped
	if name, e := readPath(tk.tid, t.regs.X[3], &t.text); e == 0 {
		t.text[len(name)] = 0
		args[3] = pathPointer(t.text[:])
	} else if e == syscall.ENAMETOOLONG {
		args[3] = pathPointer(tooLong)
	}
	ours, size := &t.xattr, t.regs.X[5]
	if !ours.fits(size) || readMemory(tk.tid, t.regs.X[4], ours[:size]) != int(size) {
		return guest
	}
	guest, args[4] = *ours, ours.address()
	switch n := min(guest.size(), maxOwn); {
	case nr == sysno.Getxattrat:
		ours.point(uintptr(unsafe.Pointer(&t.out)))
		binary.LittleEndian.PutUint32(ours[8:], uint32(n))
	case readMemory(tk.tid, guest.value(), t.in[:n]) == int(n):
		ours.point(uintptr(unsafe.Pointer(&t.in)))
	default:
		ours.point(unmapped)
	}
	return guest
}
