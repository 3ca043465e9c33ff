// What a call gets that Android's app policy traps.
//
// Nothing can be done about the trap itself: of all filters the strictest
// answer wins, and only a kill beats SECCOMP_RET_TRAP. So the tracer sees a
// SIGSYS instead of a seccomp stop, drops it, and writes what is found here. A
// vendor's policy may trap more than any AOSP release does; SigsysOf therefore
// has an answer for every number.

package sysno

// SigsysKind says which kind of answer a Sigsys is.
type SigsysKind uint8

const (
	SigsysNone   SigsysKind = iota // no known level traps the call
	SigsysErrno                    // the error Value
	SigsysCall                     // the call Value, with the same arguments and zeros after them
	SigsysTracer                   // what the tracer answers or does for a call of this class
)

// enosys is the number of ENOSYS, in a package that imports no system's errnos.
const enosys = 38

// Sigsys is the answer to a call that Android's policy traps.
type Sigsys struct {
	Kind  SigsysKind
	Value uint16
}

// SigsysOf returns the answer for any number: where no known policy traps the
// call it is the tracer's own if that never runs the call either, and else ENOSYS.
func SigsysOf(nr int) Sigsys {
	switch {
	case known(nr) && table[nr].Sigsys.Kind != SigsysNone:
		return table[nr].Sigsys
	case ClassOf(nr) == ClassAnswer || ClassOf(nr) == ClassExec:
		return Sigsys{Kind: SigsysTracer}
	}
	return Sigsys{Kind: SigsysErrno, Value: enosys}
}
