// The emulator's monitor: one JSON value a line, answers mixed with events.

package vm

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

type monitor struct {
	w io.Writer
	r *bufio.Reader
}

// openMonitor reads the greeting.
func openMonitor(rw io.ReadWriter) (*monitor, error) {
	m := &monitor{w: rw, r: bufio.NewReader(rw)}
	if _, err := m.r.ReadBytes('\n'); err != nil {
		return nil, fmt.Errorf("monitor: %w", err)
	}
	return m, m.do("qmp_capabilities", nil, nil)
}

type answer struct {
	Return json.RawMessage
	Error  *struct{ Desc string }
}

// do runs a command and decodes its result, unless result is nil.
func (m *monitor) do(command string, arguments, result any) error {
	ask, err := json.Marshal(struct {
		Execute   string `json:"execute"`
		Arguments any    `json:"arguments,omitempty"`
	}{command, arguments})
	if err != nil {
		return fmt.Errorf("monitor: %s: %w", command, err)
	}
	if _, err := m.w.Write(append(ask, '\n')); err != nil {
		return fmt.Errorf("monitor: %s: %w", command, err)
	}
	a, err := m.answer()
	if err != nil {
		return fmt.Errorf("monitor: %s: %w", command, err)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.Return, result)
}

// answer passes over events.
func (m *monitor) answer() (answer, error) {
	for {
		line, err := m.r.ReadBytes('\n')
		if err != nil {
			return answer{}, err
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return answer{}, err
		}
		if a.Error != nil {
			return a, errors.New(a.Error.Desc)
		}
		if a.Return != nil {
			return a, nil
		}
	}
}

// ignoreShared leaves memory that lies in a shared file out of a migration.
func (m *monitor) ignoreShared() error {
	type capability struct {
		Capability string `json:"capability"`
		State      bool   `json:"state"`
	}
	return m.do("migrate-set-capabilities", map[string]any{
		"capabilities": []capability{{"x-ignore-shared", true}},
	}, nil)
}

// migrate starts a migration, to a place or from one, and waits for its end.
func (m *monitor) migrate(command, uri string) error {
	if err := m.ignoreShared(); err != nil {
		return err
	}
	if err := m.do(command, map[string]string{"uri": uri}, nil); err != nil {
		return err
	}
	for {
		var now struct{ Status string }
		if err := m.do("query-migrate", nil, &now); err != nil {
			return err
		}
		switch now.Status {
		case "completed":
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("monitor: %s: %s", command, now.Status)
		}
		time.Sleep(time.Millisecond)
	}
}
