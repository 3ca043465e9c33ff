package elfimg

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/yalue/elf_reader"

	"svcrelay/scanner/elfimg/elftest"
)

// edit returns full's bytes with one field overwritten.
func edit(size int, off int, v uint64) func([]byte) []byte {
	return func(raw []byte) []byte {
		for i := range size {
			raw[off+i] = byte(v >> (8 * i))
		}
		return raw
	}
}

func cut(n int) func([]byte) []byte { return func(raw []byte) []byte { return raw[:n] } }

// Offsets of program and section header fields.
func ph(i, field int) int { return 64 + 56*i + field }

func shField(raw []byte, i, field int) int { return int(le.Uint64(raw[40:])) + 64*i + field }

func TestNewRefuses(t *testing.T) {
	raw := elftest.Build(full())
	size := uint64(len(raw))
	shoff := le.Uint64(raw[40:])
	shnum := uint64(le.Uint16(raw[60:]))
	rows := []struct {
		what string
		edit func([]byte) []byte
		want error
	}{
		{"empty", cut(0), ErrNotELF},
		{"magic cut", cut(3), ErrNotELF},
		{"magic alone", cut(4), ErrTruncated},
		{"header one short", cut(63), ErrTruncated},
		{"header alone", cut(64), ErrTruncated},
		{"last byte missing", cut(len(raw) - 1), ErrTruncated},
		{"magic", edit(1, 0, 0x7e), ErrNotELF},
		{"32-bit", edit(1, 4, 1), ErrClass},
		{"big-endian", edit(1, 5, 2), ErrEndian},
		{"x86-64", edit(2, 18, 62), ErrMachine},
		{"ET_REL", edit(2, 16, 1), ErrType},
		{"ET_CORE", edit(2, 16, 4), ErrType},
		{"e_phentsize", edit(2, 54, 57), ErrEntrySize},
		{"e_shentsize", edit(2, 58, 40), ErrEntrySize},
		{"e_phnum 0xffff", edit(2, 56, 0xffff), ErrTooMany},
		{"e_phnum one too many", edit(2, 56, 1171), ErrTooMany},
		{"e_phnum beyond the file", edit(2, 56, 1170), ErrTruncated},
		{"e_phnum as large as Linux takes", func(raw []byte) []byte {
			raw = edit(2, 60, 0)(edit(2, 56, maxSegments)(edit(8, 32, size)(raw)))
			return append(raw, make([]byte, maxSegments*phentSize)...)
		}, nil},
		{"e_phoff", edit(8, 32, math.MaxUint64), ErrTruncated},
		{"e_phoff at the end", edit(8, 32, size), ErrTruncated},
		{"e_shoff", edit(8, 40, math.MaxUint64-63), ErrTruncated},
		{"e_shoff one too far", edit(8, 40, shoff+1), ErrTruncated},
		{"e_shnum one too many", edit(2, 60, shnum+1), ErrTruncated},
		{"e_shnum 0xffff", edit(2, 60, 0xffff), ErrTruncated},
		{"load offset", edit(8, ph(1, 8), size+0x10000), ErrTruncated},
		{"load offset overflows", edit(8, ph(1, 8), math.MaxUint64), ErrTruncated},
		{"load file size overflows", edit(8, ph(1, 32), math.MaxUint64), ErrAddress},
		{"load memory overflows", edit(8, ph(1, 40), math.MaxUint64), ErrAddress},
		{"load smaller than its bytes", edit(8, ph(1, 40), 1), ErrAddress},
		{"load at 2^52", edit(8, ph(1, 16), 1<<52), ErrAddress},
		{"load alignment", edit(8, ph(1, 48), 0x3000), ErrAddress},
		{"load not congruent", edit(8, ph(1, 16), 0x500001), ErrAddress},
		{"load alignment divides but is no power of two", edit(8, ph(1, 48), 0x41), ErrAddress},
		{"load up to its neighbour", edit(8, ph(0, 40), le.Uint64(raw[ph(1, 16):])-base), nil},
		{"load into its neighbour", edit(8, ph(0, 40), le.Uint64(raw[ph(1, 16):])-base+1), ErrOverlap},
		{"loads descend", edit(8, ph(1, 16), le.Uint64(raw[ph(1, 16):])-0x100000), ErrOverlap},
		{"interp", edit(8, ph(2, 8), size), ErrTruncated},
		{"note", edit(8, ph(3, 32), size), ErrTruncated},
		{"dynamic address", edit(8, ph(7, 16), 0x10), ErrTruncated},
		{"dynamic size", edit(8, ph(7, 32), size), ErrTruncated},
		{"text offset", edit(8, shField(raw, 1, 24), size), ErrTruncated},
		{"text size", edit(8, shField(raw, 1, 32), size), ErrTruncated},
		{"text reaches past its segment", edit(8, shField(raw, 2, 32), le.Uint64(raw[ph(0, 32):])), ErrOutside},
		{"text in a segment without code", edit(4, ph(0, 4), 4), ErrOutside},
		{"text in no segment", edit(8, shField(raw, 1, 16), 0x10), ErrOutside},
		{"text in data", edit(8, shField(raw, 1, 16), le.Uint64(raw[ph(1, 16):])), ErrOutside},
		{"text not where its segment maps it", edit(8, shField(raw, 1, 16), text+4), ErrOutside},
		{"text overlaps", edit(8, shField(raw, 1, 32), 33), nil}, // 33 bytes are 8 words
		{"text overlaps by a word", edit(8, shField(raw, 1, 32), 36), ErrOverlap},
	}
	for _, row := range rows {
		in := row.edit(bytes.Clone(raw))
		m, err := New(in)
		if !errors.Is(err, row.want) || (err == nil) == (m == nil) {
			t.Errorf("New(%s) = %v, %v, want %v", row.what, m != nil, err, row.want)
		}
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("New(%s) = %T, want *Error", row.what, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	err := fault(numbered("segment", 2), 0x1f000, withValue(ErrTruncated, 0x1a000))
	want := "segment 2: offset 0x1f000: past the end of the file (0x1a000)"
	if err.Error() != want {
		t.Errorf("Error() = %q, want %q", err, want)
	}
	_, err = New(edit(2, 18, 62)(elftest.Build(full())))
	_, err63 := New(elftest.Build(full())[:63])
	if want := "header: offset 0x3f: past the end of the file"; err63 == nil || err63.Error() != want {
		t.Errorf("New(63 bytes) = %v, want %q", err63, want)
	}
	if want := "header: offset 0x12: not an AArch64 image (0x3e)"; err == nil || err.Error() != want {
		t.Errorf("New(x86-64) = %v, want %q", err, want)
	}
}

func TestGuardTurnsPanicsIntoErrors(t *testing.T) {
	f, err := guard(func() (*elf_reader.ELF64File, error) { panic("index out of range") })
	if f != nil || err == nil || err.Error() != "panic: index out of range" {
		t.Errorf("guard(panic) = %v, %v, want the panic as an error", f, err)
	}
}

// Without program headers nobody looks at their offset, except elf_reader.
func TestNewReportsWhatTheReaderRefuses(t *testing.T) {
	raw := edit(2, 56, 0)(elftest.Build(full()))
	raw = edit(8, 32, uint64(len(raw)))(raw)
	if _, err := New(raw); !errors.Is(err, ErrReader) {
		t.Errorf("New(e_phoff at the end, e_phnum 0) = %v, want %v", err, ErrReader)
	}
}
