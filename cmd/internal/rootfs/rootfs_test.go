package rootfs

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/debian"
	"svcrelay/cmd/internal/depend"
)

// look lists a tree: mode, name, target or content.
func look(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%v %s", info.Mode(), rel)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			fmt.Fprintf(&b, " -> %s", target)
		case info.Mode().IsRegular():
			text, _ := os.ReadFile(name)
			fmt.Fprintf(&b, " %q", text)
		}
		fmt.Fprintln(&b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type entry struct {
	kind   byte
	name   string
	mode   int64
	target string
	text   string
}

// placeAll places entries into a merged tree and returns the first error.
func placeAll(t *testing.T, entries ...entry) (string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := unpackAll(dir, nil); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Mode: e.mode, Linkname: e.target, Size: int64(len(e.text))}
		if err := place(root, h, strings.NewReader(e.text)); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

func TestPlace(t *testing.T) {
	dir, err := placeAll(t,
		entry{tar.TypeDir, "bin", 0o755, "", ""}, // a folder in an old package, a link in the tree
		entry{tar.TypeReg, "bin/tool", 0o4755, "", "old"},
		entry{tar.TypeReg, "usr/bin/tool", 0o755, "", "new"},
		entry{tar.TypeLink, "usr/bin/same", 0o755, "./usr/bin/tool", ""},
		entry{tar.TypeSymlink, "usr/bin/alias", 0o777, "/etc/alternatives/tool", ""},
		entry{tar.TypeDir, "tmp", 0o1777, "", ""},
		entry{tar.TypeReg, "usr/bin/suid", 0o4711, "", "s"},
		entry{tar.TypeReg, "deep/in/here", 0o600, "", "d"},
		entry{tar.TypeDir, "usr/share/doc", 0o755, "", ""},
		entry{tar.TypeReg, "usr/share/doc/tool/README", 0o644, "", "dropped"},
		entry{tar.TypeDir, ".", 0o755, "", ""},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `Lrwxrwxrwx bin -> usr/bin
drwxr-xr-x deep
drwxr-xr-x deep/in
-rw------- deep/in/here "d"
Lrwxrwxrwx lib -> usr/lib
Lrwxrwxrwx sbin -> usr/sbin
dtrwxrwxrwx tmp
drwxr-xr-x usr
drwxr-xr-x usr/bin
Lrwxrwxrwx usr/bin/alias -> /etc/alternatives/tool
-rwxr-xr-x usr/bin/same "new"
urwx--x--x usr/bin/suid "s"
-rwxr-xr-x usr/bin/tool "new"
drwxr-xr-x usr/lib
drwxr-xr-x usr/sbin
drwxr-xr-x usr/share
drwxr-xr-x usr/share/doc
`
	if diff := cmp.Diff(want, look(t, dir)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPlaceStaysInside: nothing is made outside of the tree, whatever a package
// says.
func TestPlaceStaysInside(t *testing.T) {
	for _, entries := range [][]entry{
		{{tar.TypeReg, "../out", 0o644, "", "x"}},
		{{tar.TypeSymlink, "a", 0o777, "/", ""}, {tar.TypeReg, "a/out", 0o644, "", "x"}},
		{{tar.TypeSymlink, "a", 0o777, "..", ""}, {tar.TypeReg, "a/out", 0o644, "", "x"}},
		{{tar.TypeSymlink, "a", 0o777, "..", ""}, {tar.TypeDir, "a/out", 0o755, "", ""}},
		{{tar.TypeLink, "a", 0o644, "../out", ""}},
		{{tar.TypeChar, "dev/null", 0o666, "", ""}},
		{{tar.TypeFifo, "fifo", 0o666, "", ""}},
	} {
		dir, err := placeAll(t, entries...)
		if err == nil {
			t.Errorf("place(%v) = nil, want an error", entries)
		}
		if _, err := os.Lstat(filepath.Join(dir, "..", "out")); err == nil {
			t.Errorf("place(%v) made a file outside", entries)
		}
	}
}

func TestSkeleton(t *testing.T) {
	dir, err := placeAll(t,
		entry{tar.TypeReg, "usr/bin/dash", 0o755, "", "#"},
		entry{tar.TypeReg, "usr/bin/mawk", 0o755, "", "#"},
		entry{tar.TypeReg, "usr/bin/awk", 0o755, "", "of a package"},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := addSkeleton(dir); err != nil {
		t.Fatal(err)
	}
	got := look(t, dir)
	for _, want := range []string{
		"Lrwxrwxrwx usr/bin/sh -> dash\n", "-rwxr-xr-x usr/bin/awk \"of a package\"\n",
		"dtrwxrwxrwx tmp\n", "drwxr-xr-x r\n", "-rw-r--r-- etc/hosts ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("tree lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "usr/bin/cc") {
		t.Error("cc is linked to a compiler that is not there")
	}
}

// TestRoots: names are words of paths and serial numbers of disks, and the base
// is one of them.
func TestRoots(t *testing.T) {
	const serialSize = 20 // VIRTIO_BLK_ID_BYTES
	seen, base := map[string]bool{}, false
	for _, r := range Roots {
		base = base || r.Name == Base
		if seen[r.Key()] || len(r.Name) > serialSize || strings.ContainsAny(r.Name, "/, =") {
			t.Errorf("root %s: key or name will not do", r.Name)
		}
		seen[r.Key()] = true
	}
	if !base {
		t.Errorf("base %s is no root", Base)
	}
	if slice := full; len(slice) <= len(small) || strings.Contains(strings.Join(slice, " "), "gdb-minimal") {
		t.Errorf("full = %v", slice)
	}
}

func TestFollow(t *testing.T) {
	for need, want := range map[string]bool{"libc6": true, "debconf": false, "gcc": true, "init-system-helpers": false} {
		if got := Follow(need); got != want {
			t.Errorf("Follow(%s) = %v, want %v", need, got, want)
		}
	}
}

func TestCurrent(t *testing.T) {
	r, dir := Root{Name: "x", Wants: []string{"a"}}, t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r.Current(dir) {
		t.Error("Current without files = true")
	}
	debs := []depend.Deb{{Package: debian.Package{Name: "a", Version: "1", Sum: debian.Sum{SHA256: "00"}}}}
	write(r.listFile(dir), list(r, debs))
	if r.Current(dir) {
		t.Error("Current without an image = true")
	}
	write(r.File(dir), "")
	if !r.Current(dir) {
		t.Error("Current = false, want true")
	}
	r.Wants = append(r.Wants, "b")
	if r.Current(dir) {
		t.Error("Current of another recipe = true")
	}
	if want := "key\t" + (Root{Name: "x", Wants: []string{"a"}}).Key() + "\na\t1\t00\n"; list(Root{Name: "x", Wants: []string{"a"}}, debs) != want {
		t.Errorf("list = %q, want %q", list(r, debs), want)
	}
}

// TestMakeImage: the same tree makes the same image, whenever it was written.
func TestMakeImage(t *testing.T) {
	var images []string
	for range 2 {
		dir, err := placeAll(t, entry{tar.TypeReg, "usr/bin/tool", 0o755, "", "x"})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "image")
		if err := makeImage(dir, file); err != nil {
			t.Fatal(err)
		}
		sum, err := debian.SumFile(file)
		if err != nil || sum.Size == 0 {
			t.Fatal(sum, err)
		}
		images = append(images, sum.SHA256)
	}
	if images[0] != images[1] {
		t.Errorf("two images of one tree differ: %v", images)
	}
	t.Setenv("PATH", t.TempDir())
	if err := makeImage(t.TempDir(), filepath.Join(t.TempDir(), "image")); err == nil || !strings.Contains(err.Error(), "package erofs-utils") {
		t.Errorf("makeImage without its maker = %v, want the package's name", err)
	}
}
