//go:build linux && arm64

// The host's files, for the resolver: raw calls on paths that end in a NUL.

package tracer

import (
	"syscall"
	"unsafe"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// kstat is struct stat of arm64, as far as it is read.
type kstat struct {
	Dev, Ino    uint64
	Mode, Nlink uint32
	_           [104]byte
}

func pathPointer(host []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(host))) }

// errnoCall makes a call; as in ptrace, the stack must not move on the way.
//
//go:nosplit
func errnoCall(nr, a0, a1, a2, a3 uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(nr, a0, a1, a2, a3, 0, 0)
	return r, e
}

// hostFS is guestfs.FS and Prover. noOpenat2 remembers that the kernel, or the
// policy around the tracer, has no openat2.
type hostFS struct{ noOpenat2 bool }

var fdcwd = uintptr(1<<64 - 100)

func (*hostFS) Lstat(host []byte) (uint32, syscall.Errno) {
	var st kstat
	_, e := errnoCall(sysno.Newfstatat, fdcwd, pathPointer(host), uintptr(unsafe.Pointer(&st)), atSymlinkNofollow)
	return st.Mode, e
}

func (*hostFS) Readlink(host, buf []byte) (int, syscall.Errno) {
	n, e := errnoCall(sysno.Readlinkat, fdcwd, pathPointer(host), pathPointer(buf), uintptr(len(buf)))
	return int(n), e
}

func (*hostFS) Deleted(host []byte) bool {
	var st kstat
	_, e := errnoCall(sysno.Newfstatat, fdcwd, pathPointer(host), uintptr(unsafe.Pointer(&st)), 0)
	return e == 0 && st.Nlink == 0
}

const (
	oPath    = 0o10000000
	oCloexec = 0o2000000
)

// Plain opens the path and lets the kernel say whether it met a symlink.
func (f *hostFS) Plain(host []byte) bool {
	if f.noOpenat2 {
		return false
	}
	how := openHow{Flags: oPath | oCloexec, Resolve: resolveNoSymlinks}
	fd, e := errnoCall(sysno.Openat2, fdcwd, pathPointer(host), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	switch e {
	case 0:
		syscall.RawSyscall(sysno.Close, fd, 0, 0)
		return true
	case syscall.ENOSYS:
		f.noOpenat2 = true
		return false
	case syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES:
		return true
	}
	return false
}

var _ guestfs.Prover = (*hostFS)(nil)
