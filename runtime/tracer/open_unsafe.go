//go:build linux && arm64

// open: the one path call that most programs make most, and that only the guest
// can make. It is made as openat2, which refuses to follow symlinks: so its path
// needs no look before, and what is renamed meanwhile leads nowhere. When it meets
// a symlink it is made once more, with the path walked.

package tracer

import (
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

// What openat drops and openat2 refuses (fs/open.c, build_open_how).
const (
	oAccess    = 3
	oTmpfile   = 0o20000000
	oKnown     = 0o37777703 // VALID_OPEN_FLAGS
	oPathKnown = oDirectory | oNofollow | oPath | oCloexec
	modeKnown  = 0o7777
)

// openHowOf is what the kernel makes of openat's arguments.
func openHowOf(oflags, mode uint64) openHow {
	how := openHow{Flags: oflags&oKnown | oLargefile, Mode: mode & modeKnown, Resolve: resolveNoSymlinks}
	if oflags&oPath != 0 {
		how.Flags = oflags & oPathKnown
	}
	if how.Flags&(oCreat|oTmpfile) == 0 {
		how.Mode = 0
	}
	return how
}

// opens2 reports whether the call at hand is made as openat2: not where its path
// leads through a link of procfs, which openat2 would refuse as well.
func (t *Tracer) opens2(nr int) bool {
	return nr == sysno.Openat && t.pinning && !inProc(&t.found[0])
}

// withHow puts an open_how in front of a host path, for one write.
func (t *Tracer) withHow(host []byte) []byte {
	how := openHowOf(t.regs.X[2], t.regs.X[3])
	n := copy(t.out[:], unsafe.Slice((*byte)(unsafe.Pointer(&how)), unsafe.Sizeof(how)))
	return t.out[:n+copy(t.out[n:], host)]
}

// asOpenat2 makes an entered openat an openat2 of what withHow made, at an address.
func (t *Tracer) asOpenat2(tk *task, at uint64) {
	size := uint64(unsafe.Sizeof(openHow{}))
	t.regs.X[0], t.regs.X[1], t.regs.X[2], t.regs.X[3] = atFDCWDWord, at+size, at, size
	setNumber(tk.tid, sysno.Openat2)
	if t.unproven {
		tk.end = openExit
	}
}

// openExit has an open that met a symlink made again.
func openExit(t *Tracer, tk *task) {
	if result, err := t.result(tk.tid); err != nil || result != -int64(syscall.ELOOP) {
		return
	}
	if t.regs.get(tk.tid) != nil {
		return
	}
	copy(t.regs.X[:6], tk.saved[:])
	t.regs.PC -= 4
	tk.walk, tk.restore = true, false
	t.regs.set(tk.tid)
}
