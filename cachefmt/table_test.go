package cachefmt

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

// The format fixes what scanner may renumber only together with it.
func TestScannerValues(t *testing.T) {
	got := []int{int(scanner.Svc), int(scanner.Bridge), int(scanner.Call),
		int(scanner.Proven), int(scanner.AsyncCancel), int(scanner.EdgeInWindow),
		int(scanner.ViaBridge), int(scanner.HookIsSvc), int(scanner.BridgeEntry)}
	want := []int{1, 2, 3, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("scanner's values are not those of FORMAT.md (-want +got):\n%s", d)
	}
}

// The bytes of a table, by hand: a change of the layout must not pass unseen.
func TestGoldenBytes(t *testing.T) {
	table := &Table{
		Key:        Key{ID: "ABCDEFGH"},
		Recogniser: 0x0102,
		Window:     8,
		Exec:       []Range{{0x1000, 0x20}},
		Entries: []Entry{{Svc: 0x1008, Hook: 0x1004, Word: movzOpenat, Live: 0x8000_0001,
			Number: 56, Distance: 2, Kind: scanner.Svc, Flags: scanner.Proven | scanner.EdgeInWindow}},
	}
	want := []byte("" +
		"\x89SVCT\r\n\x1a" + // magic
		"\x01\x00\x00\x00" + // format
		"\x02\x01" + // recogniser
		"\x08\x00" + // window
		"\x00\x00" + // flags
		"\x08\x00" + // key size
		"\x01\x00\x00\x00" + // ranges
		"\x01\x00\x00\x00" + // entries
		"\x00\x00\x00\x00" + // reserved
		"ABCDEFGH" + strings.Repeat("\x00", 56) + // key
		"\x00\x10\x00\x00\x20\x00\x00\x00" + // range
		"\x08\x10\x00\x00" + // svc
		"\x04\x10\x00\x00" + // hook
		"\x08\x07\x80\xd2" + // word: mov x8, #56
		"\x01\x00\x00\x80" + // live: x0, NZCV
		"\x00\x00\x00\x00\x00\x00\x00\x00" + // start, end
		"\x38\x00" + // number
		"\x02" + // distance
		"\x01" + // kind
		"\x05\x00" + // flags
		"\x00\x00" + // reserved
		"\x78\xe9\x0c\xf6") // CRC32C
	if got := encode(t, table); !bytes.Equal(got, want) {
		t.Errorf("Encode() =\n% x, want\n% x", got, want)
	}
}

// The check value of CRC-32C in every catalogue.
func TestChecksum(t *testing.T) {
	if got := checksum([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("checksum(123456789) = 0x%08x, want 0xe3069283", got)
	}
}

func TestKey(t *testing.T) {
	for _, row := range []struct {
		key        Key
		text, path string
	}{
		{Key{ID: "\xab\xcd\xef\x01\x02\x03\x04\x05"}, "build-id:abcdef0102030405", "ab/cdef0102030405.svct"},
		{Key{ID: "\x00\x0d\xef\x01\x02\x03\x04\x05"}, "build-id:000def0102030405", "00/0def0102030405.svct"},
		{Key{strings.Repeat("\xab", 32), true}, "sha256:" + strings.Repeat("ab", 32), "exec/" + strings.Repeat("ab", 32) + ".svct"},
	} {
		if got := row.key.String(); got != row.text {
			t.Errorf("String() = %s, want %s", got, row.text)
		}
		if got := row.key.Path(); got != row.path {
			t.Errorf("Path() = %s, want %s", got, row.path)
		}
	}
}

func TestKeyCompare(t *testing.T) {
	sorted := []Key{{ID: "aaaaaaaa"}, {ID: "aaaaaaaaa"}, {ID: "b"}, {ID: "\xff"}, {"a", true}, {"b", true}}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := a.Compare(b), sign(i-j); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int { return min(max(n, -1), 1) }

func TestFind(t *testing.T) {
	table := sample()
	for _, want := range table.Entries {
		if got, ok := table.Find(want.Svc); !ok || got != want {
			t.Errorf("Find(0x%x) = %v, %t, want %v, true", want.Svc, got, ok, want)
		}
		if got, ok := table.Find(want.Svc + 4); ok {
			t.Errorf("Find(0x%x) = %v, true, want false", want.Svc+4, got)
		}
	}
}

func TestDump(t *testing.T) {
	want, err := os.ReadFile("testdata/sample.dump")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := sample().Dump(&got); err != nil {
		t.Fatalf("Dump() = %v", err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("Dump() differs from testdata/sample.dump (-want +got):\n%s", d)
	}
}

// Messages show entries that are not in any table, too.
func TestEntryString(t *testing.T) {
	got := Entry{Kind: 9, Flags: 0x40}.String()
	want := "0x00000000\t0x00000000\t0x00000000\t0x00000000\t0x00000000\t0x00000000\tkind-9\t0\t0\tflags-0x40"
	if got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestDumpReportsWriteErrors(t *testing.T) {
	if err := sample().Dump(brokenWriter{}); err != errBroken {
		t.Errorf("Dump(broken writer) = %v, want %v", err, errBroken)
	}
}

// FORMAT.md must name every error that a reader has to tell apart, and the same
// flags as a dump.
func TestFormatNames(t *testing.T) {
	spec, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range readerNames {
		if !strings.Contains(string(spec), "| "+name+" |") {
			t.Errorf("FORMAT.md has no error %q", name)
		}
	}
	for f := scanner.Flags(1); f&known != 0; f <<= 1 {
		if row := fmt.Sprintf("| 0x%02x | %v |", uint16(f), f); !strings.Contains(string(spec), row) {
			t.Errorf("FORMAT.md has no row %q", row)
		}
	}
	for _, k := range scanner.Kinds() {
		if row := fmt.Sprintf("| %d | %v |", k, k); !strings.Contains(string(spec), row) {
			t.Errorf("FORMAT.md has no row %q", row)
		}
	}
}
