// Commands in the machine. Any number of them run at once over one channel.

package vm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"svcrelay/cmd/internal/frame"
)

// Streams are the host's ends of a command. What is nil is left out.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Resize   <-chan frame.Size
}

// A call is a command that runs.
type call struct {
	streams Streams
	ended   chan frame.Frame // one Exit; closed without one when the machine is gone
}

// calls are the commands that run, by number.
type calls struct {
	mu   sync.Mutex
	last uint32
	open map[uint32]*call
	gone bool
}

func (c *calls) add(k *call) (uint32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[uint32]*call{}
	}
	c.last++
	c.open[c.last] = k
	return c.last, !c.gone
}

func (c *calls) get(number uint32) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[number]
}

func (c *calls) remove(number uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, number)
}

// end ends all of them.
func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for number, k := range c.open {
		close(k.ended)
		delete(c.open, number)
	}
}

// receive hands out what the agent sends until the channel ends.
func (v *VM) receive() {
	defer v.calls.end()
	for {
		f, err := v.conn.Receive()
		if err != nil {
			return
		}
		if f.Kind == frame.Hello {
			close(v.hello)
			continue
		}
		if k := v.calls.get(f.Command); k != nil {
			k.take(f)
		}
		if f.Kind == frame.Exit {
			v.calls.remove(f.Command)
		}
	}
}

// take handles one frame of a command. A writer that fails loses the output,
// not the command.
func (k *call) take(f frame.Frame) {
	switch f.Kind {
	case frame.Stdout:
		write(k.streams.Out, f.Data)
	case frame.Stderr:
		write(k.streams.Err, f.Data)
	case frame.Exit:
		k.ended <- f
	}
}

func write(w io.Writer, p []byte) {
	if w != nil {
		w.Write(p)
	}
}

// afterKill is how long a killed command may take to end.
const afterKill = 20 * time.Second

var errStuck = errors.New("the machine does not end a command that was killed")

// Do carries out a request and returns how it ended. When ctx ends first, the
// command is killed.
func (v *VM) Do(ctx context.Context, q frame.Request, s Streams) (frame.Status, error) {
	k := &call{streams: s, ended: make(chan frame.Frame, 1)}
	number, ok := v.calls.add(k)
	if !ok {
		return frame.Status{}, errGone
	}
	if q.Timeout > 0 { // by the host's clock: a machine that counts instructions skips idle time
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Timeout)
		defer cancel()
	}
	q.Stdin = s.In != nil
	if err := v.conn.SendValue(number, frame.Start, q); err != nil {
		return frame.Status{}, err
	}
	done := make(chan struct{})
	defer close(done)
	if s.In != nil {
		go v.feed(number, s.In)
	}
	go v.control(ctx, number, s.Resize, done)
	stuck := make(chan struct{})
	defer context.AfterFunc(ctx, func() { time.AfterFunc(afterKill, func() { close(stuck) }) })()
	var f frame.Frame
	select {
	case f, ok = <-k.ended:
	case <-stuck:
		return frame.Status{}, errStuck
	}
	if !ok {
		return frame.Status{}, errGone
	}
	var status frame.Status
	err := f.Value(&status)
	return status, err
}

// feed sends standard input and its end.
func (v *VM) feed(number uint32, in io.Reader) {
	io.CopyBuffer(frame.Writer{Conn: v.conn, Command: number, Kind: frame.Stdin}, onlyReader{in}, make([]byte, frame.MaxData))
	v.conn.Send(number, frame.Stdin, nil)
}

// onlyReader hides other methods, so that CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

// control passes on what happens to a command until it is done.
func (v *VM) control(ctx context.Context, number uint32, resize <-chan frame.Size, done <-chan struct{}) {
	stop := ctx.Done()
	for {
		select {
		case <-done:
			return
		case size := <-resize:
			v.conn.SendValue(number, frame.Resize, size)
		case <-stop:
			v.conn.Send(number, frame.Kill, []byte{byte(syscall.SIGKILL)})
			stop = nil
		}
	}
}

// A Result is how a command ended, with all of its output.
type Result struct {
	frame.Status
	Stdout, Stderr string
}

// Run carries out a request without input and keeps its output.
func (v *VM) Run(ctx context.Context, q frame.Request, in io.Reader) (Result, error) {
	var out, errs bytes.Buffer
	status, err := v.Do(ctx, q, Streams{In: in, Out: &out, Err: &errs})
	return Result{status, out.String(), errs.String()}, err
}
