// What a wait status means to a seized task. The kernel packs four kinds of
// stops into one word (ptrace(2), "Stopped states"):
//
//	 31    16 15     8 7      0
//	+--------+--------+--------+
//	| event  | signal | 0x7f   |   stopped
//	+--------+--------+--------+
//
// A stop with an event has SIGTRAP, but for PTRACE_EVENT_STOP, which has the
// stopping signal when the whole group stopped: only that one may be answered
// with PTRACE_LISTEN.

package tracer

import "syscall"

// ptrace events (uapi/linux/ptrace.h).
const (
	eventFork      = 1
	eventVfork     = 2
	eventClone     = 3
	eventExec      = 4
	eventVforkDone = 5
	eventExit      = 6
	eventSeccomp   = 7
	eventStop      = 128
)

// A stopKind says what a task stopped for.
type stopKind uint8

const (
	stopNone      stopKind = iota
	stopExited             // it is gone
	stopSeccomp            // the filter sent a call
	stopSyscall            // the exit of a call that was to be seen
	stopChild              // it made a child
	stopExec               // it runs another program now
	stopVforkDone          // its vfork child let go
	stopExiting            // it is about to go
	stopGroup              // job control stopped it
	stopAttach             // first stop of a new task, or an interrupt
	stopSignal             // a signal is about to be delivered
)

// syscallTrap is the signal of a syscall stop under PTRACE_O_TRACESYSGOOD.
const syscallTrap = syscall.SIGTRAP | 0x80

// classify tells what the wait status ws of a seized task means; sig is the
// signal that stopped it.
func classify(ws syscall.WaitStatus) (kind stopKind, sig syscall.Signal) {
	if ws.Exited() || ws.Signaled() {
		return stopExited, 0
	}
	if !ws.Stopped() {
		return stopNone, 0
	}
	sig = ws.StopSignal()
	switch event := int(ws) >> 16; event {
	case 0:
		if sig == syscallTrap {
			return stopSyscall, sig
		}
		return stopSignal, sig
	case eventFork, eventVfork, eventClone:
		return stopChild, sig
	case eventExec:
		return stopExec, sig
	case eventVforkDone:
		return stopVforkDone, sig
	case eventExit:
		return stopExiting, sig
	case eventSeccomp:
		return stopSeccomp, sig
	case eventStop:
		if isStopSignal(sig) {
			return stopGroup, sig
		}
		return stopAttach, sig
	}
	return stopNone, sig
}

func isStopSignal(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return true
	}
	return false
}
