// The files inside a package. Unpack shows only regular files: whoever wants one
// file of a library needs no links, and a link is what leads an unpacker astray.

package debian

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
)

// maxMember bounds one file inside a package.
const maxMember = 1 << 30

// Unpack calls visit for each regular file of a package, with its name relative
// to the root.
func Unpack(deb string, visit func(name string, r io.Reader) error) error {
	return Entries(deb, func(h *tar.Header, r io.Reader) error {
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		return visit(h.Name, r)
	})
}

// Entries calls visit for everything in a package, links and folders included.
// The name in the header is clean and relative to the root, which is ".". What
// a link's target is, visit has to judge.
func Entries(deb string, visit func(h *tar.Header, r io.Reader) error) error {
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%s: %w", deb, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", deb, err)
	}
	walkErr := walkTar(out, visit)
	if walkErr == nil {
		_, walkErr = io.Copy(io.Discard, out) // dpkg-deb must not die of a closed pipe
	}
	out.Close()
	if err := cmd.Wait(); err != nil && walkErr == nil {
		walkErr = errors.New("dpkg-deb: " + strings.TrimSpace(talk.String()))
	}
	if walkErr != nil {
		return fmt.Errorf("%s: %w", deb, walkErr)
	}
	return nil
}

func walkTar(r io.Reader, visit func(h *tar.Header, r io.Reader) error) error {
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Size > maxMember {
			return fmt.Errorf("%s: %d bytes are too many", h.Name, h.Size)
		}
		named := h.Name
		h.Name = path.Clean(strings.TrimPrefix(path.Clean("/"+named), "/"))
		if err := visit(h, tr); err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
	}
}
