// Writing a file so that its name is only ever seen with its whole content: a
// temporary name in the same folder, fsync, rename. A killed writer leaves its
// temporary file, which the next one finds unlocked and removes.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"syscall"
)

// tempPrefix begins the name of a file that is being written.
const tempPrefix = ".svcrelay-"

// write replaces name by content.
func (s *Store) write(name string, content []byte) error {
	err := s.writeOnce(name, content)
	if errors.Is(err, fs.ErrNotExist) { // swept between its creation and its lock
		err = s.writeOnce(name, content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (s *Store) writeOnce(name string, content []byte) error {
	temp := path.Join(path.Dir(name), fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := fill(f, content); err != nil {
		return errors.Join(err, s.root.Remove(temp))
	}
	if err := s.root.Rename(temp, name); err != nil {
		return errors.Join(err, s.root.Remove(temp))
	}
	return nil
}

// fill locks f, so that no sweep takes it for left behind, and writes it.
func fill(f *os.File, content []byte) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// Sweep removes the temporary files of writers that were killed. What has such a
// name and cannot be removed so is left alone.
func (s *Store) Sweep() {
	for _, dir := range append(s.list("tables"), ".") {
		for _, name := range s.list(dir) {
			if strings.HasPrefix(path.Base(name), tempPrefix) {
				s.sweep(name)
			}
		}
	}
}

// sweep removes one temporary file if nobody holds its lock.
func (s *Store) sweep(name string) {
	if fi, err := s.root.Lstat(name); err != nil || !fi.Mode().IsRegular() {
		return
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil { // else it is being written
		s.root.Remove(name)
	}
}
