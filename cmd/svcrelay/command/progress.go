// One line of progress, on a terminal only: a pipe or a file gets none of it.

package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// progressEvery keeps a fast run from spending its time on the terminal.
const progressEvery = 50 * time.Millisecond

// A progress is a counter that overwrites itself. A nil one prints nothing.
type progress struct {
	w     io.Writer
	last  time.Time
	shown bool
}

// newProgress returns a progress for w, nil when w is no terminal.
func newProgress(w io.Writer) *progress {
	if !isTerminal(w) {
		return nil
	}
	return &progress{w: w}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (p *progress) show(format string, args ...any) {
	if p == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
}

// clear removes the line.
func (p *progress) clear() {
	if p != nil && p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
