package tracer

import "svcrelay/runtime/guestfs"

// A Config says what to run and what it sees.
type Config struct {
	Root string // host path of the guest's root
	// Binds that cannot be used are left out, with a warning.
	Binds []guestfs.Bind
	Cwd   string // guest path; "/", with a warning, when it is not there
	// Program is looked up in the guest's PATH; Argv[0] when it is empty.
	Program string
	Argv    []string
	Env     []string // PWD is set by the tracer
	// Loader is the host path of the exec loader. When it is empty, the built-in
	// one is unpacked into Temp, or the usual temporary folder.
	Loader, Temp string
	// IDs, when not nil, are the ids that the guest believes to have.
	IDs *IDs
	// Kernel, when not empty, is what uname says: a release, or the fields that
	// proot's -k takes.
	Kernel string
	// KillOnExit ends the guest with its first process.
	KillOnExit bool
	// Stats, when not nil, counts stops.
	Stats *Stats
	// Say, when not nil, is told whatever is of a level up to Verbose: a
	// *guestfs.BindError for each bind that is left out.
	Say     func(Level, error)
	Verbose Level
}

// IDs are those of a guest.
type IDs struct{ UID, GID uint32 }

// A Level says how much of what the tracer does is told. Silent is below all.
type Level int

const (
	Silent       Level = iota - 1
	Warnings           // what was asked for and is not done
	Settings           // what a guest starts with
	Translations       // what each path became
)

// FirstArg is the argument that makes the program the guest's first process; the
// number of the descriptor with its plan follows.
const FirstArg = "first-process-of-a-guest"
