// Package tarfile adds files to a tar, for both ends of the test machine's channel.
// It promises one member per call: a folder's content is for its caller to walk.
package tarfile

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
)

// Ownership says whether a member carries its owner.
type Ownership bool

// A host's owners are users that the machine lacks; the machine's own are kept.
const (
	Owners   Ownership = true
	NoOwners Ownership = false
)

// Add adds one file, folder or symlink under a name.
func Add(tw *tar.Writer, name, file string, keep Ownership) error {
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
	h.Name = name
	if keep == NoOwners {
		h = &tar.Header{Typeflag: h.Typeflag, Name: name, Linkname: h.Linkname, Size: h.Size, Mode: h.Mode, ModTime: h.ModTime}
	}
	if err := tw.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(tw, f)
	return err
}
