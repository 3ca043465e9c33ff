package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cachefmt"
)

// table is a table without entries, and its bytes.
func table(t *testing.T, id string) (cachefmt.Key, []byte) {
	t.Helper()
	k := cachefmt.Key{ID: id}
	b, err := (&cachefmt.Table{Key: k, Recogniser: 1, Window: 8}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return k, b
}

func create(t *testing.T) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a/b")
	s, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func TestPutAndGet(t *testing.T) {
	s, dir := create(t)
	k, b := table(t, "build-id")
	if _, err := s.Get(k); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of an empty store: %v, want fs.ErrNotExist", err)
	}
	for _, want := range []bool{true, false} {
		if written, err := s.Put(k, b); err != nil || written != want {
			t.Errorf("Put() = %v, %v, want %v", written, err, want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "tables/62/75696c642d6964.svct")); err != nil || string(got) != string(b) {
		t.Errorf("file: %q, %v", got, err)
	}
	if got, err := s.Get(k); err != nil || got.Key != k {
		t.Errorf("Get() = %v, %v", got, err)
	}
}

func TestTablesTellsBadOnes(t *testing.T) {
	s, dir := create(t)
	k, b := table(t, "good one")
	other, _ := table(t, "another!")
	if _, err := s.Put(k, b); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "tables/ff"), 0o755); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "tables/ff")
	for name, content := range map[string]string{
		"damaged.svct": string(b[:20]), "misplaced.svct": string(b),
		"full.svct": strings.Repeat("x", cachefmt.MaxSize), "huge.svct": strings.Repeat("x", cachefmt.MaxSize+1),
	} {
		if err := os.WriteFile(filepath.Join(bad, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(bad, "pipe.svct"), 0o644); err != nil {
		t.Fatal(err)
	}
	var good int
	var problems []string
	for table, err := range s.Tables {
		if err == nil && table.Key == k {
			good++
			continue
		}
		problems = append(problems, err.Error())
	}
	text := strings.Join(problems, "\n")
	if good != 1 || len(problems) != 5 {
		t.Errorf("Tables yields %d good, want 1, and\n%s", good, text)
	}
	for _, want := range []string{"damaged.svct", "misplaced.svct: holds the table of build-id:", "pipe.svct: not a regular file",
		"full.svct: at 0x0: bad magic", "huge.svct: bigger than"} {
		if !strings.Contains(text, want) {
			t.Errorf("no problem about %q in\n%s", want, text)
		}
	}
	if _, err := s.Get(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of a missing table: %v", err)
	}
}

func TestLinksOut(t *testing.T) {
	s, dir := create(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "tables")); err != nil {
		t.Fatal(err)
	}
	k, b := table(t, "build-id")
	if _, err := s.Put(k, b); err == nil {
		t.Error("Put through a link out of the store succeeds")
	}
	if names, _ := os.ReadDir(outside); len(names) > 0 {
		t.Errorf("outside the store: %v", names)
	}
}

// TestSweep has what a writer left, and what only has such a name. A pipe opened
// the ordinary way would hang it.
func TestSweep(t *testing.T) {
	s, dir := create(t)
	k, b := table(t, "build-id")
	if _, err := s.Put(k, b); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "tables/62", tempPrefix+"left")
	busy := filepath.Join(dir, tempPrefix+"busy")
	for _, name := range []string{left, busy} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(busy)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "tables/62/" + tempPrefix + "pipe", "tables/pipe"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept := []string{busy, filepath.Join(dir, "tables/62", tempPrefix+"pipe"), filepath.Join(dir, tempPrefix+"link"),
		filepath.Join(dir, tempPrefix+"dir/x"), filepath.Join(dir, "pipe")}
	if err := os.Symlink("pipe", kept[2]); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(kept[3], 0o755); err != nil {
		t.Fatal(err)
	}
	s.Sweep()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file left behind: %v, want it removed", err)
	}
	for _, name := range kept {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("%v, want it kept", err)
		}
	}
}

func TestRecord(t *testing.T) {
	s, dir := create(t)
	a, bytesA := table(t, "image  a")
	b, bytesB := table(t, "image  b")
	for k, content := range map[cachefmt.Key][]byte{a: bytesA, b: bytesB} {
		if _, err := s.Put(k, content); err != nil {
			t.Fatal(err)
		}
	}
	damaged := false
	record := func(images ...string) []string {
		t.Helper()
		var entries []Entry
		for _, image := range images {
			k := cachefmt.Key{ID: "image  " + image[:1]}
			entries = append(entries, Entry{Table: TablePath(k), Key: k.String(), Image: image})
		}
		lost, err := s.Record(t.Context(), 7, entries)
		if err != nil || (lost != nil) != damaged {
			t.Fatalf("Record() = %v, %v, want lost %v", lost, err, damaged)
		}
		m, err := s.ReadManifest()
		if err != nil || m.Recogniser != 7 {
			t.Fatalf("ReadManifest() = %+v, %v", m, err)
		}
		var names []string
		for _, e := range m.Tables {
			names = append(names, e.Image)
		}
		return names
	}
	for _, step := range []struct {
		record, want []string
	}{
		{[]string{"b"}, []string{"b"}},
		{[]string{"a"}, []string{"a", "b"}},
		{[]string{"a, renamed"}, []string{"a, renamed", "b"}},
		{[]string{"c, without a table"}, []string{"a, renamed", "b"}},
	} {
		if diff := cmp.Diff(step.want, record(step.record...)); diff != "" {
			t.Errorf("Record(%v) (-want +got):\n%s", step.record, diff)
		}
	}
	if err := os.Remove(filepath.Join(dir, TablePath(b))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a, renamed"}, record()); diff != "" {
		t.Errorf("after a table is gone (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadManifest(); err == nil {
		t.Error("ReadManifest of a damaged file succeeds")
	}
	damaged = true
	if diff := cmp.Diff([]string{"a"}, record("a")); diff != "" {
		t.Errorf("after a damaged manifest (-want +got):\n%s", diff)
	}
}

// TestRecordWaits: a store locked for ever is waited for as long as the context
// lasts; one that is free is recorded in even when it is over.
func TestRecordWaits(t *testing.T) {
	s, _ := create(t)
	ctx, cancel := context.WithCancel(t.Context())
	unlock, err := s.lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Record(ctx, 7, nil)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Record in a locked store = %v, want %v", err, context.Canceled)
	}
	unlock()
	if _, err := s.Record(ctx, 7, nil); err != nil {
		t.Errorf("Record in a free store = %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report")
	write := func(content string, err error) error {
		return WriteFile(name, func(w io.Writer) error {
			io.WriteString(w, content)
			return err
		})
	}
	if err := write("first", nil); err != nil {
		t.Fatal(err)
	}
	if err := write("second", errors.New("broken")); err == nil {
		t.Error("WriteFile of what cannot be made succeeds")
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "first" {
		t.Errorf("file: %q, %v, want what it held before", got, err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("folder holds %v, want the report alone", names)
	}
}
