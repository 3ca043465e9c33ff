// One table that has everything (every kind, every flag, a bridge, three
// ranges), and the ways to break it. The same list of broken encodings feeds the
// decoder, the encoder, the C reader and the fuzz targets.

package cachefmt

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"svcrelay/scanner"
	"svcrelay/scanner/a64"
)

const (
	movzOpenat a64.Word = 0xd2800708 // mov x8, #56
	strWord    a64.Word = 0xf9000be1 // str x1, [sp, #16]
	blWord     a64.Word = 0x94000010 // bl .+64
)

// sample returns a new table that keeps every rule.
func sample() *Table {
	return &Table{
		Key:        Key{ID: "\xd1\xa3build-id of 20 by."},
		Recogniser: 3,
		Window:     8,
		Exec:       []Range{{0x400, 0x20}, {0x1000, 0x800}, {0x1800, 0x100}},
		Entries: []Entry{
			{Svc: 0x1004, Hook: 0x1000, Word: movzOpenat, Live: 0x3fff_fffe, Number: 56, Distance: 1, Kind: scanner.Svc, Flags: scanner.Proven},
			{Svc: 0x1040, Hook: 0x1040, Word: a64.SVC0, Live: a64.NZCV, Number: 79, Distance: 8, Kind: scanner.Svc,
				Flags: scanner.Proven | scanner.AsyncCancel | scanner.EdgeInWindow | scanner.HookIsSvc},
			{Svc: 0x1120, Hook: 0x1100, Word: a64.BTIc, Start: 0x1104, End: 0x1128, Number: NoNumber, Kind: scanner.Bridge, Flags: scanner.BridgeEntry},
			{Svc: 0x1200, Hook: 0x11fc, Word: strWord, Live: 1, Number: NoNumber, Kind: scanner.Bridge},
			{Svc: 0x1300, Hook: 0x1300, Word: blWord, Number: 48, Distance: 3, Kind: scanner.Call, Flags: scanner.Proven | scanner.ViaBridge},
			{Svc: 0x17fc, Hook: 0x17f8, Word: strWord, Number: 0, Distance: 2, Kind: scanner.Svc},
			{Svc: 0x1804, Hook: 0x1800, Word: strWord, Number: MaxNumber, Distance: 1, Kind: scanner.Svc, Flags: scanner.Proven},
		},
	}
}

// Where things lie in sample's encoding.
const (
	sampleRanges  = 96
	sampleEntries = 120
	sampleCRC     = 344
	sampleSize    = 348
)

// large returns a table of a libc's size.
func large(entries int) *Table {
	t := &Table{Key: Key{ID: strings.Repeat("k", 20)}, Window: 8, Exec: []Range{{0x20000, 0x2000}, {0x27000, 0x120000}, {0x160000, 0x1000}}}
	for i := range entries {
		svc := uint32(0x27004 + i*0x1000/4*4)
		t.Entries = append(t.Entries, Entry{Svc: svc, Hook: svc - 4, Word: movzOpenat, Live: 0x3ffffffe,
			Number: 56, Distance: 1, Kind: scanner.Svc, Flags: scanner.Proven})
	}
	return t
}

func encode(tb testing.TB, t *Table) []byte {
	tb.Helper()
	b, err := t.Encode()
	if err != nil {
		tb.Fatalf("Encode() = %v", err)
	}
	return b
}

// seal returns b with the right checksum.
func seal(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) >= crcSize {
		le.PutUint32(b[len(b)-crcSize:], checksum(b[:len(b)-crcSize]))
	}
	return b
}

// A refusal is one way to break sample, in a table value or in its bytes.
type refusal struct {
	name   string
	value  func(t *Table)
	bytes  func(b []byte) []byte // before sealing
	want   error
	offset int64
}

func (r refusal) encoding() []byte {
	t := sample()
	if r.value != nil {
		r.value(t)
	}
	b := t.appendUnchecked(nil)
	if r.bytes != nil {
		b = seal(r.bytes(b))
	}
	return b
}

// entry breaks entry i.
func entry(i int, f func(e *Entry)) func(t *Table) {
	return func(t *Table) { f(&t.Entries[i]) }
}

// put stores bytes at an offset.
func put(at int, values ...byte) func([]byte) []byte {
	return func(b []byte) []byte {
		copy(b[at:], values)
		return b
	}
}

// at is the offset of a field of an entry of sample.
func at(i, field int) int64 { return int64(sampleEntries + 32*i + field) }

var refusals = slices.Concat(headerRefusals, rangeRefusals, fieldRefusals, placeRefusals)

