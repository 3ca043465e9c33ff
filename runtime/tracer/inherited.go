//go:build linux && arm64

// What the caller of the tracer set up for the guest, and the Go runtime has
// changed before main: it handles signals that were ignored (all but SIGHUP and
// SIGINT), unblocks some that were blocked, and opens /dev/null for the standard
// descriptors that were closed. A shell that starts a job in the background
// ignores SIGQUIT for it; the guest must find it so.

package tracer

import (
	"os"
	"strconv"
	"syscall"
)

// inherited is what a process was started with. The words are filled in by the
// assembly beside.
type inherited struct {
	Blocked, Ignored uint64 // a bit for each signal, from 1
	Closed           uint64 // a bit for each of the standard descriptors
	Known            uint64 // not 0 when the others are filled in
}

// restore gives the process that is about to become the guest what was inherited.
// What the runtime does with signals ends here: nothing but the exec may follow.
func (i *inherited) restore() {
	if i.Known == 0 {
		return
	}
	for fd := range 3 {
		if i.Closed&(1<<fd) != 0 {
			syscall.Close(fd)
		}
	}
	for sig := 1; sig <= 64; sig++ {
		if i.Ignored&(1<<(sig-1)) != 0 {
			ignoreSignal(sig)
		}
	}
	blockSignals(i.Blocked)
}

// socketPair returns two files that are connected and that no exec passes on.
func socketPair() (a, b *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "tracer"), os.NewFile(uintptr(fds[1]), "first process"), nil
}

// giveUpInherited lets go of the descriptors that the guest has from the caller:
// those without FD_CLOEXEC, which all of our own have. Two of the standard ones
// lead to /dev/null then; the third is for what there is to say.
func giveUpInherited() {
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(null)
	for _, fd := range descriptors() {
		flags, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		switch {
		case fd <= 1:
			syscall.Dup3(null, fd, 0)
		case fd > 2 && e == 0 && flags&syscall.FD_CLOEXEC == 0:
			syscall.Close(fd)
		}
	}
}

// descriptors lists what is open.
func descriptors() []int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	var fds []int
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}
