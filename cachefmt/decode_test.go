package cachefmt

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

// wantFormatError fails unless err is a FormatError with that reason and offset.
func wantFormatError(t *testing.T, what string, err, want error, offset int64) {
	t.Helper()
	var f *FormatError
	if !errors.As(err, &f) || !errors.Is(err, want) || f.Offset != offset {
		t.Errorf("%s = %v, want %v at 0x%x", what, err, want, offset)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			got, err := Decode(r.encoding())
			wantFormatError(t, "Decode()", err, r.want, r.offset)
			if got != nil {
				t.Errorf("Decode() = %v with an error, want nil", got)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, r := range refusals {
		if r.bytes != nil {
			continue // not expressible as a Table
		}
		t.Run(r.name, func(t *testing.T) {
			table := sample()
			r.value(table)
			got, err := table.Append([]byte("before"))
			wantFormatError(t, "Append()", err, r.want, r.offset)
			if string(got) != "before" {
				t.Errorf("Append() = %q with an error, want only what was there", got)
			}
		})
	}
}

// Every reason must be produced by some case: by refusals, or by the tests named.
func TestEveryErrorIsTested(t *testing.T) {
	elsewhere := []error{
		ErrCRC,  // TestDecodeFlips
		ErrZstd, // TestPackDamaged
	}
	for _, want := range allErrors {
		produced := slices.ContainsFunc(refusals, func(r refusal) bool { return r.want == want })
		if produced == slices.Contains(elsewhere, want) {
			t.Errorf("%v: in refusals = %t, in elsewhere = %t, want exactly one", want, produced, !produced)
		}
	}
}

var allErrors = []error{ErrShort, ErrMagic, ErrVersion, ErrCount, ErrLong, ErrCRC, ErrReserved, ErrWindow, ErrKey,
	ErrMisaligned, ErrOutOfRange, ErrUnsorted, ErrDuplicate, ErrOverlap, ErrKind, ErrFlags, ErrNumber, ErrDistance,
	ErrHook, ErrBridge, ErrZstd}

func TestErrorsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, err := range allErrors {
		if seen[err.Error()] {
			t.Errorf("two errors say %q", err)
		}
		seen[err.Error()] = true
	}
}

func TestErrorText(t *testing.T) {
	r := refusals[slices.IndexFunc(refusals, func(r refusal) bool { return r.name == "number too large" })]
	_, err := Decode(r.encoding())
	want := "at 0x90: bad number: entry 0: 1024 for kind 1"
	if err == nil || err.Error() != want {
		t.Errorf("Decode() = %v, want %s", err, want)
	}
}

func TestDecodeTruncated(t *testing.T) {
	b := encode(t, sample())
	for n := range b {
		_, err := Decode(b[:n:n])
		wantFormatError(t, "Decode(truncated)", err, ErrShort, int64(n))
	}
}

// There is no bit without a meaning.
func TestDecodeFlips(t *testing.T) {
	b := encode(t, sample())
	crc := 0
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		got, err := Decode(b)
		if err == nil {
			t.Errorf("Decode(bit %d of byte 0x%x flipped) = %v, want an error", i%8, i/8, got)
		}
		if errors.Is(err, ErrCRC) {
			crc++
		}
		b[i/8] ^= 1 << (i % 8)
	}
	// All but magic, version and the two counts are left to the checksum.
	if want := 8 * (len(b) - 8 - 4 - 4 - 4); crc != want {
		t.Errorf("Decode() = %v for %d flips, want %d", ErrCRC, crc, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for name, table := range accepted() {
		t.Run(name, func(t *testing.T) {
			b := encode(t, table)
			got, err := Decode(b)
			if err != nil {
				t.Fatalf("Decode(Encode()) = %v", err)
			}
			if !reflect.DeepEqual(table, got) { // cmp.Diff of 65536 entries takes a second
				t.Errorf("Decode(Encode(t)) differs from t (-want +got):\n%s", cmp.Diff(table, got))
			}
			if again := encode(t, got); !bytes.Equal(again, b) {
				t.Errorf("Encode(Decode(b)) = %x, want %x", again, b)
			}
		})
	}
}

// accepted are tables at the inner side of every limit.
func accepted() map[string]*Table {
	with := func(f func(t *Table)) *Table {
		t := sample()
		f(t)
		return t
	}
	return map[string]*Table{
		"sample":          sample(),
		"no entries":      with(func(t *Table) { t.Entries = nil }),
		"no code":         {Key: Key{ID: "12345678"}, Window: 1},
		"window 255":      with(func(t *Table) { t.Window = 255; t.Entries[1].Distance = 255 }),
		"key of 64":       with(func(t *Table) { t.Key.ID = strings.Repeat("k", 64) }),
		"hash":            with(func(t *Table) { t.Key = Key{strings.Repeat("h", 32), true} }),
		"far call":        with(func(t *Table) { t.Entries[4].Distance = 255 }),
		"any recogniser":  with(func(t *Table) { t.Recogniser = 0xffff }),
		"svc on start":    with(func(t *Table) { t.Entries[2].Start = 0x1120 }),
		"end behind svc":  with(func(t *Table) { t.Entries[2].End = 0x1124 }),
		"end meets hook":  with(func(t *Table) { t.Entries[2].End = 0x11fc }),
		"hook meets end":  with(func(t *Table) { t.Entries[2].Hook = 0x1044 }),
		"end of range":    with(func(t *Table) { t.Entries = t.Entries[:3]; t.Entries[2].End = 0x1800 }),
		"most ranges":     manyRanges(MaxExec),
		"most entries":    large(0).fill(MaxEntries),
		"top of 4 GiB":    top(),
		"all of 4 GiB":    {Key: Key{ID: "12345678"}, Window: 8, Exec: []Range{{0, 0xffff_fffc}}},
		"svc is word one": {Key: Key{ID: "12345678"}, Window: 8, Exec: []Range{{0, 8}}, Entries: []Entry{{Svc: 4, Distance: 1, Kind: scanner.Svc}}},
	}
}

func manyRanges(n int) *Table {
	t := &Table{Key: Key{ID: "12345678"}, Window: 8}
	for i := range n {
		t.Exec = append(t.Exec, Range{uint32(i) * 8, 8})
		t.Entries = append(t.Entries, Entry{Svc: uint32(i)*8 + 4, Hook: uint32(i) * 8, Distance: 1, Kind: scanner.Svc})
	}
	return t
}

func (t *Table) fill(n int) *Table {
	for i := range n {
		t.Entries = append(t.Entries, Entry{Svc: 0x27004 + uint32(i)*8, Hook: 0x27000 + uint32(i)*8, Distance: 1, Kind: scanner.Svc})
	}
	return t
}

// top has a range that ends at 4 GiB and an svc in its last word.
func top() *Table {
	return &Table{Key: Key{ID: "12345678"}, Window: 8, Exec: []Range{{0xffff_fff8, 8}},
		Entries: []Entry{{Svc: 0xffff_fffc, Hook: 0xffff_fff8, Distance: 1, Kind: scanner.Svc}}}
}

func TestCountLimits(t *testing.T) {
	_, err := manyRanges(MaxExec + 1).Encode()
	wantFormatError(t, "Encode(257 ranges)", err, ErrCount, 20)
	_, err = large(0).fill(MaxEntries + 1).Encode()
	wantFormatError(t, "Encode(65537 entries)", err, ErrCount, 24)
	_, err = (&Table{Key: Key{ID: "1234567"}, Window: 1}).Encode()
	wantFormatError(t, "Encode(key of 7)", err, ErrKey, 18)
	_, err = (&Table{Key: Key{ID: strings.Repeat("k", 65)}, Window: 1}).Encode()
	wantFormatError(t, "Encode(key of 65)", err, ErrKey, 18)
}

// The word before offset 0 would be the last one of 4 GiB.
func TestHookDoesNotWrap(t *testing.T) {
	table := top()
	table.Exec = []Range{{0, 0xffff_fffc}}
	table.Entries[0].Svc, table.Entries[0].Hook = 0, 0xffff_fffc
	table.Exec = append(table.Exec, Range{0xffff_fffc, 4})
	_, err := table.Encode()
	wantFormatError(t, "Encode(hook behind range)", err, ErrOutOfRange, 96+16+4)

	e := Entry{Svc: 0, Hook: 0xffff_fffc, Kind: scanner.Svc}
	if hookFits(e) {
		t.Errorf("hookFits(%v) = true, want false", e)
	}
}

func TestViewShowsTheTable(t *testing.T) {
	want := sample()
	v, err := Open(encode(t, want))
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	got := &Table{Key: v.Key(), Recogniser: v.Recogniser(), Window: v.Window(), Exec: slices.Collect(v.Exec())}
	for i, e := range v.All() {
		if e != v.Entry(i) {
			t.Errorf("All() yields %v at %d, Entry(%d) = %v", e, i, i, v.Entry(i))
		}
		got.Entries = append(got.Entries, e)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("view differs from the table (-want +got):\n%s", d)
	}
	if v.Len() != len(want.Entries) {
		t.Errorf("Len() = %d, want %d", v.Len(), len(want.Entries))
	}
	for range v.Exec() {
		break
	}
	for range v.All() {
		break
	}
}

func TestDecodeKeepsNothing(t *testing.T) {
	b := encode(t, sample())
	got, err := Decode(b)
	if err != nil {
		t.Fatalf("Decode() = %v", err)
	}
	clear(b)
	if d := cmp.Diff(sample(), got); d != "" {
		t.Errorf("table changed with its bytes (-want +got):\n%s", d)
	}
}

func TestOpenAllocatesNothing(t *testing.T) {
	b := encode(t, large(100))
	words := uint64(0)
	n := testing.AllocsPerRun(100, func() {
		v, err := Open(b)
		if err != nil {
			t.Fatalf("Open() = %v", err)
		}
		for _, e := range v.All() {
			words += uint64(e.Word)
		}
		for r := range v.Exec() {
			words += uint64(r.Size)
		}
	})
	if n != 0 {
		t.Errorf("Open and iterate: %v allocations, want 0", n)
	}
}

// Hostile counts must not make Decode allocate what they ask for.
func TestRefusalIsCheap(t *testing.T) {
	b := encode(t, sample())
	put(24, 0, 0, 1)(b) // 65536 entries, 2 MiB
	if n := testing.AllocsPerRun(10, func() { Decode(b) }); n > 10 {
		t.Errorf("Decode(hostile count): %v allocations, want at most 10", n)
	}
}

func BenchmarkOpen(b *testing.B) {
	data := encode(b, large(80))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := encode(b, large(80))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	table, buf := large(80), make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := table.Append(buf); err != nil {
			b.Fatal(err)
		}
	}
}
