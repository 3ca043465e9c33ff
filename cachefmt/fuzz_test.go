// The oracle is that an error and a value exclude each other, and that what was
// accepted is encoded again to the same bytes. Bytes that a fuzzer changes never
// have the right checksum, so each input is also tried with its checksum put
// right: the rules behind it are where the mistakes would be.

package cachefmt

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func FuzzDecode(f *testing.F) {
	for _, r := range refusals {
		f.Add(r.encoding())
	}
	f.Add(encode(f, sample()))
	f.Add(encode(f, top()))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzDecode(t, b)
		fuzzDecode(t, seal(b))
	})
}

func fuzzDecode(t *testing.T, b []byte) {
	table, err := Decode(b)
	if (table == nil) == (err == nil) {
		t.Fatalf("Decode() = %v, %v, want one of them", table, err)
	}
	if err != nil {
		var f *FormatError
		if !errors.As(err, &f) || f.Offset < 0 || f.Offset > int64(len(b)) {
			t.Fatalf("Decode(%d bytes) = %v, want a FormatError within them", len(b), err)
		}
		return
	}
	if again, err := table.Encode(); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("Encode(Decode()) = %x, %v, want %x", again, err, b)
	}
	if table.Key.Hashed || codeSize(table) > 1<<20 {
		return // no image can be made up, or only a large one
	}
	if err := validateWith(table, imageOf(table), fake(sitesOf(table))); err != nil {
		t.Fatalf("Validate(Decode()) = %v, want nil", err)
	}
}

func codeSize(t *Table) (n uint64) {
	for _, r := range t.Exec {
		n += uint64(r.Size)
	}
	return n
}

// FuzzPack tries its input as a pack and as the content of one.
func FuzzPack(f *testing.F) {
	f.Add(payload(f, 3, three()...))
	f.Add(payload(f, 0))
	f.Add(payload(f, 4, three()...))
	f.Add(pack(f, three()...))
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzPack(t, b)
		fuzzPack(t, z.EncodeAll(b, nil))
	})
}

func fuzzPack(t *testing.T, b []byte) {
	tables, err := unpack(b)
	if err != nil {
		var f *FormatError
		if !errors.As(err, &f) || f.Offset < 0 || f.Offset > MaxPackSize {
			t.Fatalf("unpack() = %v, want a FormatError within the limits", err)
		}
		return
	}
	again := pack(t, tables...)
	if !bytes.Equal(decompress(t, again), decompress(t, b)) {
		t.Fatalf("WritePack(unpack()) has another content")
	}
	got, err := unpack(again)
	if err != nil {
		t.Fatalf("unpack(WritePack(unpack())) = %v", err)
	}
	if d := cmp.Diff(tables, got); d != "" {
		t.Fatalf("unpack(WritePack(unpack())) differs (-want +got):\n%s", d)
	}
}
