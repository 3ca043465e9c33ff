package store

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeText(name, text string) error {
	return WriteFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// TestWriteFileKinds writes to every sort of thing a name can stand for.
func TestWriteFileKinds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(at("d"), 0o755), os.WriteFile(at("d/file"), []byte("old"), 0o644), os.Symlink("d/file", at("link")),
		os.Symlink("link", at("link to a link")), os.Symlink("nothing", at("dangling")), os.Symlink("loop", at("loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, file, problem string }{
		{"d/file", "d/file", ""},
		{"link", "d/file", ""},
		{"link to a link", "d/file", ""},
		{"new", "new", ""},
		{"dangling", "", "dangling: a link to what is not there"},
		{"loop", "", "too many levels"},
		{"d", "", "d: a directory"},
		{"none/x", "", "none"},
		{"d/file/x", "", "not a directory"},
	} {
		err := writeText(at(c.name), c.name)
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("WriteFile(%s) = %v, want %q", c.name, err, c.problem)
			}
			continue
		}
		if got, readErr := os.ReadFile(at(c.file)); err != nil || string(got) != c.name {
			t.Errorf("WriteFile(%s) = %v, file %q %v", c.name, err, got, readErr)
		}
	}
	var links []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			links = append(links, e.Name())
		}
	}
	if diff := cmp.Diff([]string{"dangling", "link", "link to a link", "loop"}, links); diff != "" || err != nil {
		t.Errorf("links that are left, %v (-want +got):\n%s", err, diff)
	}
}

// TestWriteFilePipe: what is written goes through the pipe, which stays one.
func TestWriteFilePipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := writeText(name, "through"); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(name); err != nil || fi.Mode()&fs.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is now %v, %v", fi, err)
	}
	got := make([]byte, 99)
	if n, err := r.Read(got); string(got[:n]) != "through" {
		t.Errorf("read from the pipe: %q, %v", got[:n], err)
	}
}

func TestSameFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(at("d"), 0o755), os.WriteFile(at("d/a"), nil, 0o644), os.WriteFile(at("d/b"), nil, 0o644),
		os.Symlink("d/a", at("a")), os.Symlink("d", at("e")), syscall.Mkfifo(at("pipe"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"d/a", "d/a", true}, {"a", "d/a", true}, {"d/a", "d/b", false}, {"d/a", "d/new", false}, {"d/new", "d/a", false},
		{"d/new", "e/new", true}, {"d/new", "d/newer", false}, {"d/new", "new", false}, {"none/x", "none/x", false},
		{"pipe", "pipe", false},
	} {
		if got := SameFile(at(c.a), at(c.b)); got != c.want {
			t.Errorf("SameFile(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
