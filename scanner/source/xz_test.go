package source

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"
)

var xzDefault = xz.WriterConfig{}

func unxz(data []byte) ([]byte, error) {
	return io.ReadAll(newXZReader(bufio.NewReader(bytes.NewReader(data)), int64(defaultLimits.window)))
}

func noise(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 28)
	}
	return b
}

// TestXZ reads what the library's writer writes, and what it cannot.
func TestXZ(t *testing.T) {
	data := noise(20_000)
	one := xzOf(t, data, xz.WriterConfig{})
	small := []byte("small")
	for _, c := range []struct {
		name string
		in   []byte
		want []byte
	}{
		{"crc64", one, data},
		{"crc32", xzOf(t, data, xz.WriterConfig{CheckSum: xz.CRC32}), data},
		{"sha256", xzOf(t, data, xz.WriterConfig{CheckSum: xz.SHA256}), data},
		{"no check", xzOf(t, data, xz.WriterConfig{NoCheckSum: true}), data},
		{"blocks", xzOf(t, data, xz.WriterConfig{BlockSize: 1999, DictCap: 4096}), data},
		{"small dictionary", xzOf(t, data, xz.WriterConfig{DictCap: 4096}), data},
		{"two streams", append(bytes.Clone(one), one...), append(bytes.Clone(data), data...)},
		{"padding", append(append(bytes.Clone(one), make([]byte, 8)...), one...), append(bytes.Clone(data), data...)},
		{"padding at the end", append(bytes.Clone(one), make([]byte, 4)...), data},
		{"nothing", xzOf(t, nil, xz.WriterConfig{}), nil},
		{"by hand", xzParts{filter: lzma2(22), body: small}.bytes(), small},
		{"declared sizes", xzParts{filter: lzma2(22), body: small, flags: 0xc0, declared: []byte{9, 5}}.bytes(), small},
		{"an empty block", xzParts{filter: lzma2(22)}.bytes(), nil},
		{"hundred blocks", xzParts{filter: lzma2(0), body: small, repeat: 100}.bytes(), bytes.Repeat(small, 100)},
	} {
		got, err := unxz(c.in)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, %v, want %d", c.name, len(got), err, len(c.want))
		}
	}
}

