// A second opinion in C. testdata/reader.c knows only FORMAT.md; over every
// table of the other tests, good and broken, it must print what Go prints and
// refuse where and why Go refuses.

package cachefmt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// readerNames are the names of the errors in FORMAT.md.
var readerNames = map[error]string{
	ErrShort: "short", ErrMagic: "magic", ErrVersion: "version", ErrCount: "count", ErrLong: "long", ErrCRC: "crc",
	ErrReserved: "reserved", ErrWindow: "window", ErrKey: "key", ErrMisaligned: "misaligned", ErrOutOfRange: "range",
	ErrUnsorted: "unsorted", ErrDuplicate: "duplicate", ErrOverlap: "overlap", ErrKind: "kind", ErrFlags: "flags",
	ErrNumber: "number", ErrDistance: "distance", ErrHook: "hook", ErrBridge: "bridge",
}

func TestReaderInC(t *testing.T) {
	reader := buildReader(t)
	dir := t.TempDir()
	var files []string
	var want strings.Builder
	for i, b := range readerInputs(t) {
		name := filepath.Join(dir, fmt.Sprintf("%04d", i))
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
		fmt.Fprintf(&want, "file\t%d\n%s", i+1, readerOutput(b))
	}
	got, err := exec.Command(reader, files...).CombinedOutput()
	if err != nil {
		t.Fatalf("reader: %v\n%s", err, got)
	}
	compareLines(t, want.String(), string(got))
}

func buildReader(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "reader")
	cmd := exec.Command("gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-ffreestanding", "-O2",
		"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", out, filepath.Join("testdata", "reader.c"))
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc (a C compiler for this machine is needed): %v\n%s", err, b)
	}
	return out
}

// readerInputs are all refusals, all accepted tables, all truncations of one,
// and one flipped bit in each of its bytes.
func readerInputs(t *testing.T) [][]byte {
	var all [][]byte
	for _, r := range refusals {
		all = append(all, r.encoding())
	}
	for _, table := range accepted() {
		all = append(all, encode(t, table))
	}
	b := encode(t, sample())
	for i := range b {
		flipped := bytes.Clone(b)
		flipped[i] ^= 1 << (i % 8)
		all = append(all, b[:i], flipped)
	}
	return all
}

// readerOutput is what the C reader should print.
func readerOutput(b []byte) string {
	table, err := Decode(b)
	if err == nil {
		return strings.Join(table.rows(), "\n") + "\n"
	}
	var f *FormatError
	if !errors.As(err, &f) {
		return fmt.Sprintf("not a FormatError: %v\n", err)
	}
	return fmt.Sprintf("refused\t%s\t0x%x\n", readerNames[f.Err], f.Offset)
}

// compareLines reports the first difference; the texts are long.
func compareLines(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Fatalf("line %d: C says %q, Go says %q", i+1, g[i], w[i])
		}
	}
	if len(w) != len(g) {
		t.Fatalf("C prints %d lines, Go %d", len(g), len(w))
	}
}
