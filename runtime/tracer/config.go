package tracer

import (
	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

// A Config says what to run and what it sees.
type Config struct {
	Root  string // host path of the guest's root
	Binds []guestfs.Bind
	Cwd   string // guest path; "/" when it is not there
	Argv  []string
	Env   []string
	// IDs, when not nil, are the ids that the guest believes to have.
	IDs *IDs
	// Kernel, when not empty, is what uname says: a release, or the fields that
	// proot's -k takes.
	Kernel string
	// KillOnExit ends the guest with its first process.
	KillOnExit bool
	// Stats, when not nil, counts stops by call.
	Stats *Stats
}

// IDs are those of a guest.
type IDs struct{ UID, GID uint32 }

// Stats counts stops.
type Stats struct {
	Calls   [sysno.Max + 1]uint64 // seccomp stops by call number
	Exits   uint64                // second stops, at the end of a call
	Signals uint64
	Execs   uint64
	Tasks   uint64
}

// FirstArg is the argument that makes the program the guest's first process; the
// number of the descriptor with its plan follows.
const FirstArg = "first-process-of-a-guest"
