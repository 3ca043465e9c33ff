// Entries of packages become files. The tree is merged: /bin, /sbin and /lib
// are links into /usr, as on every installed system since 2019, while older
// packages still carry those folders. os.Root keeps every name inside.

package rootfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"svcrelay/cmd/internal/debian"
	"svcrelay/cmd/internal/depend"
)

// merged are the folders that are links.
var merged = []string{"bin", "lib", "sbin"}

// dropped are the folders that no program reads.
var dropped = []string{
	"usr/share/bug", "usr/share/doc", "usr/share/doc-base", "usr/share/info", "usr/share/lintian", "usr/share/locale", "usr/share/man",
}

// isDropped reports whether an entry is left out. Folders stay.
func isDropped(name string) bool {
	for _, d := range dropped {
		if strings.HasPrefix(name, d+"/") {
			return true
		}
	}
	return false
}

// unpackAll fills an empty folder with the content of packages.
func unpackAll(dir string, debs []depend.Deb) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range merged {
		if err := root.MkdirAll("usr/"+name, 0o755); err != nil {
			return err
		}
		if err := root.Symlink("usr/"+name, name); err != nil {
			return err
		}
	}
	for _, d := range debs {
		err := debian.Entries(d.File, func(h *tar.Header, r io.Reader) error { return place(root, h, r) })
		if err != nil {
			return err
		}
	}
	return nil
}

// place makes one entry of a package.
func place(root *os.Root, h *tar.Header, r io.Reader) error {
	if h.Name == "." || isDropped(h.Name) {
		return nil
	}
	if err := root.MkdirAll(path.Dir(h.Name), 0o755); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeDir {
		return placeDir(root, h)
	}
	if err := root.Remove(h.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg:
		return placeFile(root, h, r)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, h.Name)
	case tar.TypeLink:
		return root.Link(path.Clean(h.Linkname), h.Name)
	}
	return fmt.Errorf("type %c: not expected in a package", h.Typeflag)
}

// placeDir makes a folder, where no link to a folder stands already.
func placeDir(root *os.Root, h *tar.Header) error {
	if info, err := root.Stat(h.Name); err == nil && info.IsDir() {
		return nil
	}
	if err := root.Mkdir(h.Name, 0o755); err != nil {
		return err
	}
	return root.Chmod(h.Name, mode(h))
}

func placeFile(root *os.Root, h *tar.Header, r io.Reader) error {
	f, err := root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	if err := f.Chmod(mode(h)); err != nil {
		return err
	}
	return f.Close()
}

// mode is the entry's permissions with set-user-ID, set-group-ID and sticky.
func mode(h *tar.Header) fs.FileMode {
	return h.FileInfo().Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}