var headerRefusals = []refusal{
	{"magic", nil, put(0, 'x'), ErrMagic, 0},
	{"magic as text", nil, put(5, '\n', 0x1a), ErrMagic, 0},
	{"version 0", nil, put(8, 0), ErrVersion, 8},
	{"version 2", nil, put(8, 2), ErrVersion, 8},
	{"version high", nil, put(11, 1), ErrVersion, 8},
	{"exec count", nil, put(20, 0x01, 0x01), ErrCount, 20},
	{"exec count high", nil, put(20, 0xff, 0xff, 0xff, 0xff), ErrCount, 20},
	{"entry count", nil, put(24, 0x01, 0x00, 0x01), ErrCount, 24},
	{"entry count high", nil, put(24, 0xff, 0xff, 0xff, 0xff), ErrCount, 24},
	{"exec count at limit", nil, put(20, 0x00, 0x01), ErrShort, sampleSize},
	{"entry count at limit", nil, put(24, 0x00, 0x00, 0x01), ErrShort, sampleSize},
	{"one entry more", nil, put(24, 8), ErrShort, sampleSize},
	{"one entry less", nil, put(24, 6), ErrLong, sampleSize - 32},
	{"one byte more", nil, func(b []byte) []byte { return append(b, 0) }, ErrLong, sampleSize},
	{"one byte less", nil, func(b []byte) []byte { return b[:sampleSize-1] }, ErrShort, sampleSize - 1},
	{"header less one byte, bad count", nil, func(b []byte) []byte { return put(20, 0xff, 0xff)(b)[:99] }, ErrShort, 99},
	{"seven other bytes", nil, func(b []byte) []byte { return []byte("not one") }, ErrShort, 7},
	{"eleven other bytes", nil, func(b []byte) []byte { return []byte("not a table") }, ErrMagic, 0},
	{"unknown header flag", nil, put(16, 2), ErrReserved, 16},
	{"high header flag", nil, put(17, 0x80), ErrReserved, 16},
	{"header reserved", nil, put(31, 1), ErrReserved, 28},
	{"window 0", func(t *Table) { t.Window = 0 }, nil, ErrWindow, 14},
	{"window 256", func(t *Table) { t.Window = 256 }, nil, ErrWindow, 14},
	{"key of 7", nil, put(18, 7), ErrKey, 18},
	{"key of 65", nil, put(18, 65), ErrKey, 18},
	{"hash of 20", func(t *Table) { t.Key.Hashed = true }, nil, ErrKey, 18},
	{"hash of 31", func(t *Table) { t.Key = Key{strings.Repeat("h", 31), true} }, nil, ErrKey, 18},
	{"hash of 33", func(t *Table) { t.Key = Key{strings.Repeat("h", 33), true} }, nil, ErrKey, 18},
	{"key padding first", nil, put(52, 1), ErrReserved, 52},
	{"key padding last", nil, put(95, 1), ErrReserved, 95},
}

// setRange replaces range i.
func setRange(i int, r Range) func(t *Table) { return func(t *Table) { t.Exec[i] = r } }

var rangeRefusals = []refusal{
	{"range misaligned", setRange(1, Range{0x1002, 0x800}), nil, ErrMisaligned, sampleRanges + 8},
	{"range size misaligned", setRange(0, Range{0x400, 0x1f}), nil, ErrMisaligned, sampleRanges},
	{"range empty", setRange(0, Range{0x400, 0}), nil, ErrOutOfRange, sampleRanges},
	{"range behind 4 GiB", setRange(2, Range{0xffff_fff0, 0x14}), nil, ErrOutOfRange, sampleRanges + 16},
	{"range unsorted", setRange(1, Range{0x3fc, 4}), nil, ErrUnsorted, sampleRanges + 8},
	{"range duplicate", setRange(1, Range{0x400, 0x20}), nil, ErrDuplicate, sampleRanges + 8},
	{"range overlapping", setRange(1, Range{0x41c, 0x1000}), nil, ErrOverlap, sampleRanges + 8},
	{"range inside the last", setRange(2, Range{0x1004, 4}), nil, ErrOverlap, sampleRanges + 16},
}

