package initrd

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func archive(t *testing.T, fill func(w *Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// list is what cpio(1) says is in an archive: mode, size or device, name.
func list(t *testing.T, content []byte) []string {
	t.Helper()
	cmd := exec.Command("cpio", "--list", "--verbose", "--numeric-uid-gid", "--quiet")
	cmd.Stdin = bytes.NewReader(content)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("cpio (package cpio): %v %s", err, errs.String())
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		// mode links user group size month day year name
		w := strings.Fields(strings.Replace(line, ",", ", ", 1))
		date := len(w) - 4
		for w[date] != "Jan" {
			date--
		}
		lines = append(lines, strings.Join(append([]string{w[0]}, w[2:date]...), " ")+" "+strings.Join(w[date+3:], " "))
	}
	return lines
}

// TestAgainstCpio: cpio(1) reads what was written.
func TestAgainstCpio(t *testing.T) {
	got := list(t, archive(t, func(w *Writer) {
		w.File("init", 0o755, []byte("program"))
		w.Char("dev/console", 0o600, 5, 1)
		w.Dir("dev", 0o700) // is there already
		w.Dir("tmp", 0o777)
		w.Link("lib", "usr/lib")
		for n := range 5 {
			w.File("a/b/"+strings.Repeat("n", n+1), 0o640, make([]byte, n))
		}
	}))
	want := []string{
		"-rwxr-xr-x 0 0 7 init",
		"drwxr-xr-x 0 0 0 dev",
		"crw------- 0 0 5, 1 dev/console",
		"drwxrwxrwx 0 0 0 tmp",
		"lrwxrwxrwx 0 0 7 lib -> usr/lib",
		"drwxr-xr-x 0 0 0 a",
		"drwxr-xr-x 0 0 0 a/b",
		"-rw-r----- 0 0 0 a/b/n",
		"-rw-r----- 0 0 1 a/b/nn",
		"-rw-r----- 0 0 2 a/b/nnn",
		"-rw-r----- 0 0 3 a/b/nnnn",
		"-rw-r----- 0 0 4 a/b/nnnnn",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cpio lists -want +got:\n%s", diff)
	}
}

// TestContent: cpio(1) gives back the bytes, whatever the padding.
func TestContent(t *testing.T) {
	for n := range 9 {
		want := strings.Repeat("x", n)
		content := archive(t, func(w *Writer) {
			w.File("before", 0o644, make([]byte, n))
			w.File("f", 0o644, []byte(want))
		})
		cmd := exec.Command("cpio", "--extract", "--to-stdout", "--quiet", "f")
		cmd.Stdin = bytes.NewReader(content)
		got, err := cmd.Output()
		if err != nil || string(got) != want {
			t.Errorf("cpio extracts %q, %v, want %q", got, err, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, name := range []string{"", ".", "/init", "../init", "a/../b", "a//b", "a/", trailer} {
		w := NewWriter(io.Discard)
		w.File(name, 0o644, nil)
		w.File("fine", 0o644, nil)
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("File(%q): Close = %v, want it refused", name, err)
		}
	}
}

type fullDisk struct{ left int }

var errFull = errors.New("disk full")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriteError: wherever the disk is full, Close says so.
func TestWriteError(t *testing.T) {
	fill := func(w *Writer) { w.File("f", 0o644, []byte("data")) }
	size := len(archive(t, fill))
	for n := range size + 1 {
		w := NewWriter(&fullDisk{n})
		fill(w)
		if err := w.Close(); (err == nil) != (n == size) || err != nil && !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: Close = %v", n, size, err)
		}
	}
}
