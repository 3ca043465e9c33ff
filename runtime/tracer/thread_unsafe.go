//go:build linux && arm64

// The thread that traces. Go's handler for SIGCHLD would run at every stop of a
// guest, a third of the price of a stop: the signal goes unnoticed instead, since
// the loop waits anyway.

package tracer

import (
	"fmt"
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

const (
	saNoCldStop = 1
	cloneFS     = 0x200
)

// ownThread prepares the calling thread, which its goroutine is locked to.
func ownThread() error {
	// A handler that is gone cannot miss a child: SIG_DFL reaps nothing by itself.
	quiet := sigaction{flags: saNoCldStop}
	if _, _, e := syscall.RawSyscall6(sysno.RtSigaction, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&quiet)), 0, 8, 0, 0); e != 0 {
		return fmt.Errorf("tracer: SIGCHLD: %w", e)
	}
	// The umask of guests is taken here and must not be the program's.
	if _, _, e := syscall.RawSyscall(sysno.Unshare, cloneFS, 0, 0); e != 0 {
		return fmt.Errorf("tracer: umask of its own: %w", e)
	}
	// Nor may the guest, which has the same user, look into the tracer or change it
	// through procfs, ptrace or process_vm_writev.
	if _, _, e := syscall.RawSyscall6(sysno.Prctl, prSetDumpable, 0, 0, 0, 0, 0); e != 0 {
		return fmt.Errorf("tracer: not dumpable: %w", e)
	}
	return nil
}
