//go:build linux && arm64

// Which error comes first. The kernel looks at flags, modes and sizes before it
// walks a path, and at a path before it looks at what it only then needs; which is
// which differs from call to call and from kernel to kernel (setxattr reads its
// name first since 6.13). So when the walk fails, the kernel is asked: it gets the
// call as it is but for a path that is too long. ENAMETOOLONG then means that the
// path is the first thing wrong.

package tracer

import (
	"bytes"
	"syscall"
	"unsafe"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// tooLong is a path that no kernel takes.
var tooLong = append(bytes.Repeat([]byte{'/'}, pathMax), 0)

// unmapped is an address that faults, in place of one of the guest's that does.
const unmapped = 1

// failPath ends a call whose path i has an error.
func (t *Tracer) failPath(tk *task, nr, i int, e syscall.Errno) {
	args := t.regs.X[:6]
	if i == 1 && nr == sysno.Linkat {
		if first := t.missing(tk, &t.found[0]); first != 0 {
			e = first
		}
	}
	switch {
	case !hasEarlierErrors(nr, args):
		t.fail(tk, e)
	case ownCalls[nr].is:
		if earlier := t.earlierError(tk, nr); earlier != 0 {
			e = earlier
		}
		t.fail(tk, e)
	default:
		t.letJudge(tk, nr, e)
	}
}

// missing is the error of a link's old name, which comes before those of the new.
func (t *Tracer) missing(tk *task, old *guestfs.Result) (e syscall.Errno) {
	if len(old.Host) > 0 {
		_, _, e = lookAt(old)
	} else if _, e = t.base(tk, int32(t.regs.X[0])); e == syscall.ENOTDIR { // a pipe, for one
		e = 0
	}
	return e
}

// lookAt looks at what a path of a name ends in: its mode, and whether a slash
// comes behind.
func lookAt(found *guestfs.Result) (mode uint32, slash bool, e syscall.Errno) {
	host := found.Host
	end := max(len(bytes.TrimRight(host, "/")), 1)
	slash = end < len(host)
	host = host[:len(host)+1]
	next := host[end]
	host[end] = 0
	mode, e = (*hostFS)(nil).Lstat(host[:end])
	host[end] = next
	return mode, slash, e
}

// hasEarlierErrors reports whether the kernel may find something else wrong with a
// call before its path. Flags that pathCall knows are not in question any more.
func hasEarlierErrors(nr int, args []uint64) bool {
	switch nr {
	case sysno.Newfstatat, sysno.Fchmodat, sysno.Fchmodat2, sysno.Fchownat, sysno.Unlinkat, sysno.Mkdirat, sysno.Readlinkat,
		sysno.Statfs, sysno.Chdir, sysno.Renameat:
		return false
	case sysno.Faccessat, sysno.Faccessat2:
		return args[2]&^7 != 0
	case sysno.Linkat:
		return args[4]&atEmptyPath != 0
	case sysno.Truncate:
		return int64(args[1]) < 0
	case sysno.Openat:
		return args[2]&(oPath|oTmpfile) != 0 || args[2]&(oCreat|oDirectory) == oCreat|oDirectory
	}
	return true
}

// earlierError is what is wrong with a call that the tracer would make, before its
// path is.
func (t *Tracer) earlierError(tk *task, nr int) syscall.Errno {
	own, guest := &ownCalls[nr], t.regs.X[:6]
	args := [6]uintptr{}
	for i := range args {
		args[i] = uintptr(guest[i])
	}
	for i := range int(pathCalls[nr].n) {
		args[pathCalls[nr].paths[i].arg] = pathPointer(tooLong)
	}
	if t.copyIn(tk, nr, own, guest, &args) == syscall.EFAULT {
		for _, arg := range []int8{own.in, own.text} {
			if arg >= 0 {
				args[arg] = unmapped
			}
		}
	}
	if own.out >= 0 {
		args[own.out] = uintptr(unsafe.Pointer(&t.out[0]))
	}
	_, _, e := syscall.RawSyscall6(uintptr(nr), args[0], args[1], args[2], args[3], args[4], args[5])
	if e == syscall.ENAMETOOLONG {
		return 0
	}
	return e
}

// letJudge has the guest's kernel say the first error of a call that only the
// guest can make: what is wrong may be a descriptor.
func (t *Tracer) letJudge(tk *task, nr int, path syscall.Errno) {
	copy(tk.saved[:], t.regs.X[:6])
	at, _, ok := t.say(tk, t.regs.SP-stackGap, tooLong)
	if !ok {
		t.fail(tk, path)
		return
	}
	for i := range int(pathCalls[nr].n) {
		t.regs.X[pathCalls[nr].paths[i].arg] = at
	}
	tk.pathError, tk.end = path, judged
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}

func judged(t *Tracer, tk *task) {
	result, err := t.result(tk.tid)
	if err != nil {
		return
	}
	if result == -int64(syscall.ENAMETOOLONG) {
		result = -int64(tk.pathError)
	}
	copy(t.regs.X[:6], tk.saved[:])
	t.regs.X[0] = uint64(result)
	t.regs.setFirst(tk.tid, 6)
}

// baseError refuses a descriptor that is a symlink itself: it has a path like a
// directory, and only a directory may have one below it.
func (t *Tracer) baseError(base *guestfs.Base) syscall.Errno {
	if len(base.Host) >= pathMax || !bytes.Contains(base.Link, []byte("/fd/")) {
		return 0
	}
	t.linkText[len(base.Host)] = 0
	mode, e := (*hostFS)(nil).Lstat(t.linkText[:len(base.Host)])
	if e == 0 && mode&syscall.S_IFMT == syscall.S_IFLNK {
		return syscall.ENOTDIR
	}
	return 0
}

// newCalls are path calls that not every kernel has on which a tracer runs.
var newCalls = []int{
	sysno.Openat2, sysno.Faccessat2, sysno.Fchmodat2, sysno.Setxattrat, sysno.Getxattrat, sysno.Listxattrat,
	sysno.Removexattrat, sysno.FileGetattr, sysno.FileSetattr,
}

// lacking returns which of them this kernel does not have: their arguments are of
// no account. It asks nothing of a policy that may kill for the question.
func (t *Tracer) lacking() (missing []int) {
	if t.filtered {
		return nil
	}
	for _, nr := range newCalls {
		if _, _, e := syscall.RawSyscall6(uintptr(nr), fdcwd, pathPointer(tooLong), 0, 0, 0, 0); e == syscall.ENOSYS {
			missing = append(missing, nr)
		}
	}
	return missing
}
