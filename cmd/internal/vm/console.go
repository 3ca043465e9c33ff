// What the machine prints: kernel and agent say there why nothing works.

package vm

import (
	"strings"
	"sync"
)

// maxTail bounds what is kept of the console.
const maxTail = 4 << 10

// A tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - maxTail; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return len(p), nil
}

// lines is the text for the end of an error: empty, or indented lines.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ReplaceAll(string(t.end), "\r", ""))
	if text == "" {
		return ""
	}
	return "\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}
