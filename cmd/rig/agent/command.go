// One command, from its request to its status.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"svcrelay/cmd/internal/frame"
)

// afterExit is how long output is awaited that a descendant still holds open.
const afterExit = 2 * time.Second

type command struct {
	conn    *frame.Conn
	number  uint32
	request frame.Request
	stdin   *queue // nil without standard input

	mu  sync.Mutex
	pid int            // 0 while nothing runs
	due syscall.Signal // came before the program was started
	tty *os.File       // the host's end of the command's terminal
}

// prepare readies standard input before its first frame can arrive.
func (c *command) prepare() {
	if c.request.Stdin {
		c.stdin = newQueue()
	}
}

// take handles a frame for a running command.
func (c *command) take(f frame.Frame) error {
	switch f.Kind {
	case frame.Stdin:
		if c.stdin != nil {
			c.stdin.put(f.Data)
		}
	case frame.Kill:
		if len(f.Data) == 1 {
			c.kill(syscall.Signal(f.Data[0]))
		}
	case frame.Resize:
		var size frame.Size
		if err := f.Value(&size); err != nil {
			return err
		}
		c.resize(size)
	}
	return nil
}

func (c *command) kill(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		c.due = sig
		return
	}
	syscall.Kill(-c.pid, sig)
}

func (c *command) resize(size frame.Size) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tty != nil {
		setSize(c.tty, size)
	}
}

func (c *command) finish(s frame.Status) { c.conn.SendValue(c.number, frame.Exit, s) }

func (c *command) out() io.Writer {
	return frame.Writer{Conn: c.conn, Command: c.number, Kind: frame.Stdout}
}
func (c *command) err() io.Writer {
	return frame.Writer{Conn: c.conn, Command: c.number, Kind: frame.Stderr}
}

// carryOut does what the request asks for.
func (c *command) carryOut() frame.Status {
	start := time.Now()
	var s frame.Status
	var err error
	switch q := c.request; q.Op {
	case frame.OpRun:
		s, err = c.run()
	case frame.OpUntar:
		err = c.untar()
	case frame.OpTar:
		err = packFiles(c.out(), q.Argv)
	default:
		err = fmt.Errorf("operation %q: unknown", q.Op)
	}
	if err != nil {
		s.Code, s.Err = 127, err.Error()
	}
	s.Wall = time.Since(start)
	return s
}

func (c *command) untar() error {
	if c.stdin == nil {
		return errors.New("untar: no input")
	}
	err := unpackFiles(c.request.Dir, c.stdin)
	io.Copy(io.Discard, c.stdin)
	return err
}

// run starts a program through this one (see enter), because a name is to be
// looked up inside the root, and a filter to be installed behind it.
func (c *command) run() (frame.Status, error) {
	q := c.request
	if len(q.Argv) == 0 {
		return frame.Status{}, errors.New("no program")
	}
	place, err := json.Marshal(q.Place)
	if err != nil {
		return frame.Status{}, err
	}
	cmd := exec.Command(selfExe, append([]string{enterWord, string(place)}, q.Argv...)...)
	cmd.Env = append(os.Environ(), q.Env...)
	cmd.WaitDelay = afterExit
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !q.TTY, Setsid: q.TTY, Setctty: q.TTY}
	wait, err := c.connect(cmd)
	if err != nil {
		return frame.Status{}, err
	}
	if err := c.start(cmd); err != nil {
		return frame.Status{}, err
	}
	err = cmd.Wait()
	wait()
	c.mu.Lock()
	c.pid = 0
	c.mu.Unlock()
	return statusOf(cmd.ProcessState, err), nil
}

func (c *command) start(cmd *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	c.pid = cmd.Process.Pid
	if c.due != 0 {
		syscall.Kill(-c.pid, c.due)
	}
	return nil
}

// connect gives the program its streams. The function that it returns waits for
// the rest of the output.
func (c *command) connect(cmd *exec.Cmd) (func(), error) {
	if c.request.TTY {
		return c.connectTTY(cmd)
	}
	cmd.Stdout, cmd.Stderr = c.out(), c.err()
	if c.stdin == nil {
		return func() {}, nil
	}
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	go func() {
		io.Copy(w, c.stdin)
		w.Close()
	}()
	return func() {}, nil
}

func statusOf(p *os.ProcessState, err error) frame.Status {
	s := frame.StatusOf(p)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		s.Err = err.Error()
	}
	return s
}
