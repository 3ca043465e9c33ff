//go:build linux && arm64

// chroot. The guest's root is the tracer's to give, so nobody gets another one;
// but root may ask for the one that it has, as programs do that are told to work in
// the folder "/".

package tracer

import (
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

var rootCalls = map[int]handler{sysno.Chroot: (*Tracer).chroot}

func (t *Tracer) chroot(tk *task, _ int) {
	found := &t.found[0]
	if e := t.resolveFolder(tk, t.regs.X[0], found); e != 0 {
		t.fail(tk, e)
		return
	}
	if !t.root(tk) || string(found.Guest) != "/" {
		t.fail(tk, syscall.EPERM)
		return
	}
	t.finish(tk, 0)
}

// resolveFolder resolves the path at addr, which has to lead to a folder.
func (t *Tracer) resolveFolder(tk *task, addr uint64, found *guestfs.Result) syscall.Errno {
	name, e := readPath(tk.tid, addr, &t.names[0])
	if e != 0 {
		return e
	}
	if len(name) == 0 {
		return syscall.ENOENT
	}
	var base guestfs.Base
	if name[0] != '/' {
		if base, e = t.base(tk, atFDCWD); e != 0 {
			return e
		}
	}
	if e := t.paths.Resolve(found, tk.caller(), base, name, guestfs.Follow); e != 0 {
		return e
	}
	var st syscall.Stat_t
	if err := syscall.Stat(string(found.Host), &st); err != nil {
		return errnoOf(err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return syscall.ENOTDIR
	}
	return 0
}
