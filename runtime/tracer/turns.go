//go:build linux && arm64

// Whose turn it is. The kernel reports the stop of the newest task first: with four
// busy tasks the oldest got a tenth of the stops of the newest, and with ten nearly
// none. So every few stops one task, in turn, is asked for its stop by name.

package tracer

import "syscall"

// turn is after how many stops a task is asked for by name.
const turn = 8

// next waits for the next stop of any task.
func (t *Tracer) next() (tid int, ws syscall.WaitStatus, err error) {
	if t.stops++; t.stops%turn == 0 && len(t.books.byTid) > 1 {
		tk := t.books.turn
		t.books.turn = tk.after
		if tid, ws, err = wait(tk.tid, wall|syscall.WNOHANG); err == nil && tid != 0 {
			return tid, ws, nil
		}
	}
	return wait(-1, wall)
}

// enlist puts a task into the ring of all tasks.
func (b *books) enlist(t *task) {
	if b.turn == nil {
		t.before, t.after, b.turn = t, t, t
		return
	}
	t.before, t.after = b.turn.before, b.turn
	t.before.after, t.after.before = t, t
}

// delist takes a task out of the ring.
func (b *books) delist(t *task) {
	switch {
	case t.after == t:
		b.turn = nil
	case b.turn == t:
		b.turn = t.after
	}
	t.before.after, t.after.before = t.after, t.before
	t.before, t.after = nil, nil
}
