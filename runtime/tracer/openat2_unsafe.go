//go:build linux && arm64

// openat2. Its RESOLVE_ bits speak of the guest's tree, so the walk obeys them and
// the kernel, which gets a host path, does not see them. What else is wrong with
// its arguments the kernel says of the same arguments without a path: it reads
// that last.

package tracer

import (
	"syscall"
	"unsafe"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// RESOLVE_ bits of struct open_how (uapi/linux/openat2.h).
const (
	resolveNoXdev     = 1
	resolveNoMagic    = 2
	resolveNoSymlinks = 4
	resolveBeneath    = 8
	resolveInRoot     = 16
	resolveCached     = 32
)

var openCalls = map[int]handler{sysno.Openat2: (*Tracer).openat2}

func (t *Tracer) openat2(tk *task, nr int) {
	how, e := t.readHow(tk)
	if e == 0 {
		e = t.resolveHow(tk, nr, how)
	}
	if e != 0 {
		t.fail(tk, e)
		return
	}
	how.Resolve &= resolveCached
	if !inProc(&t.found[0]) {
		how.Resolve |= resolveNoSymlinks
	}
	t.letOpen(tk, how)
}

// readHow reads the structure, and has the kernel say what is wrong with it: a
// call without a path ends with EFAULT.
func (t *Tracer) readHow(tk *task) (how openHow, e syscall.Errno) {
	addr, size := t.regs.X[2], t.regs.X[3]
	const least = uint64(unsafe.Sizeof(how))
	if size >= least && size <= uint64(len(t.in)) {
		if readMemory(tk.tid, addr, t.in[:size]) != int(size) {
			return how, syscall.EFAULT
		}
		how = *(*openHow)(unsafe.Pointer(&t.in))
	}
	if _, e = errnoCall(sysno.Openat2, fdcwd, 0, uintptr(unsafe.Pointer(&t.in)), uintptr(size)); e != syscall.EFAULT {
		return how, e
	}
	return how, 0
}

// resolveHow finds the path.
func (t *Tracer) resolveHow(tk *task, nr int, how openHow) syscall.Errno {
	name, _, e := t.pathOf(tk, nr, 0)
	if e != 0 {
		return e
	}
	var base guestfs.Base
	if name[0] != '/' || how.Resolve&resolveInRoot != 0 {
		if base, e = t.base(tk, int32(t.regs.X[0])); e == 0 {
			e = t.baseError(&base)
		}
		if e != 0 {
			return e
		}
	}
	e = t.paths.Resolve(&t.found[0], tk.caller(), base, name, openFlags(how.Flags)|resolveFlags(how.Resolve))
	switch {
	case e == 0 && (t.isWindow(t.found[0].Host) || t.intoLoader(tk, &t.found[0])):
		return syscall.ENOENT
	case e == 0 && t.foreignMemory():
		return syscall.EACCES
	}
	return e
}

// openFlags tells what an open with these flags does with the last component.
func openFlags(oflags uint64) (f guestfs.Flags) {
	if oflags&oCreat != 0 {
		f |= guestfs.Create
	}
	if oflags&oNofollow == 0 && !creates(oflags) {
		f |= guestfs.Follow
	}
	return f
}

// walkFlags are what the walk makes of the RESOLVE_ bits.
var walkFlags = [...]struct {
	bit  uint64
	flag guestfs.Flags
}{
	{resolveNoXdev, guestfs.NoCross},
	{resolveNoMagic, guestfs.NoMagic},
	{resolveNoSymlinks, guestfs.NoLinks},
	{resolveBeneath, guestfs.Beneath},
	{resolveInRoot, guestfs.InRoot},
}

func resolveFlags(resolve uint64) (f guestfs.Flags) {
	for _, w := range walkFlags {
		if resolve&w.bit != 0 {
			f |= w.flag
		}
	}
	return f
}

// letOpen has the guest open the path that was found.
func (t *Tracer) letOpen(tk *task, how openHow) {
	const size = uint64(unsafe.Sizeof(how))
	n := copy(t.out[:], unsafe.Slice((*byte)(unsafe.Pointer(&how)), size))
	n += copy(t.out[n:], append(t.found[0].Host, 0))
	copy(tk.saved[:], t.regs.X[:6])
	at, _, ok := t.say(tk, t.regs.SP-stackGap, t.out[:n])
	if !ok {
		t.fail(tk, syscall.EFAULT)
		return
	}
	t.regs.X[0], t.regs.X[1], t.regs.X[2], t.regs.X[3] = atFDCWDWord, at+size, at, size
	t.reach(tk, &t.found[0])
	tk.restore = true
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}
