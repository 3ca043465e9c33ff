//go:build linux && arm64

// The guest's first process, before it is one.

package tracer

import (
	"encoding/gob"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"svcrelay/runtime/sysno"
)

// sockFprog is struct sock_fprog.
type sockFprog struct {
	len    uint16
	filter unsafe.Pointer
}

// First is main for a process that was started with FirstArg and planFD. It
// returns only an error. Preconditions: it runs on the process's first thread.
func First(planFD string) error {
	var plan firstPlan
	fd, err := strconv.Atoi(planFD)
	if err != nil {
		return fmt.Errorf("first process: plan: %w", err)
	}
	in := os.NewFile(uintptr(fd), "plan")
	if err := gob.NewDecoder(in).Decode(&plan); err != nil {
		return fmt.Errorf("first process: %w", err)
	}
	in.Close()
	if err := os.Chdir(plan.Dir); err != nil {
		return fmt.Errorf("first process: %w", err)
	}
	return become(plan)
}

const (
	prSetNoNewPrivs   = 38
	seccompModeFilter = 1 // SECCOMP_SET_MODE_FILTER
)

// become puts the filter on and makes the guest's execve. It is the one of the
// standard library, which takes back the limit of descriptors that it raised.
func become(plan firstPlan) error {
	if _, _, e := syscall.RawSyscall6(sysno.Prctl, prSetNoNewPrivs, 1, 0, 0, 0, 0); e != 0 {
		return fmt.Errorf("first process: no_new_privs: %w", e)
	}
	prog := sockFprog{uint16(len(plan.Filter)), unsafe.Pointer(unsafe.SliceData(plan.Filter))}
	if _, _, e := syscall.RawSyscall(sysno.Seccomp, seccompModeFilter, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("first process: this kernel or its policy refuses the seccomp filter: %w", e)
	}
	runtime.KeepAlive(plan)
	return fmt.Errorf("%s: %w", plan.Path, syscall.Exec(plan.Path, plan.Argv, plan.Env))
}
