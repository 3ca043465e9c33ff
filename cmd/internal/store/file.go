// Writing a file so that its name is only ever seen with its whole content: a
// temporary name in the same folder, fsync, rename. A killed writer leaves its
// temporary file, which the next one finds unlocked and removes.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
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

// WriteFile replaces the file name, anywhere, by what fill writes.
func WriteFile(name string, fill func(io.Writer) error) error {
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s, err := Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer s.Close()
	return s.write(filepath.Base(name), b.Bytes())
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

// Sweep removes the temporary files of writers that were killed.
func (s *Store) Sweep() error {
	for _, pattern := range []string{tempPrefix + "*", "tables/*/" + tempPrefix + "*"} {
		names, err := fs.Glob(s.root.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := s.sweep(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// sweep removes one temporary file if nobody holds its lock.
func (s *Store) sweep(name string) error {
	f, err := s.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil // being written
	}
	return s.root.Remove(name)
}
