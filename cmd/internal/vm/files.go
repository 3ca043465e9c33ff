// Files into the machine and out of it, as tars.

package vm

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"svcrelay/cmd/internal/frame"
	"svcrelay/cmd/internal/tarfile"
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
		return tarfile.Add(tw, path.Join(name, filepath.ToSlash(rel)), file, tarfile.NoOwners)
	})
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