var fieldRefusals = []refusal{
	{"entry reserved", nil, put(sampleEntries+64+30, 1), ErrReserved, at(2, 30)},
	{"entry reserved high", nil, put(sampleEntries+31, 0x80), ErrReserved, at(0, 30)},
	{"kind 0", entry(0, func(e *Entry) { e.Kind = 0 }), nil, ErrKind, at(0, 27)},
	{"kind 4", entry(6, func(e *Entry) { e.Kind = 4 }), nil, ErrKind, at(6, 27)},
	{"unknown flag", entry(0, func(e *Entry) { e.Flags |= 0x40 }), nil, ErrFlags, at(0, 28)},
	{"high flag", entry(0, func(e *Entry) { e.Flags |= 0x8000 }), nil, ErrFlags, at(0, 28)},
	{"via-bridge svc", entry(0, func(e *Entry) { e.Flags |= scanner.ViaBridge }), nil, ErrFlags, at(0, 28)},
	{"via-bridge bridge", entry(3, func(e *Entry) { e.Flags |= scanner.ViaBridge }), nil, ErrFlags, at(3, 28)},
	{"bridge-entry svc", entry(0, func(e *Entry) { e.Flags |= scanner.BridgeEntry }), nil, ErrFlags, at(0, 28)},
	{"bridge-entry call", entry(4, func(e *Entry) { e.Flags |= scanner.BridgeEntry }), nil, ErrFlags, at(4, 28)},
	{"hook-is-svc call", entry(4, func(e *Entry) { e.Flags |= scanner.HookIsSvc }), nil, ErrFlags, at(4, 28)},
	{"hook-is-svc bridge-entry", entry(2, func(e *Entry) { e.Flags |= scanner.HookIsSvc }), nil, ErrFlags, at(2, 28)},
	{"number too large", entry(0, func(e *Entry) { e.Number = MaxNumber + 1 }), nil, ErrNumber, at(0, 24)},
	{"number of a call too large", entry(4, func(e *Entry) { e.Number = MaxNumber + 1 }), nil, ErrNumber, at(4, 24)},
	{"svc without number", entry(0, func(e *Entry) { e.Number = NoNumber }), nil, ErrNumber, at(0, 24)},
	{"call with a number too big", entry(4, func(e *Entry) { e.Number = MaxNumber + 1 }), nil, ErrNumber, at(4, 24)},
	{"bridge with number", entry(2, func(e *Entry) { e.Number = 56 }), nil, ErrNumber, at(2, 24)},
	{"svc without distance", entry(0, func(e *Entry) { e.Distance = 0 }), nil, ErrDistance, at(0, 26)},
	{"distance beyond window", entry(1, func(e *Entry) { e.Distance = 9 }), nil, ErrDistance, at(1, 26)},
	{"bridge with distance", entry(2, func(e *Entry) { e.Distance = 1 }), nil, ErrDistance, at(2, 26)},
	{"svc misaligned", entry(0, func(e *Entry) { e.Svc++ }), nil, ErrMisaligned, at(0, 0)},
	{"hook misaligned", entry(0, func(e *Entry) { e.Hook += 2 }), nil, ErrMisaligned, at(0, 4)},
	{"start misaligned", entry(2, func(e *Entry) { e.Start++ }), nil, ErrMisaligned, at(2, 16)},
	{"end misaligned", entry(2, func(e *Entry) { e.End += 3 }), nil, ErrMisaligned, at(2, 20)},
}

// move puts an svc and its hook elsewhere.
func move(i int, svc uint32) func(t *Table) {
	return entry(i, func(e *Entry) { e.Svc, e.Hook = svc, svc-4 })
}

var placeRefusals = []refusal{
	{"duplicate", move(1, 0x1004), nil, ErrDuplicate, at(1, 0)},
	{"unsorted", move(6, 0x17f8), nil, ErrUnsorted, at(6, 0)},
	{"svc before all ranges", move(0, 0x3fc), nil, ErrOutOfRange, at(0, 0)},
	{"svc at 0, hook at the top", move(0, 0), nil, ErrOutOfRange, at(0, 0)},
	{"svc between ranges", move(0, 0x420), nil, ErrOutOfRange, at(0, 0)},
	{"svc behind all ranges", move(6, 0x1900), nil, ErrOutOfRange, at(6, 0)},
	{"hook before the range", move(0, 0x1000), nil, ErrOutOfRange, at(0, 4)},
	{"hook in another range", move(6, 0x1800), nil, ErrOutOfRange, at(6, 4)},
	{"hook two words before", entry(6, func(e *Entry) { e.Svc += 4 }), nil, ErrHook, at(6, 4)},
	{"hook is svc without flag", entry(0, func(e *Entry) { e.Hook = e.Svc }), nil, ErrHook, at(0, 4)},
	{"hook before svc with flag", entry(1, func(e *Entry) { e.Hook -= 4 }), nil, ErrHook, at(1, 4)},
	{"hook before call", entry(4, func(e *Entry) { e.Hook -= 4 }), nil, ErrHook, at(4, 4)},
	{"hook behind svc", entry(0, func(e *Entry) { e.Hook = e.Svc + 4 }), nil, ErrHook, at(0, 4)},
	{"hook in bridge range", entry(2, func(e *Entry) { e.Hook = e.Start }), nil, ErrHook, at(2, 4)},
	{"start on svc", entry(0, func(e *Entry) { e.Start = 0x1004 }), nil, ErrBridge, at(0, 16)},
	{"end on svc", entry(0, func(e *Entry) { e.End = 0x1008 }), nil, ErrBridge, at(0, 16)},
	{"svc before start", entry(2, func(e *Entry) { e.Start = 0x1124 }), nil, ErrBridge, at(2, 16)},
	{"svc at end", entry(2, func(e *Entry) { e.End = 0x1120 }), nil, ErrBridge, at(2, 16)},
	{"end behind the range", entry(2, func(e *Entry) { e.End = 0x1804 }), nil, ErrOutOfRange, at(2, 20)},
	{"hook is the last entry's word", move(5, 0x1304), nil, ErrOverlap, at(5, 4)},
	{"bridge hook over the last svc", entry(2, func(e *Entry) { e.Hook = 0x1040 }), nil, ErrOverlap, at(2, 4)},
	{"svc in bridge range", entry(2, func(e *Entry) { e.End = 0x1200 }), nil, ErrOverlap, at(3, 4)},
	{"call on the last svc", entry(4, func(e *Entry) { e.Svc, e.Hook = 0x1200, 0x1200 }), nil, ErrDuplicate, at(4, 0)},
}
