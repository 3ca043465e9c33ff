// A stream shared by many commands.

package frame

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A Conn sends and receives frames. Send may be called by many at once, Receive
// by one.
type Conn struct {
	r *bufio.Reader

	mu sync.Mutex
	w  io.Writer
	b  []byte
}

// NewConn makes a Conn of a stream.
func NewConn(rw io.ReadWriter) *Conn {
	return &Conn{r: bufio.NewReaderSize(rw, MaxData), w: rw}
}

// Receive returns the next frame.
func (c *Conn) Receive() (Frame, error) { return Read(c.r) }

// Send writes data as one frame, as several when it is long.
func (c *Conn) Send(command uint32, kind Kind, data []byte) error {
	for {
		n := min(len(data), MaxData)
		if err := c.write(Frame{command, kind, data[:n]}); err != nil {
			return err
		}
		if data = data[n:]; len(data) == 0 {
			return nil
		}
	}
}

func (c *Conn) write(f Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.b = f.Append(c.b[:0])
	if _, err := c.w.Write(c.b); err != nil {
		return fmt.Errorf("frame of kind %c: %w", f.Kind, err)
	}
	return nil
}

// SendValue sends a value that fits into one frame.
func (c *Conn) SendValue(command uint32, kind Kind, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("frame of kind %c: %w", kind, err)
	}
	if len(b) > MaxData {
		return fmt.Errorf("frame of kind %c: %#x bytes are too many", kind, len(b))
	}
	return c.Send(command, kind, b)
}

// Value reads what SendValue sent.
func (f Frame) Value(value any) error {
	if err := json.Unmarshal(f.Data, value); err != nil {
		return fmt.Errorf("frame of kind %c: %w", f.Kind, err)
	}
	return nil
}

// A Writer sends what is written to it as frames of one command.
type Writer struct {
	Conn    *Conn
	Command uint32
	Kind    Kind
}

// Write sends p. No bytes are no frame: that would be an end.
func (w Writer) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := w.Conn.Send(w.Command, w.Kind, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
