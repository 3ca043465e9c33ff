// What the tracer learns with a seccomp stop, for nothing: the 16 bits of data.

package policy

import "svcrelay/runtime/sysno"

// Stop is the data of a Trace: the class of the call, and StopExit or not.
type Stop uint16

// StopExit says that what the kernel returns for the call, or writes to memory,
// is not what the guest may see. If the tracer lets the kernel make the call it
// stops again at its end.
const StopExit Stop = 1 << 8

// Class returns the class of the call.
func (s Stop) Class() sysno.Class { return sysno.Class(s) }

// Exit reports whether the result needs the tracer.
func (s Stop) Exit() bool { return s&StopExit != 0 }

// String returns the class, with a mark for a second stop.
func (s Stop) String() string {
	if s.Exit() {
		return s.Class().String() + " exit"
	}
	return s.Class().String()
}
