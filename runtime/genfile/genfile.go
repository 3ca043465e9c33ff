// Package genfile writes the files that generators make. It promises that a
// reader sees the old file or the new one, whole, with the same bits on every
// machine.
package genfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Replace writes data under a temporary name beside name and renames it.
func Replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".gen-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}
