// Writing a file where the user wants it: a report, a pack, a golden file.
//
// A rename takes the place of whatever has the name, a device too: root would
// have a file for /dev/null. What is no regular file is written to instead.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile replaces the file name, anywhere, by what fill writes. A link stays
// and its target is replaced; what is there and is no regular file, as a pipe or
// a terminal, is written to as it is; a directory is an error.
func WriteFile(name string, fill func(io.Writer) error) error {
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fi, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s: a link to what is not there", name)
		}
		return replace(name, b.Bytes())
	case err != nil:
		return err
	case fi.IsDir():
		return fmt.Errorf("%s: a directory", name)
	case fi.Mode().IsRegular() && standard(fi) == nil:
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			return err
		}
		return replace(target, b.Bytes())
	}
	return writeTo(name, fi, b.Bytes())
}

// standard is standard output or error if the file is what that goes to: replaced,
// it would lose what was printed, and what will be.
func standard(fi fs.FileInfo) *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if have, err := f.Stat(); err == nil && os.SameFile(have, fi) {
			return f
		}
	}
	return nil
}

// writeTo writes to what is there already.
func writeTo(name string, fi fs.FileInfo, content []byte) error {
	if f := standard(fi); f != nil {
		_, err := f.Write(content)
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// SameFile reports whether two names are of one file that WriteFile would
// replace, there or not yet.
func SameFile(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return fa.Mode().IsRegular() && os.SameFile(fa, fb)
	}
	if errA == nil || errB == nil || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	fa, errA = os.Stat(filepath.Dir(a))
	fb, errB = os.Stat(filepath.Dir(b))
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

// replace replaces a file that is regular or not there.
func replace(name string, content []byte) error {
	s, err := Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer s.Close()
	return s.write(filepath.Base(name), content)
}
