//go:build linux && arm64

// The umask of a task, which mkdir and mknod apply. No call tells another task's:
// procfs does. The tracer's thread has file system attributes of its own, so it
// may take the guest's for good.

package tracer

import (
	"bytes"
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

// takeUmask makes the umask of tk that of the tracer's thread.
func (t *Tracer) takeUmask(tk *task) {
	t.procPath(tk, "/status")
	fd, e := errnoCall(sysno.Openat, fdcwd, pathPointer(t.link), oCloexec, 0)
	if e != 0 {
		return // killed: nobody sees the mode
	}
	n, e := errnoCall(sysno.Read, fd, uintptr(unsafe.Pointer(&t.linkText[0])), uintptr(len(t.linkText)), 0)
	syscall.RawSyscall(sysno.Close, fd, 0, 0)
	if mask, ok := umaskOf(t.linkText[:n]); e == 0 && ok {
		syscall.RawSyscall(sysno.Umask, uintptr(mask), 0, 0)
	}
}

// umaskOf finds the umask in /proc/<tid>/status.
func umaskOf(status []byte) (mask int, ok bool) {
	_, rest, ok := bytes.Cut(status, []byte("\nUmask:\t"))
	if !ok {
		return 0, false
	}
	for _, c := range rest {
		if c < '0' || c > '7' {
			break
		}
		mask = mask<<3 | int(c-'0')
	}
	return mask, true
}
