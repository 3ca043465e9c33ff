// The child that carries out the host's requests.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/internal/frame"
)

// portName is what the host calls the port.
const portName = "rig"

// A server runs commands, each with a number that the host chose.
type server struct {
	conn *frame.Conn

	mu   sync.Mutex
	open map[uint32]*command
}

// serve returns when the port fails.
func serve() error {
	fd, err := openPort()
	if err != nil {
		return err
	}
	s := &server{conn: frame.NewConn(port(fd)), open: map[uint32]*command{}}
	if err := s.conn.Send(0, frame.Hello, nil); err != nil {
		return err
	}
	for {
		f, err := s.conn.Receive()
		if err != nil {
			return err
		}
		if err := s.take(f); err != nil {
			return err
		}
	}
}

func (s *server) take(f frame.Frame) error {
	if f.Kind == frame.Start {
		c := &command{conn: s.conn, number: f.Command}
		if err := f.Value(&c.request); err != nil {
			return err
		}
		c.prepare()
		s.add(c)
		go func() {
			c.finish(c.carryOut())
			s.remove(c)
		}()
		return nil
	}
	if c := s.get(f.Command); c != nil {
		return c.take(f)
	}
	return nil // the command has ended meanwhile
}

func (s *server) add(c *command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c.number] = c
}

func (s *server) get(number uint32) *command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[number]
}

func (s *server) remove(c *command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c.number)
}

// openPort finds the host's port, which may appear a moment after its driver.
func openPort() (int, error) {
	for end := time.Now().Add(diskTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob("/sys/class/virtio-ports/*/name")
		if err != nil {
			return 0, err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil || strings.TrimSpace(string(text)) != portName {
				continue
			}
			return unix.Open("/dev/"+filepath.Base(filepath.Dir(f)), unix.O_RDWR|unix.O_CLOEXEC, 0)
		}
	}
	return 0, fmt.Errorf("port %s: not there after %v", portName, diskTime)
}

// A port is the file of the channel. It reads nothing at all while the host's
// end is not open, as in the moments after a restore; that is not its end.
type port int

func (p port) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(p), b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("port %s: %w", portName, err)
		case n > 0:
			return n, nil
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

func (p port) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := unix.Write(int(p), b[done:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return done, fmt.Errorf("port %s: %w", portName, err)
		}
		done += max(n, 0)
	}
	return len(b), nil
}
