// Package policy makes the seccomp filters of the project: as values that can be
// asked what they do with a call, and as the classic BPF that a kernel runs.
//
// A Filter is a decision for every number and, where a call needs it, tests of
// its arguments. Decide answers in plain Go; Compile gives the instructions. The
// two agree on every input, and the instructions read a call's arguments only
// after its number, only for the calls whose decision depends on them: every
// other allowed number keeps the kernel's cached ALLOW and costs nothing.
//
// Guest is the filter that the tracer puts on its guests, AndroidApp the one
// that Android puts on an app. The package installs nothing, makes no system
// call, and runs on any machine. It refuses to compile what no kernel would
// take: a program that is too long, a test of a field that does not exist.
package policy

import "fmt"

// Arch is AUDIT_ARCH_AARCH64, the architecture of every call that a filter
// judges by number. Others all get what New was given as foreign.
const Arch = 0xc00000b7

// Action is what the kernel does with a call: a kind in the upper half, data in
// the lower, as SECCOMP_RET_* has them. Of several filters the kernel obeys the
// strictest answer: kill, trap, errno, trace, allow.
type Action uint32

const (
	KillProcess Action = 0x8000_0000
	// Trap sends SIGSYS. What a filter of the guest's, or Android's, traps the
	// tracer sees as a signal and never as a seccomp stop.
	Trap  Action = 0x0003_0000
	Allow Action = 0x7fff_0000

	errnoKind Action = 0x0005_0000
	traceKind Action = 0x7ff0_0000
	kindMask  Action = 0xffff_0000
	maxErrno         = 4095 // the kernel cuts what is above
)

// Errno does not run the call; it returns -e, and 0 for 0.
func Errno(e uint16) Action { return errnoKind | Action(min(e, maxErrno)) }

// Trace stops the call for the tracer, which reads data as the event's message.
// Without a tracer the call is not run and returns ENOSYS.
func Trace(data uint16) Action { return traceKind | Action(data) }

// Traced returns the data of a Trace.
func (a Action) Traced() (data uint16, ok bool) { return a.data(), a.kind() == traceKind }

// Errno returns the number of an Errno.
func (a Action) Errno() (e uint16, ok bool) { return a.data(), a.kind() == errnoKind }

func (a Action) kind() Action { return a & kindMask }
func (a Action) data() uint16 { return uint16(a &^ kindMask) }

// String returns the action as the disassembly shows it.
func (a Action) String() string {
	switch a.kind() {
	case KillProcess:
		return "kill-process"
	case Trap:
		return "trap"
	case Allow:
		return "allow"
	case errnoKind:
		return fmt.Sprintf("errno %d", a.data())
	case traceKind:
		return fmt.Sprintf("trace %v", Stop(a.data()))
	}
	return fmt.Sprintf("%#08x", uint32(a))
}
