// Files into the machine and out of it. Here names are the machine's own and
// trusted: who sends them can run any program as root anyway.

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svcrelay/cmd/internal/tarfile"
)

func unpackFiles(dir string, r io.Reader) error {
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := unpackFile(filepath.Join(dir, h.Name), dir, h, tr); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func unpackFile(name, dir string, h *tar.Header, r io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		return os.MkdirAll(name, h.FileInfo().Mode().Perm())
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg:
		return unpackRegular(name, h, r)
	case tar.TypeSymlink:
		return os.Symlink(h.Linkname, name)
	case tar.TypeLink:
		return os.Link(filepath.Join(dir, h.Linkname), name)
	}
	return fmt.Errorf("type %c: not expected", h.Typeflag)
}

func unpackRegular(name string, h *tar.Header, r io.Reader) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	if err := f.Chmod(h.FileInfo().Mode()); err != nil {
		return err
	}
	return f.Close()
}

// packFiles writes files and folders as a tar, those that are there.
func packFiles(w io.Writer, names []string) error {
	tw := tar.NewWriter(w)
	for _, name := range names {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := filepath.WalkDir(name, func(file string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return tarfile.Add(tw, strings.TrimPrefix(file, "/"), file, tarfile.Owners)
		})
		if err != nil {
			return err
		}
	}
	return tw.Close()
}
