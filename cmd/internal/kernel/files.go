// A kernel's files on disk: NAME/Image, NAME/modules/00-first.ko and so on, and
// NAME/list.tsv, written last.

package kernel

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ulikunitz/xz"

	"svcrelay/cmd/internal/debian"
	"svcrelay/cmd/internal/depend"
)

// Files are what a machine boots from.
type Files struct {
	Image   string
	Modules []string // in the order of loading
}

func (k Kernel) list(dir string) string { return filepath.Join(dir, k.Name, "list.tsv") }

// Current reports whether the kernel's files were made by this recipe.
func (k Kernel) Current(dir string) bool {
	text, err := os.ReadFile(k.list(dir))
	return err == nil && strings.HasPrefix(string(text), "key\t"+k.Key()+"\n")
}

// Open returns the files that Make made.
func (k Kernel) Open(dir string) (Files, error) {
	f := Files{Image: filepath.Join(dir, k.Name, "Image")}
	if _, err := os.Stat(f.Image); err != nil {
		return f, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	var err error
	f.Modules, err = filepath.Glob(filepath.Join(dir, k.Name, "modules", "*.ko"))
	return f, err
}

// Make takes the kernel's files out of its packages.
func (k Kernel) Make(dir string, debs []depend.Deb) error {
	if err := k.make(dir, debs); err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	return nil
}

func (k Kernel) make(dir string, debs []depend.Deb) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "."+k.Name+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	u := unpacker{dir: tmp, tree: tree{files: map[string]string{}, read: readModule}}
	for _, d := range debs {
		if err := debian.Entries(d.File, u.place); err != nil {
			return err
		}
	}
	if u.image == "" {
		return fmt.Errorf("package %s: no image", k.Package)
	}
	modules, err := u.tree.order(drivers)
	if err != nil {
		return err
	}
	out := filepath.Join(dir, k.Name)
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := writeFiles(out, u.image, modules); err != nil {
		return err
	}
	return debian.WriteFile(k.list(dir), func(w io.Writer) error {
		_, err := io.WriteString(w, k.listText(debs))
		return err
	})
}

// writeFiles moves the image and writes the modules, numbered.
func writeFiles(out, image string, modules []module) error {
	if err := os.MkdirAll(filepath.Join(out, "modules"), 0o755); err != nil {
		return err
	}
	if err := os.Rename(image, filepath.Join(out, "Image")); err != nil {
		return err
	}
	for i, m := range modules {
		name := filepath.Join(out, "modules", fmt.Sprintf("%02d-%s.ko", i, m.name))
		if err := os.WriteFile(name, m.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// listText says what the files were made of.
func (k Kernel) listText(debs []depend.Deb) string {
	var b strings.Builder
	fmt.Fprintf(&b, "key\t%s\n", k.Key())
	for _, d := range debs {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", d.Name, d.Version, d.Sum.SHA256)
	}
	return b.String()
}

// An unpacker keeps what may be of use, each file under a name of its own.
type unpacker struct {
	dir   string
	tree  tree
	image string
}

func (u *unpacker) place(h *tar.Header, r io.Reader) error {
	base := path.Base(h.Name)
	switch {
	case h.Typeflag != tar.TypeReg:
		return nil
	case strings.HasPrefix(base, "vmlinuz"):
		u.image = filepath.Join(u.dir, "Image")
		return save(u.image, r)
	case base == "modules.builtin":
		text, err := io.ReadAll(r)
		u.tree.builtin = builtin(string(text))
		return err
	}
	name := moduleName(h.Name)
	if name == "" {
		return nil
	}
	u.tree.files[name] = filepath.Join(u.dir, base)
	return save(u.tree.files[name], r)
}

func save(name string, r io.Reader) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	return f.Close()
}

// readModule returns a module's bytes, uncompressed.
func readModule(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil || path.Ext(file) != ".xz" {
		return data, err
	}
	r, err := xz.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
