//go:build linux && arm64

// The ptrace requests, as raw system calls: they do not block, and the thread
// that makes them owns the tasks. Only waiting goes through the scheduler, since
// a garbage collection cannot stop a thread that sits in a raw call.

package tracer

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Requests (uapi/linux/ptrace.h, asm/ptrace.h).
const (
	ptraceCont           = 7
	ptraceSyscall        = 24
	ptraceDetach         = 17
	ptraceGetEventMsg    = 0x4201
	ptraceGetSigInfo     = 0x4202
	ptraceGetRegSet      = 0x4204
	ptraceSetRegSet      = 0x4205
	ptraceSeize          = 0x4206
	ptraceInterrupt      = 0x4207
	ptraceListen         = 0x4208
	ptraceGetSyscallInfo = 0x420e

	ntPRStatus      = 1
	ntARMSystemCall = 0x404
)

// Options of a seized task.
const traceOptions = 1<<0 | // TRACESYSGOOD
	1<<eventFork | 1<<eventVfork | 1<<eventClone | 1<<eventExec | 1<<eventSeccomp |
	1<<20 // EXITKILL

// regs is struct user_pt_regs.
type regs struct {
	X      [31]uint64
	SP, PC uint64
	PState uint64
}

// ptrace makes a request. Its arguments may be addresses on the stack as numbers, so
// the stack must not move on the way.
//
//go:nosplit
func ptrace(request, tid int, addr, data uintptr) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func seize(tid int) error                      { return ptrace(ptraceSeize, tid, 0, traceOptions) }
func listen(tid int) error                     { return ptrace(ptraceListen, tid, 0, 0) }
func cont(tid int, sig syscall.Signal) error   { return ptrace(ptraceCont, tid, 0, uintptr(sig)) }
func toExit(tid int, sig syscall.Signal) error { return ptrace(ptraceSyscall, tid, 0, uintptr(sig)) }

// eventMessage is what came with the last event: a new task's id, or the data
// of the filter.
func eventMessage(tid int) (uint64, error) {
	var msg uint64
	err := ptrace(ptraceGetEventMsg, tid, 0, uintptr(unsafe.Pointer(&msg)))
	return msg, err
}

// iovec is struct iovec.
type iovec struct {
	base *byte
	len  uint64
}

func (r *regs) get(tid int) error {
	iov := iovec{(*byte)(unsafe.Pointer(r)), uint64(unsafe.Sizeof(*r))}
	return ptrace(ptraceGetRegSet, tid, ntPRStatus, uintptr(unsafe.Pointer(&iov)))
}

// getCall reads x0 to x8 alone: the arguments and the number of a call.
func (r *regs) getCall(tid int) error {
	iov := iovec{(*byte)(unsafe.Pointer(r)), 9 * 8}
	return ptrace(ptraceGetRegSet, tid, ntPRStatus, uintptr(unsafe.Pointer(&iov)))
}

// setFirst writes x0 to x(n-1) alone.
func (r *regs) setFirst(tid, n int) error {
	iov := iovec{(*byte)(unsafe.Pointer(r)), uint64(n) * 8}
	return ptrace(ptraceSetRegSet, tid, ntPRStatus, uintptr(unsafe.Pointer(&iov)))
}

func (r *regs) set(tid int) error {
	iov := iovec{(*byte)(unsafe.Pointer(r)), uint64(unsafe.Sizeof(*r))}
	return ptrace(ptraceSetRegSet, tid, ntPRStatus, uintptr(unsafe.Pointer(&iov)))
}

// setNumber changes the number of the call that the task is entering. Writing x8
// would not: the kernel has read it.
func setNumber(tid int, nr int32) error {
	iov := iovec{(*byte)(unsafe.Pointer(&nr)), 4}
	return ptrace(ptraceSetRegSet, tid, ntARMSystemCall, uintptr(unsafe.Pointer(&iov)))
}

// sigInfo is the head of siginfo_t for SIGSYS: si_signo, si_errno, si_code, a
// hole, si_call_addr, si_syscall, si_arch.
type sigInfo struct {
	Signo, Errno, Code, _ int32
	CallAddr              uint64
	Syscall               int32
	Arch                  uint32
	_                     [96]byte
}

func getSigInfo(tid int, info *sigInfo) error {
	return ptrace(ptraceGetSigInfo, tid, 0, uintptr(unsafe.Pointer(info)))
}

// wait waits for a task of this thread, or for any with -1.
func wait(which, options int) (tid int, ws syscall.WaitStatus, err error) {
	var status int32
	r, _, e := syscall.Syscall6(syscall.SYS_WAIT4, uintptr(which), uintptr(unsafe.Pointer(&status)), uintptr(options), 0, 0, 0)
	if e != 0 {
		return 0, 0, e
	}
	return int(r), syscall.WaitStatus(status), nil
}

// readMemory and writeMemory move bytes between b and a task's memory and return
// how many were moved; a fault ends them early.
func readMemory(tid int, addr uint64, b []byte) int {
	return moveMemory(syscall.SYS_PROCESS_VM_READV, tid, addr, b)
}

func writeMemory(tid int, addr uint64, b []byte) int {
	return moveMemory(syscall.SYS_PROCESS_VM_WRITEV, tid, addr, b)
}

func moveMemory(call uintptr, tid int, addr uint64, b []byte) int {
	if !reaches(tid, addr) {
		return 0
	}
	n := moveOnce(call, tid, addr, b)
	if n < len(b) && growStack(tid, addr+uint64(n)) {
		n += moveOnce(call, tid, addr+uint64(n), b[n:])
	}
	return n
}

func moveOnce(call uintptr, tid int, addr uint64, b []byte) int {
	if len(b) == 0 {
		return 0
	}
	local := iovec{&b[0], uint64(len(b))}
	remote := [2]uint64{addr, uint64(len(b))}
	n, _, e := syscall.RawSyscall6(call, uintptr(tid), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	runtime.KeepAlive(b)
	if e != 0 {
		return 0
	}
	return int(n)
}