// TestXZRefused has the valid files that are not decoded, and the wrong ones that
// no flipped bit produces because their CRCs are right.
func TestXZRefused(t *testing.T) {
	small := []byte("small")
	good := xzParts{filter: lzma2(22), body: small}.bytes()
	padding := bytes.Clone(good)
	padding[len(good)-21] = 1
	// tail gives good the last n bytes of another file, which has its own CRCs.
	tail := func(n int, p xzParts) []byte {
		p.filter = lzma2(22)
		other := p.bytes()
		return append(bytes.Clone(good[:len(good)-n]), other[len(other)-n:]...)
	}
	for _, c := range []struct {
		name string
		in   []byte
		want Reason
	}{
		{"BCJ", xzParts{filter: []byte{0x0a, 0, 0}, body: small}.bytes(), Unsupported},
		{"two filters", xzParts{flags: 1, filter: append([]byte{3, 1, 0}, lzma2(22)...), body: small}.bytes(), Unsupported},
		{"delta", xzParts{filter: []byte{3, 1, 0}, body: small}.bytes(), Unsupported},
		{"a reserved flag", xzParts{flags: 4, filter: lzma2(22), body: small}.bytes(), Unsupported},
		{"more in the header", xzParts{filter: append(lzma2(22), 1), body: small}.bytes(), Unsupported},
		{"header shorter than its fields", append(bytes.Clone(good[:12]), append([]byte{1, 0xc0, 9, 5}, append(lzma2(22), good...)...)...), Corrupt},
		{"padding of a block", padding, Corrupt},
		{"check 2", xzParts{check: 2, filter: lzma2(22), body: small}.bytes(), Unsupported},
		{"check 16", xzParts{check: 16, filter: lzma2(22), body: small}.bytes(), Unsupported},
		{"dictionary 41", xzParts{filter: lzma2(41), body: small}.bytes(), Corrupt},
		{"declares too little", xzParts{filter: lzma2(22), body: small, flags: 0x80, declared: []byte{4}}.bytes(), Corrupt},
		{"declares too much", xzParts{filter: lzma2(22), body: small, flags: 0x80, declared: []byte{6}}.bytes(), Corrupt},
		{"declares other packed", xzParts{filter: lzma2(22), body: small, flags: 0x40, declared: []byte{8}}.bytes(), Corrupt},
		{"long integer", xzParts{filter: lzma2(22), body: small, flags: 0x80, declared: []byte{0x85, 0}}.bytes(), Corrupt},
		{"endless integer", xzParts{filter: lzma2(22), body: small, flags: 0x80, declared: bytes.Repeat([]byte{0xff}, 12)}.bytes(), Corrupt},
		{"other stream after it", append(bytes.Clone(good), "\xfd7zXY\x00......"...), Corrupt},
		{"another's footer", tail(12, xzParts{body: small, repeat: 9}), Corrupt},
		{"another check's footer", tail(12, xzParts{body: small, check: 1}), Corrupt},
		{"another's index", tail(20, xzParts{body: []byte("smaller")}), Corrupt},
		{"an index of two blocks", append(bytes.Clone(good[:len(good)-20]), withCRC([]byte{0, 2, 0, 0})...), Corrupt},
		{"three bytes of padding", append(bytes.Clone(good), 0, 0, 0), Truncated},
	} {
		if _, err := unxz(c.in); err == nil || reasonOf(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestXZDictionaries: every block may ask for a dictionary, but not for ever for
// nothing. 16 is 1 MiB; 4096 is the least that is allocated.
func TestXZDictionaries(t *testing.T) {
	for _, c := range []struct {
		parts xzParts
		ok    bool
	}{
		{xzParts{filter: lzma2(16), repeat: 63}, true},
		{xzParts{filter: lzma2(16), repeat: 64}, true},
		{xzParts{filter: lzma2(16), repeat: 65}, false},
		{xzParts{filter: lzma2(16), repeat: 65, flags: 0x80, declared: []byte{0}}, true},
		{xzParts{filter: lzma2(16), repeat: 70, body: noise(4096)}, true},
	} {
		_, err := io.ReadAll(newXZReader(bufio.NewReader(bytes.NewReader(c.parts.bytes())), 1<<20))
		if (err == nil) != c.ok || err != nil && reasonOf(err) != Bomb {
			t.Errorf("%d blocks of %d bytes: %v, want ok %v", c.parts.repeat, len(c.parts.body), err, c.ok)
		}
	}
}

// TestXZFlips: no byte of an xz file can change what is decoded unnoticed. (A few
// say how long a chunk is, twice, and the decoder believes the other one.)
func TestXZFlips(t *testing.T) {
	data := noise(1200)
	good := xzOf(t, data, xz.WriterConfig{BlockSize: 400, DictCap: 4096})
	silent := 0
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		got, err := unxz(bad)
		if err != nil {
			continue
		}
		if silent++; !bytes.Equal(got, data) {
			t.Errorf("byte %#x flipped: other content and no error", i)
		}
	}
	if silent > len(good)/50 {
		t.Errorf("%d of %d flips went unnoticed", silent, len(good))
	}
}

// TestDamage: wrong bytes anywhere in a compressed tar end in an error, although
// the tar in it may be whole; what was read before stays valid.
func TestDamage(t *testing.T) {
	plain := tarOf(t, file("libc.so.6", elf("c")))
	for name, good := range map[string][]byte{"gzip": gzipOf(t, plain), "xz": xzOf(t, plain, xzDefault), "zstd": zstdOf(t, plain)} {
		bad := bytes.Clone(good)
		bad[len(bad)-9] ^= 0x40
		r, err := walkBytes(bad, Options{}, defaultLimits)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if off := err.(*Error).Offset; off <= 0 || off > int64(len(bad)) {
			t.Errorf("%s: damage at offset %#x of %#x", name, off, len(bad))
		}
		if name == "xz" {
			if diff := cmp.Diff([]string{"libc.so.6=c"}, images(r.images)); diff != "" {
				t.Errorf("%s: images (-want +got):\n%s", name, diff)
			}
		}
	}
}
