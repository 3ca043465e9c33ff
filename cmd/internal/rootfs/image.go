// From a tree to an image: erofs, because it is small, mounts in a millisecond
// and every kernel of the rig has it.

package rootfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"svcrelay/cmd/internal/debian"
	"svcrelay/cmd/internal/depend"
)

// maker is the program that makes images.
const maker = "mkfs.erofs"

// fixed are arguments that make the same image of the same tree.
var fixed = []string{"-zlz4", "--all-root", "-T1700000000", "-U00000000-0000-0000-0000-000000000001", "--quiet"}

// File is the name of the root's image below the folder of all images.
func (r Root) File(dir string) string { return filepath.Join(dir, r.Name+".erofs") }

// listFile says what the image was made of; it is written last.
func (r Root) listFile(dir string) string { return filepath.Join(dir, r.Name+".tsv") }

// Current reports whether the image is there and was made by this recipe.
func (r Root) Current(dir string) bool {
	text, err := os.ReadFile(r.listFile(dir))
	if err != nil || !strings.HasPrefix(string(text), "key\t"+r.Key()+"\n") {
		return false
	}
	_, err = os.Stat(r.File(dir))
	return err == nil
}

// Make makes the root's image out of its packages.
func (r Root) Make(dir string, debs []depend.Deb) error {
	if err := r.make(dir, debs); err != nil {
		return fmt.Errorf("root %s: %w", r.Name, err)
	}
	return nil
}

func (r Root) make(dir string, debs []depend.Deb) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tree, err := os.MkdirTemp(dir, "."+r.Name+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := os.Chmod(tree, 0o755); err != nil {
		return err
	}
	if err := unpackAll(tree, debs); err != nil {
		return err
	}
	if err := addSkeleton(tree); err != nil {
		return err
	}
	if err := makeImage(tree, r.File(dir)); err != nil {
		return err
	}
	return debian.WriteFile(r.listFile(dir), func(w io.Writer) error {
		_, err := io.WriteString(w, list(r, debs))
		return err
	})
}

// makeImage writes the image beside its name first.
func makeImage(tree, file string) error {
	if _, err := exec.LookPath(maker); err != nil {
		return fmt.Errorf("%w (package erofs-utils)", err)
	}
	tmp := tree + ".erofs"
	defer os.Remove(tmp)
	out, err := exec.Command(maker, append(fixed, tmp, tree)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w", maker, errors.Join(err, errors.New(strings.TrimSpace(string(out)))))
	}
	return os.Rename(tmp, file)
}
