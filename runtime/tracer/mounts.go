//go:build linux && arm64

// The errors that only a mount gives. A bind is text to the tracer, so the kernel
// would move what lies under it, remove what it shows, and link across it: EBUSY
// and EXDEV are the tracer's to say. The kernel says them late (fs/namei.c,
// do_renameat2, do_unlinkat, do_rmdir, do_linkat), after ENOENT, EISDIR, ENOTEMPTY
// and the permissions, so all of these are asked for here as well.

package tracer

import (
	"bytes"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// mountError is what the kernel would say to the call at hand, whose paths are
// found, if the binds were mounts; 0 leaves it to the kernel.
func (t *Tracer) mountError(tk *task, nr int) syscall.Errno {
	a, b := &t.found[0], &t.found[1]
	switch nr {
	case sysno.Unlinkat:
		if a.Mount {
			return t.removeMount(tk, a, t.regs.X[2]&atRemovedir != 0)
		}
	case sysno.Linkat:
		return t.linkMounts(tk, a, b)
	case sysno.Renameat:
		return t.renameMounts(tk, a, b, 0)
	case sysno.Renameat2:
		return t.renameMounts(tk, a, b, t.regs.X[4])
	}
	return 0
}

const (
	atRemovedir     = 0x200
	renameNoreplace = 1
	renameExchange  = 2
)

// removeMount is what rmdir and unlink say of a mount point.
func (t *Tracer) removeMount(tk *task, found *guestfs.Result, rmdir bool) syscall.Errno {
	mode, slash, e := lookAt(found)
	switch {
	case e != 0:
		return 0 // what it shows is gone
	case slash && !rmdir && !isDir(mode):
		return syscall.ENOTDIR
	case slash && !rmdir:
		return syscall.EISDIR
	}
	if e := t.mayChange(tk, found); e != 0 {
		return e
	}
	switch {
	case rmdir && !isDir(mode):
		return syscall.ENOTDIR
	case !rmdir && isDir(mode):
		return syscall.EISDIR
	}
	return syscall.EBUSY
}

// linkMounts is what link says of a file and a directory of two mounts. The file's
// own errors come first, and what is at the new name before the mounts.
func (t *Tracer) linkMounts(tk *task, file, name *guestfs.Result) syscall.Errno {
	via := t.mountOf(tk, file)
	if via == 0 || via == name.Dir {
		return 0
	}
	if t.regs.X[4]&atEmptyPath != 0 {
		if e := t.earlierError(tk, sysno.Linkat); e != 0 { // it takes a capability
			return e
		}
	}
	if len(file.Host) > 0 {
		if _, _, e := lookAt(file); e != 0 {
			return e
		}
	}
	switch _, slash, e := lookAt(name); {
	case name.Last != guestfs.Name || e != syscall.ENOENT:
		return 0
	case slash:
		return syscall.ENOENT
	}
	return syscall.EXDEV
}

// mountOf is the bind that the file of a link lies in, 0 when it is not known. One
// that is named by a link of procfs, or is a descriptor itself, lies where that
// leads.
func (t *Tracer) mountOf(tk *task, file *guestfs.Result) guestfs.Via {
	var text []byte
	switch {
	case len(file.Host) == 0:
		base, e := t.base(tk, int32(t.regs.X[0]))
		if e != 0 {
			return 0
		}
		text = base.Host
	case file.Via != 0:
		return file.Via
	default:
		n, e := (*hostFS)(nil).Readlink(file.Host, t.linkText[:])
		if e != 0 {
			return 0
		}
		text = t.linkText[:n]
	}
	_, via, _ := t.paths.Guest(t.linkOut[:0], text, tk.caller(), 0)
	return via
}

// renameMounts is what rename says of two names of which one is a mount point, or
// which lie in two mounts.
func (t *Tracer) renameMounts(tk *task, old, new *guestfs.Result, flags uint64) syscall.Errno {
	switch {
	case flags&^7 != 0 || flags&renameExchange != 0 && flags != renameExchange:
		return 0 // EINVAL before all else
	case old.Dir != new.Dir:
		return syscall.EXDEV
	case old.Last != guestfs.Name:
		return syscall.EBUSY
	case new.Last != guestfs.Name && flags&renameNoreplace != 0:
		return syscall.EEXIST
	case new.Last != guestfs.Name:
		return syscall.EBUSY
	case !old.Mount && !new.Mount:
		return 0
	}
	if e := t.renameNames(old, new, flags); e != 0 {
		return e
	}
	if t.sameFile(old, new) {
		return 0
	}
	return t.renamePoint(tk, old, new, flags)
}

// renameNames is what rename says before it looks whether it may.
func (t *Tracer) renameNames(old, new *guestfs.Result, flags uint64) syscall.Errno {
	from, slash, e := lookAt(old)
	if e != 0 {
		return e
	}
	to, slashTo, e := lookAt(new)
	exchange := flags&renameExchange != 0
	switch {
	case e != 0 && e != syscall.ENOENT:
		return e
	case e == 0 && flags&renameNoreplace != 0:
		return syscall.EEXIST
	case exchange && e != 0:
		return e
	case exchange && slashTo && !isDir(to), !isDir(from) && (slash || slashTo && !exchange):
		return syscall.ENOTDIR
	case below(new.Guest, old.Guest):
		return syscall.EINVAL
	case below(old.Guest, new.Guest) && exchange:
		return syscall.EINVAL
	case below(old.Guest, new.Guest):
		return syscall.ENOTEMPTY
	}
	return 0
}

// renamePoint is what rename says then.
func (t *Tracer) renamePoint(tk *task, old, new *guestfs.Result, flags uint64) syscall.Errno {
	from, _, _ := lookAt(old)
	to, _, there := lookAt(new)
	exchange := flags&renameExchange != 0
	if e := t.mayChange(tk, old); e != 0 {
		return e
	}
	if e := t.mayChange(tk, new); e != 0 {
		return e
	}
	switch {
	case there != 0 || exchange:
	case isDir(from) && !isDir(to):
		return syscall.ENOTDIR
	case !isDir(from) && isDir(to):
		return syscall.EISDIR
	}
	return syscall.EBUSY
}

// sameFile reports whether both names are of one file, which rename leaves alone.
// What lies under a bind is not what it shows.
func (t *Tracer) sameFile(old, new *guestfs.Result) bool {
	return old.Mount && new.Mount && bytes.Equal(old.Guest, new.Guest)
}

// below reports whether guest path p is below dir.
func below(p, dir []byte) bool {
	return len(p) > len(dir) && bytes.HasPrefix(p, dir) && (p[len(dir)] == '/' || len(dir) == 1)
}

func isDir(mode uint32) bool { return mode&syscall.S_IFMT == syscall.S_IFDIR }

// mayChange is what the kernel says to whoever may not change the directory that a
// mount point lies in, or not what others put there.
func (t *Tracer) mayChange(tk *task, found *guestfs.Result) syscall.Errno {
	var dir guestfs.Result
	end := max(bytes.LastIndexByte(found.Guest, '/'), 1)
	if e := t.paths.Resolve(&dir, tk.caller(), guestfs.Base{}, found.Guest[:end], guestfs.Follow); e != 0 {
		return e
	}
	if _, e := errnoCall(sysno.Faccessat, fdcwd, pathPointer(dir.Host), 3, 0); e != 0 { // W_OK and X_OK
		return e
	}
	var in, victim syscall.Stat_t
	me := uint32(syscall.Geteuid())
	if me == 0 || syscall.Lstat(string(dir.Host), &in) != nil || syscall.Lstat(string(found.Host), &victim) != nil {
		return 0
	}
	if in.Mode&syscall.S_ISVTX != 0 && in.Uid != me && victim.Uid != me {
		return syscall.EPERM
	}
	return 0
}
