package cachefmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// three tables, in the order of a pack.
func three() []*Table {
	a, b, c := sample(), large(5), sample()
	a.Key = Key{ID: "aaaaaaaa"}
	b.Key = Key{ID: "bbbbbbbb"}
	c.Key = Key{strings.Repeat("a", 32), true}
	return []*Table{a, b, c}
}

func pack(tb testing.TB, tables ...*Table) []byte {
	tb.Helper()
	var w bytes.Buffer
	if err := WritePack(&w, tables); err != nil {
		tb.Fatalf("WritePack() = %v", err)
	}
	return w.Bytes()
}

// unpack reads a whole pack.
func unpack(b []byte) ([]*Table, error) {
	p, err := NewPackReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	tables := make([]*Table, 0, 4)
	for t, err := range p.All() {
		if err != nil {
			return tables, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func compress(tb testing.TB, b []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstd.MinWindowSize))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(b, nil)
}

func decompress(tb testing.TB, b []byte) []byte {
	tb.Helper()
	z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	out, err := io.ReadAll(z)
	if err != nil {
		tb.Fatalf("decompress: %v", err)
	}
	return out
}

// payload is an unpacked pack, by hand.
func payload(tb testing.TB, count uint32, tables ...*Table) []byte {
	b := le.AppendUint32(le.AppendUint32([]byte(packMagic), 1), count)
	for _, t := range tables {
		enc := encode(tb, t)
		b = append(le.AppendUint32(b, uint32(len(enc))), enc...)
	}
	return b
}

func TestPackRoundTrip(t *testing.T) {
	for _, want := range [][]*Table{{}, three()[:1], three()} {
		b := pack(t, want...)
		got, err := unpack(b)
		if err != nil {
			t.Fatalf("unpack(%d tables) = %v", len(want), err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("unpack(WritePack()) differs (-want +got):\n%s", d)
		}
		if got, want := decompress(t, b), payload(t, uint32(len(want)), want...); !bytes.Equal(got, want) {
			t.Errorf("unpacked bytes are\n%x, want\n%x", got, want)
		}
	}
}

func TestPackIsDeterministic(t *testing.T) {
	tables := three()
	want := pack(t, tables...)
	for _, order := range [][]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		shuffled := []*Table{tables[order[0]], tables[order[1]], tables[order[2]]}
		before := slices.Clone(shuffled)
		if got := pack(t, shuffled...); !bytes.Equal(got, want) {
			t.Errorf("WritePack(order %v) differs from WritePack(sorted)", order)
		}
		if !slices.Equal(before, shuffled) {
			t.Errorf("WritePack(order %v) reordered its argument", order)
		}
	}
}

func TestPackReaderLen(t *testing.T) {
	p, err := NewPackReader(bytes.NewReader(pack(t, three()...)))
	if err != nil {
		t.Fatal(err)
	}
	if p.Len() != 3 {
		t.Errorf("Len() = %d, want 3", p.Len())
	}
	for range p.All() {
		break
	}
	got, err := p.Next()
	if d := cmp.Diff(three()[1], got); err != nil || d != "" {
		t.Errorf("Next() after one of All() = %v (-want +got):\n%s", err, d)
	}
	p.Close()
	p.Close()
	if got, err := p.Next(); err != errClosed || got != nil {
		t.Errorf("Next() after Close() = %v, %v, want %v", got, err, errClosed)
	}
}

func TestWritePackRefuses(t *testing.T) {
	broken := sample()
	broken.Window = 0
	tables := make([]*Table, MaxPackTables+1)
	for i := range tables {
		tables[i] = &Table{Key: Key{ID: fmt.Sprintf("%08d", i)}, Window: 1}
	}
	full := make([]*Table, MaxPackSize/MaxSize+1) // 2 MiB each
	for i := range full {
		full[i] = &Table{Key: Key{ID: fmt.Sprintf("%08d", i)}, Window: 1, Exec: make([]Range, MaxExec), Entries: make([]Entry, MaxEntries)}
		if i > 0 {
			full[i].Exec, full[i].Entries = full[0].Exec, full[0].Entries
		}
	}
	for _, row := range []struct {
		name   string
		tables []*Table
		want   error
	}{
		{"broken table", []*Table{sample(), {Key: Key{ID: "12345678"}}}, ErrWindow},
		{"only a broken table", []*Table{broken}, ErrWindow},
		{"one key twice", []*Table{sample(), three()[0], sample()}, ErrDuplicate},
		{"too many", tables, ErrCount},
		{"too large", full, ErrLong},
	} {
		if err := WritePack(io.Discard, row.tables); !errors.Is(err, row.want) {
			t.Errorf("%s: WritePack() = %v, want %v", row.name, err, row.want)
		}
	}
	if err := checkPack(tables[1:]); err != nil {
		t.Errorf("checkPack(%d tables) = %v, want nil", MaxPackTables, err)
	}
	for _, tables := range [][]*Table{three(), tables[1:]} { // fails at the end, and before
		if err := WritePack(brokenWriter{}, tables); !errors.Is(err, errBroken) {
			t.Errorf("WritePack(broken writer, %d tables) = %v, want %v", len(tables), err, errBroken)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	tables := three()
	size := func(n int) int64 { return int64(tables[n].size()) }
	second, third := 20+size(0), 20+size(0)+4+size(1)
	end := third + 4 + size(2)
	whole := func(at int, values ...byte) []byte { return put(at, values...)(payload(t, 3, tables...)) }
	for _, row := range []struct {
		name   string
		b      []byte
		want   error
		offset int64
		read   int // tables read before
	}{
		{"empty", nil, ErrShort, 0, 0},
		{"magic", whole(0, 0), ErrMagic, 0, 0},
		{"a table", encode(t, sample()), ErrMagic, 0, 0},
		{"version", whole(8, 2), ErrVersion, 8, 0},
		{"version high", whole(11, 1), ErrVersion, 8, 0},
		{"count", whole(12, 1, 0, 1), ErrCount, 12, 0},
		{"count at limit", whole(12, 0, 0, 1), ErrShort, end, 3},
		{"one table more", whole(12, 4), ErrShort, end, 3},
		{"one table less", whole(12, 2), ErrLong, third, 2},
		{"no table", whole(12, 0), ErrLong, 16, 0},
		{"byte behind", append(whole(0), 0), ErrLong, end, 3},
		{"size 99", whole(16, 99, 0), ErrShort, 16, 0},
		{"size too large", whole(16, 0x65, 8, 0x20), ErrLong, 16, 0},
		{"size huge", whole(16, 0xff, 0xff, 0xff, 0xff), ErrLong, 16, 0},
		{"size at limit", whole(16, 0x64, 8, 0x20), ErrShort, end, 0},
		{"size one more", whole(16, byte(size(0)+1)), ErrLong, 20 + size(0), 0},
		{"table damaged", whole(int(second)+4+40, 'x'), ErrCRC, third - 4, 1},
		{"one key twice", payload(t, 2, tables[0], tables[0]), ErrDuplicate, second + 4, 1},
		{"unsorted", payload(t, 2, tables[1], tables[0]), ErrUnsorted, 20 + size(1) + 4, 1},
		{"hash first", payload(t, 2, tables[2], tables[0]), ErrUnsorted, 20 + size(2) + 4, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := unpack(compress(t, row.b))
			wantFormatError(t, "unpack()", err, row.want, row.offset)
			if len(got) != row.read {
				t.Errorf("unpack() read %d tables before the error, want %d", len(got), row.read)
			}
		})
	}
}

func TestPackSizeLimits(t *testing.T) {
	if MaxSize != 0x20_0864 {
		t.Errorf("MaxSize = 0x%x, the rows \"size\" of TestPackRefuses think 0x200864", MaxSize)
	}
}

func TestPackTruncated(t *testing.T) {
	b := pack(t, three()...)
	for n := range b {
		got, err := unpack(b[:n])
		if !errors.Is(err, ErrShort) && !errors.Is(err, ErrZstd) {
			t.Errorf("unpack(first %d of %d bytes) = %v, %v, want %v or %v", n, len(b), got, err, ErrShort, ErrZstd)
		}
	}
	plain := payload(t, 3, three()...)
	for n := range plain {
		_, err := unpack(compress(t, plain[:n]))
		wantFormatError(t, fmt.Sprintf("unpack(first %d bytes, compressed)", n), err, ErrShort, int64(n))
	}
}

// A flipped bit is refused, or is in a zstd header bit without a meaning.
func TestPackDamaged(t *testing.T) {
	want := three()
	b := pack(t, want...)
	damaged := 0
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		got, err := unpack(b)
		if err == nil && cmp.Diff(want, got) != "" {
			t.Errorf("unpack(bit %d of byte 0x%x flipped) is another pack", i%8, i/8)
		}
		if errors.Is(err, ErrZstd) {
			damaged++
		}
		b[i/8] ^= 1 << (i % 8)
	}
	if damaged == 0 {
		t.Errorf("unpack() never says %v", ErrZstd)
	}
}

// 1 GiB of zeros is 100 KB of zstd; a window of 64 MiB would be 64 MiB of memory.
func TestPackBombs(t *testing.T) {
	var zeros bytes.Buffer
	z, err := zstd.NewWriter(&zeros, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	z.Write(payload(t, MaxPackTables))
	block := make([]byte, 1<<20)
	for range 16 {
		z.Write(block)
	}
	z.Close()
	_, err = unpack(zeros.Bytes())
	wantFormatError(t, "unpack(zeros)", err, ErrShort, 16)

	var wide bytes.Buffer
	z, err = zstd.NewWriter(&wide, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	z.Write(payload(t, 0))
	z.Flush()
	z.Close()
	_, err = unpack(wide.Bytes())
	wantFormatError(t, "unpack(window of 16 MiB)", err, ErrZstd, 0)
}

// The whole is limited even where each table is fine.
func TestPackTotal(t *testing.T) {
	p := &PackReader{offset: MaxPackSize - 3}
	_, err := p.take(4)
	wantFormatError(t, "take(4)", err, ErrLong, MaxPackSize-3)
}

// Reading must not need more than the tables asked for.
func TestPackStreams(t *testing.T) {
	plain := payload(t, 3, three()...)
	r, w := io.Pipe()
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	first := 20 + three()[0].size()
	go func() {
		z.Write(plain[:first])
		z.Flush() // and no more, until the reader has its table
	}()
	p, err := NewPackReader(r)
	if err != nil {
		t.Fatalf("NewPackReader() = %v", err)
	}
	defer p.Close()
	got, err := p.Next()
	if d := cmp.Diff(three()[0], got); err != nil || d != "" {
		t.Errorf("Next() = %v (-want +got):\n%s", err, d)
	}
	w.CloseWithError(errBroken)
	_, err = p.Next()
	if err == nil || !strings.Contains(err.Error(), errBroken.Error()) {
		t.Errorf("Next() on a broken stream = %v, want %v", err, errBroken)
	}
	if _, again := p.Next(); again != err {
		t.Errorf("Next() again = %v, want the same error", again)
	}
}
