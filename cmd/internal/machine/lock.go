// One maker at a time: go test runs packages side by side, and each may be the
// first to need a template.

package machine

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// locked runs do while no other process runs anything of that name.
func (r *Rig) locked(name string, do func() error) error {
	unlock, err := r.lock(name)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

func (r *Rig) lock(name string) (unlock func(), err error) {
	dir := filepath.Join(r.Dir, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { f.Close() }, nil
}

// flock waits through signals.
func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
