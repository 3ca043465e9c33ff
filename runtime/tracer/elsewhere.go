//go:build !(linux && arm64)

package tracer

import "errors"

var errElsewhere = errors.New("guests run on linux/arm64 only")

// Run runs a guest and returns its exit status: that of its first process, or 128
// and the number of the signal that ended it.
func Run(Config) (int, error) { return 0, errElsewhere }

// First is main for a process that was started with FirstArg and planFD. It
// returns only an error. Preconditions: it runs on the process's first thread.
func First(planFD string) error { return errElsewhere }
