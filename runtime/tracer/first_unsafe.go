//go:build linux && arm64

// The guest's first process, before it is one.

package tracer

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

// First is main for a process that was started with FirstArg and planFD. It
// returns only when it does not become the guest: an error, unless the tracer was
// told of it. Preconditions: it runs on the process's first thread.
func First(planFD string) error {
	fd, err := strconv.Atoi(planFD)
	if err != nil {
		return fmt.Errorf("first process: plan: %w", err)
	}
	syscall.CloseOnExec(fd)
	tracer := os.NewFile(uintptr(fd), "tracer")
	var plan firstPlan
	if err := gob.NewDecoder(tracer).Decode(&plan); err != nil {
		return fmt.Errorf("first process: plan: %w", err)
	}
	_, err = fmt.Fprint(tracer, become(plan))
	return err
}

const (
	prSetNoNewPrivs   = 38
	seccompModeFilter = 1 // SECCOMP_SET_MODE_FILTER
	sigSetmask        = 2 // SIG_SETMASK
	sigIgn            = 1 // SIG_IGN
)

// become puts the filter on and makes the guest's execve. It is the one of the
// standard library, which takes back the limit of descriptors that it raised. Root
// gets no no_new_privs: with it an exec takes back an effective id that differs
// from the real one.
func become(plan firstPlan) error {
	if err := syscall.Chdir(plan.Dir); err != nil {
		return fmt.Errorf("working directory %s: %w", plan.Dir, err)
	}
	err := setFilter(plan)
	if errors.Is(err, syscall.EACCES) { // an ordinary user needs no_new_privs for it
		if _, _, e := syscall.RawSyscall6(sysno.Prctl, prSetNoNewPrivs, 1, 0, 0, 0, 0); e != 0 {
			return fmt.Errorf("no_new_privs: %w", e)
		}
		err = setFilter(plan)
	}
	if err != nil {
		return fmt.Errorf("seccomp: the kernel, or a policy around, refuses the filter: %w", err)
	}
	plan.Started.restore()
	err = syscall.Exec(plan.Path, plan.Argv, plan.Env)
	if errors.Is(err, syscall.ENOENT) { // the program itself was there just now
		return fmt.Errorf("%s: its interpreter is not in the guest: %w", plan.Path, err)
	}
	return fmt.Errorf("%s: %w", plan.Path, err)
}

// sockFprog is struct sock_fprog.
type sockFprog struct {
	len    uint16
	filter unsafe.Pointer
}

func setFilter(plan firstPlan) error {
	prog := sockFprog{uint16(len(plan.Filter)), unsafe.Pointer(unsafe.SliceData(plan.Filter))}
	_, _, e := syscall.RawSyscall(sysno.Seccomp, seccompModeFilter, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(plan)
	if e != 0 {
		return e
	}
	return nil
}

// sigaction is the kernel's struct of arm64; a handler of 0 is SIG_DFL.
type sigaction struct{ handler, flags, restorer, mask uint64 }

func ignoreSignal(sig int) {
	act := sigaction{handler: sigIgn}
	syscall.RawSyscall6(sysno.RtSigaction, uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}

// blockSignals blocks these signals and no other, for this thread.
func blockSignals(set uint64) {
	syscall.RawSyscall6(sysno.RtSigprocmask, sigSetmask, uintptr(unsafe.Pointer(&set)), 0, 8, 0, 0)
}
