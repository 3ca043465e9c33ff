package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svcrelay/cmd/internal/frame"
)

func TestWordIn(t *testing.T) {
	const line = "console=ttyAMA0 quiet rig.base=trixie rig.roots=a,b rig.empty=\n"
	for name, want := range map[string]string{"rig.base": "trixie", "rig.roots": "a,b", "rig.empty": "", "base": "", "quiet": "", "rig": ""} {
		if got := wordIn(line, name); got != want {
			t.Errorf("wordIn(%s) = %q, want %q", name, got, want)
		}
	}
}

// TestQueue: a writer never waits, a reader gets everything in order and then
// the end.
func TestQueue(t *testing.T) {
	q := newQueue()
	var want bytes.Buffer
	for n := range 1000 {
		p := bytes.Repeat([]byte{byte(n)}, n%7+1)
		want.Write(p)
		q.put(p)
	}
	small := make([]byte, 3)
	if n, err := q.Read(small); n != 1 || err != nil {
		t.Errorf("Read = %d, %v, want the first chunk, of one byte", n, err)
	}
	go q.put(nil)
	rest, err := io.ReadAll(q)
	if got := append(small[:1:1], rest...); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("read %d bytes, %v, want the %d that were put", len(got), err, want.Len())
	}
	if n, err := q.Read(small); n != 0 || err != io.EOF {
		t.Errorf("Read after the end = %d, %v, want %v", n, err, io.EOF)
	}
}

func TestTarRoundTrip(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, mode := range map[string]fs.FileMode{"a/x": 0o755, "a/b/y": 0o600, "z": 0o444} {
		file := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("x", filepath.Join(from, "a", "link")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := packFiles(&b, []string{filepath.Join(from, "a"), filepath.Join(from, "none"), filepath.Join(from, "z")}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time over what is there
		if err := unpackFiles(to, bytes.NewReader(b.Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("diff", "-r", from, filepath.Join(to, from)).CombinedOutput(); err != nil {
		t.Errorf("diff: %v %s", err, out)
	}
	if target, err := os.Readlink(filepath.Join(to, from, "a", "link")); target != "x" || err != nil {
		t.Errorf("link leads to %q, %v, want x", target, err)
	}
	info, err := os.Stat(filepath.Join(to, from, "a", "x"))
	if err != nil || info.Mode() != 0o755 {
		t.Errorf("mode of x: %v, %v, want 0755", info, err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	if err := unpackFiles(t.TempDir(), strings.NewReader(strings.Repeat("x", 1024))); err == nil {
		t.Error("unpackFiles of no tar = nil, want an error")
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeFifo, Name: "fifo"}); err != nil {
		t.Fatal(err)
	}
	if err := unpackFiles(t.TempDir(), &b); err == nil || !strings.HasPrefix(err.Error(), "fifo: type 6") {
		t.Errorf("unpackFiles of a fifo = %v, want its name and type", err)
	}
}

// TestRefusedRequests: a request that cannot be carried out has a status that
// says why.
func TestRefusedRequests(t *testing.T) {
	for _, tt := range []struct {
		request frame.Request
		want    string
	}{
		{frame.Request{}, `operation "": unknown`},
		{frame.Request{Op: frame.OpRun}, "no program"},
		{frame.Request{Op: frame.OpUntar}, "untar: no input"},
	} {
		c := &command{request: tt.request}
		if got := c.carryOut(); got.Err != tt.want || got.Code != 127 {
			t.Errorf("carryOut(%+v) = %+v, want code 127 and %s", tt.request, got, tt.want)
		}
	}
	if err := enter("{", []string{"true"}); err == nil {
		t.Error("enter a place that is none: no error")
	}
	if err := enter("{}", []string{"no-such-program"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("enter = %v, want %v", err, exec.ErrNotFound)
	}
}
