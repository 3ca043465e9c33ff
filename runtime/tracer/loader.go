// The file of the exec loader. An app may run files of one folder only, so it can
// be given by path; else the built-in one is written out under a name that its
// content and its user decide, once: a tracer that is killed leaves nothing that
// the next one does not use.
package tracer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"svcrelay/runtime/blob"
	"svcrelay/runtime/loadplan"
)

// loaderMode lets a guest that gave up its user run the loader, and nobody write
// to it.
const loaderMode = 0o555

// findLoader returns the host path of an exec loader, given by name or unpacked
// into a folder, and what to do when it is needed no more.
func findLoader(given, temp string) (name string, done func(), err error) {
	if given != "" {
		name, err = checkLoader(given)
		return name, func() {}, err
	}
	if temp, err = filepath.Abs(temp); err == nil {
		name, done, err = unpackLoader(temp, blob.Loader)
	}
	if err != nil {
		return "", func() {}, fmt.Errorf("unpack the exec loader into %s: %w", temp, plainly(err))
	}
	return name, done, nil
}

// checkLoader looks whether a file carries out our plans.
func checkLoader(given string) (string, error) {
	name, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("exec loader %s: %w", given, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("exec loader %s: %w", name, plainly(err))
	}
	defer f.Close()
	if err := loadplan.CheckLoader(f); err != nil {
		return "", fmt.Errorf("exec loader %s: %w", name, err)
	}
	return name, nil
}

// plainly is why an operation on a file failed, without its name.
func plainly(err error) error {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	return err
}

// unpackLoader writes the loader to a folder that others may write to as well.
func unpackLoader(dir string, content []byte) (name string, done func(), err error) {
	sum := sha256.Sum256(content)
	name = filepath.Join(dir, fmt.Sprintf("svcrelay-%d-%x", os.Geteuid(), sum[:8]))
	if isOurs(name, content) {
		return name, func() {}, nil
	}
	if err := publish(dir, name, content); err != nil {
		return "", nil, err
	}
	if isOurs(name, content) {
		return name, func() {}, nil
	}
	return unpackPrivate(dir, content) // somebody sits on the name
}

// isOurs reports whether a file is what this user would write there. Nobody else
// can change a file of that owner and mode.
func isOurs(name string, content []byte) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || fi.Mode() != loaderMode || fi.Size() != int64(len(content)) {
		return false
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return false
	}
	got, err := io.ReadAll(io.LimitReader(f, int64(len(content))+1))
	return err == nil && bytes.Equal(got, content)
}

// publish writes a file beside its name and renames it. That the name cannot be
// had is no error.
func publish(dir, name string, content []byte) error {
	f, err := os.CreateTemp(dir, filepath.Base(name)+".")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := fill(f, content); err != nil {
		return err
	}
	os.Rename(f.Name(), name)
	return nil
}

// fill writes a whole file and closes it: one that is open for writing cannot be
// run.
func fill(f *os.File, content []byte) error {
	_, err := f.Write(content)
	return errors.Join(err, f.Chmod(loaderMode), f.Close())
}

// unpackPrivate writes the loader to a folder of its own, which goes with the
// tracer.
func unpackPrivate(dir string, content []byte) (name string, done func(), err error) {
	own, err := os.MkdirTemp(dir, "svcrelay-")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(own) }
	name = filepath.Join(own, "loader")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(fill(f, content), os.Chmod(own, 0o711))
	}
	if err != nil {
		done()
		return "", nil, err
	}
	return name, done, nil
}
