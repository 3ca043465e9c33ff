// A terminal for a command: the machine's own, not the host's, so that job
// control works in it.

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/internal/frame"
)

// openTTY returns our end of a new terminal and the command's.
func openTTY(size frame.Size) (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	fd := int(ours.Fd())
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		var n int
		if n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err == nil {
			theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
		}
	}
	if err != nil {
		ours.Close()
		return nil, nil, fmt.Errorf("terminal: %w", err)
	}
	setSize(ours, size)
	return ours, theirs, nil
}

func setSize(tty *os.File, size frame.Size) {
	if size != (frame.Size{}) {
		unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	}
}

// connectTTY makes a new terminal the program's three streams.
func (c *command) connectTTY(cmd *exec.Cmd) (func(), error) {
	ours, theirs, err := openTTY(c.request.Size)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	c.mu.Lock()
	c.tty = ours
	c.mu.Unlock()
	if c.stdin != nil {
		go func() {
			io.Copy(ours, c.stdin)
			ours.Write([]byte{4}) // end of file, as typed
		}()
	}
	drained := make(chan struct{})
	go func() {
		io.Copy(c.out(), ours) // ends with EIO when nobody has the other end
		close(drained)
	}()
	return func() {
		theirs.Close()
		<-drained
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tty = nil
		ours.Close()
	}, nil
}
