// What frames carry besides bytes.

package frame

import (
	"os"
	"syscall"
	"time"
)

// Operations of a Request.
const (
	OpRun   = "run"   // start Argv
	OpUntar = "untar" // unpack standard input, a tar, under Dir
	OpTar   = "tar"   // write the files named by Argv as a tar to standard output
)

// AgentFile is where the agent is found inside the machine.
const AgentFile = "/run/rig/agent"

// A Request asks for a command.
type Request struct {
	Op   string
	Argv []string
	Env  []string // added to the agent's own
	Place
	Timeout time.Duration // 0 for none; the asker kills when it is over
	Stdin   bool          // Stdin frames follow; without, it is /dev/null
	TTY     bool          // the command gets a terminal of its own; output is Stdout
	Size    Size
}

// A Place is where a program runs, and as whom.
type Place struct {
	Root string // folder to chroot into, or ""
	Dir  string // inside the root
	UID  int
	// Level is an API level of Android: the program runs under a filter that
	// lets through what an app of that level may call. 0 is no filter.
	Level int
	// Domain is of SELinux: u:r:app. The machine must have a policy.
	Domain string
}

// A Size is that of a terminal.
type Size struct{ Rows, Cols uint16 }

// A Status is how a command ended.
type Status struct {
	Code   int    // exit code; -1 after a signal
	Signal int    // 0 for none
	Err    string // why it could not be started or carried out
	User   time.Duration
	System time.Duration
	Wall   time.Duration
}

// StatusOf describes a process that has ended.
func StatusOf(p *os.ProcessState) Status {
	s := Status{User: p.UserTime(), System: p.SystemTime(), Code: p.ExitCode()}
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		s.Signal = int(w.Signal())
	}
	return s
}
