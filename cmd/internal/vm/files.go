// Files into the machine and out of it, as tars.

package vm

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"svcrelay/cmd/internal/frame"
)

// Put copies host files and folders into the machine: host names by names in
// the machine.
func (v *VM) Put(ctx context.Context, files map[string]string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(pack(w, files)) }()
	defer r.Close()
	got, err := v.Run(ctx, frame.Request{Op: frame.OpUntar, Place: frame.Place{Dir: "/"}}, r)
	if err == nil && got.Err != "" {
		err = errors.New(got.Err)
	}
	if err != nil {
		return fmt.Errorf("copy into the machine: %w", err)
	}
	return nil
}

// pack writes a tar that is the same for the same files.
func pack(w io.Writer, files map[string]string) error {
	tw := tar.NewWriter(w)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := packTree(tw, name, files[name]); err != nil {
			return err
		}
	}
	return tw.Close()
}

func packTree(tw *tar.Writer, name, host string) error {
	return filepath.WalkDir(host, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(host, file)
		if err != nil {
			return err
		}
		return packFile(tw, path.Join(name, filepath.ToSlash(rel)), file)
	})
}

// packFile adds one file by the name and the mode that it shall have.
func packFile(tw *tar.Writer, name, file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	// A header of the host's own owners would name users the machine lacks.
	h = &tar.Header{Typeflag: h.Typeflag, Name: name, Linkname: h.Linkname, Size: h.Size, Mode: h.Mode, ModTime: h.ModTime}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(tw, f)
	return err
}

// Get writes files and folders of the machine to w, as a tar whose names are
// relative to its root.
func (v *VM) Get(ctx context.Context, w io.Writer, names ...string) error {
	status, err := v.Do(ctx, frame.Request{Op: frame.OpTar, Argv: names}, Streams{Out: w})
	if err == nil && status.Err != "" {
		err = errors.New(status.Err)
	}
	if err != nil {
		return fmt.Errorf("copy out of the machine: %w", err)
	}
	return nil
}
