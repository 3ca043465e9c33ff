// The kernel takes a filter by address.

package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"svcrelay/runtime/policy"
)

// install puts a filter around the calling thread.
// Preconditions: the thread is locked.
func install(p policy.Program) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: (*unix.SockFilter)(unsafe.Pointer(&p[0]))}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	return nil
}
