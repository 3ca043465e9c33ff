//go:build linux && arm64

// What the tracer does about ids before it starts a guest, and what it asks about
// a task's.

package tracer

import (
	"fmt"
	"os"
	"strconv"
)

// A guestIdentity is what the tracer knows of its own user and of the guest's.
type guestIdentity struct {
	identity
	mode  idMode
	first ids  // those of the guest's first process
	mknod bool // the kernel lets the tracer make devices
}

// capMknod is CAP_MKNOD.
const capMknod = 27

// identify reads the tracer's ids and says what the guest's are.
func (t *Tracer) identify() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("own ids: %w", err)
	}
	t.filtered = statusField(status, "Seccomp:") != 0
	own, err := idsOf(status)
	if err != nil {
		return fmt.Errorf("own ids: %w", err)
	}
	t.who = guestIdentity{identity: identity{own: own}, first: own, mknod: hasCapability(status, capMknod)}
	t.who.mode, t.who.first = modeOf(own, t.cfg.IDs, t.filtered)
	return nil
}

// root reports whether tk may do what needs root's capabilities, as far as the
// books can tell.
func (t *Tracer) root(tk *task) bool {
	switch t.who.mode {
	case idsShown:
		return tk.ids.uid.effective == 0
	case idsKernel:
		return t.who.own.uid.effective == 0 && !tk.proc.foreign
	}
	return false
}

// forgives reports whether a refusal of the kernel counts as success: for the root
// that the kernel knows nothing of.
func (t *Tracer) forgives(tk *task) bool {
	return t.who.mode == idsShown && tk.ids.uid.effective == 0
}

// noteForeign handles the end of a call that changes ids: a process whose ids are
// not the tracer's makes its path calls itself from then on.
func noteForeign(t *Tracer, tk *task) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tk.tid) + "/status")
	if err != nil {
		return // killed
	}
	if now, err := idsOf(status); err != nil || !now.equal(&t.who.own) {
		tk.proc.foreign = true
	}
}
