// Bringing an interface up takes a structure that x/sys/unix fills but does not pass on.

package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

func setUp(fd int, name string) error {
	r, err := unix.NewIfreq(name)
	if err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(r))); e != 0 {
		return fmt.Errorf("interface %s: %w", name, e)
	}
	return nil
}
