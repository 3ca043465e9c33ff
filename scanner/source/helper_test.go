// Builders of sources, good and bad. Whatever a library's writer would not
// write (negative sizes, RLE bombs, 4 GiB dictionaries) is put together by hand.

package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// elf is an image of its own: no two tags have the same content.
func elf(tag string) string { return "\x7fELF" + tag + strings.Repeat(".", 600) }

// entry is one member of a tar that a test wants.
type entry struct {
	name string
	body string
	kind byte   // tar.TypeReg when 0
	link string // for links
}

func file(name, body string) entry { return entry{name: name, body: body} }
func symlink(name, target string) entry {
	return entry{name: name, kind: tar.TypeSymlink, link: target}
}
func hardlink(name, target string) entry {
	return entry{name: name, kind: tar.TypeLink, link: target}
}

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Mode: 0o755, Size: int64(len(e.body))}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if e.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Name: e.name, Typeflag: e.kind, PAXRecords: map[string]string{"comment": "x"}}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("header of %q: %v", e.name, err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			t.Fatalf("body of %q: %v", e.name, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rawHeader is a tar header whose fields are set by edit before it is summed.
func rawHeader(name string, kind byte, size string, edit func(h []byte)) []byte {
	h := make([]byte, tarBlock)
	copy(h, name)
	copy(h[100:], "0000755\x000000000\x000000000\x00")
	copy(h[124:], size)
	copy(h[136:], "00000000000\x00")
	h[156] = kind
	copy(h[257:], "ustar  \x00")
	if edit != nil {
		edit(h)
	}
	copy(h[148:], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

func octal(n int) string { return fmt.Sprintf("%011o\x00", n) }

// sparse is an old GNU sparse member of real size size that stores one block.
func sparse(name string, size int) []byte {
	h := rawHeader(name, tar.TypeGNUSparse, octal(tarBlock), func(h []byte) {
		copy(h[386:], octal(0))
		copy(h[398:], octal(tarBlock))
		copy(h[483:], octal(size))
	})
	block := make([]byte, tarBlock)
	copy(block, elf(name))
	return append(h, block...)
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdOf(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func xzOf(t testing.TB, data []byte, cfg xz.WriterConfig) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := cfg.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// xzParts is an xz file of one block of one stored LZMA2 chunk, by hand.
type xzParts struct {
	check    byte   // type of the stream's check; only 0 is computed
	flags    byte   // of the block
	declared []byte // the sizes that flags announce
	filter   []byte
	body     []byte // at most 64 KiB, stored
	repeat   int    // how many such blocks
}

func le32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

func withCRC(b []byte) []byte { return append(b, le32(crc32.ChecksumIEEE(b))...) }

func pad4(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

func (p xzParts) bytes() []byte {
	stream := []byte{0, p.check}
	out := append([]byte(xzMagic), withCRC(stream)...)
	header := append([]byte{0, p.flags}, p.declared...)
	header = pad4(append(header, p.filter...))
	header[0] = byte(len(header) / 4)
	chunks := []byte{0}
	if n := len(p.body); n > 0 {
		chunks = append([]byte{1, byte((n - 1) >> 8), byte(n - 1)}, p.body...)
		chunks = append(chunks, 0)
	}
	block := append(withCRC(header), chunks...)
	unpadded := len(block)
	n := max(1, p.repeat)
	index := binary.AppendUvarint([]byte{0}, uint64(n))
	for range n {
		out = append(out, pad4(block)...)
		index = binary.AppendUvarint(index, uint64(unpadded))
		index = binary.AppendUvarint(index, uint64(len(p.body)))
	}
	index = withCRC(pad4(index))
	out = append(out, index...)
	tail := append(le32(uint32(len(index)/4-1)), stream...)
	out = append(out, le32(crc32.ChecksumIEEE(tail))...)
	return append(append(out, tail...), xzFooter...)
}

// lzma2 is the filter with a dictionary property; 22 is 8 MiB, 32 is 256 MiB.
func lzma2(property byte) []byte { return []byte{filterID, 1, property} }

// zstdRaw is a zstd frame with a window of 2^(10+exp): body stored, then zeros.
func zstdRaw(exp byte, body []byte, zeros int) []byte {
	const most = 128 << 10
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, exp << 3}
	block := func(last, kind, n int) {
		h := last | kind<<1 | n<<3
		out = append(out, byte(h), byte(h>>8), byte(h>>16))
	}
	for ; len(body) > 0; body = body[min(most, len(body)):] {
		n := min(most, len(body))
		block(0, 0, n)
		out = append(out, body[:n]...)
	}
	for ; zeros > 0; zeros -= most {
		block(0, 1, min(most, zeros))
		out = append(out, 0)
	}
	block(1, 0, 0)
	return out
}

// ar is an ar archive of name, content pairs.
func ar(pairs ...string) []byte {
	out := []byte(arMagic)
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, arHeaderOf(pairs[i], fmt.Sprint(len(pairs[i+1])))...)
		out = append(out, pairs[i+1]...)
		out = append(out, make([]byte, len(pairs[i+1])&1)...)
	}
	return out
}

func arHeaderOf(name, size string) string {
	return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10s`\n", name, 0, 0, 0, "100644", size)
}

// debOf is a .deb whose data member is called name.
func debOf(name string, data []byte) []byte {
	return ar("debian-binary", "2.0\n", "control.tar.gz", "any\x00thing", name, string(data))
}

// result is all that a walk gave, in a form that compares.
type result struct {
	Images   []string // path=tag
	Problems []string // reason member
	Err      string   // reason member, or the text of another error
}

func show(err error) string {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return strings.TrimSpace(fmt.Sprintf("%v: %s", e.Reason, e.Member))
	}
	return err.Error()
}

func images(all []Image) []string {
	var s []string
	for _, i := range all {
		tag, _, _ := strings.Cut(strings.TrimPrefix(string(i.Data), "\x7fELF"), ".")
		s = append(s, i.Path+"="+tag)
	}
	return s
}

// recorder collects what a walk gives.
type recorder struct {
	images   []Image
	problems []error
}

func (r *recorder) yield(i Image) error { r.images = append(r.images, i); return nil }

func (r *recorder) result(err error) result {
	res := result{Images: images(r.images), Err: show(err)}
	for _, p := range r.problems {
		res.Problems = append(res.Problems, show(p))
	}
	return res
}

// walkBytes walks a source in memory, as Walk does a file called "src".
func walkBytes(data []byte, opt Options, lim limits) (*recorder, error) {
	r := &recorder{}
	opt.OnError = func(err error) { r.problems = append(r.problems, err) }
	c, err := newCollector(context.Background(), "src", opt, lim, r.yield)
	if err != nil {
		return r, err
	}
	return r, walkFile(c, bytes.NewReader(data), int64(len(data)))
}

// walkName is Walk with everything recorded.
func walkName(name string, opt Options) (*recorder, error) {
	r := &recorder{}
	opt.OnError = func(err error) { r.problems = append(r.problems, err) }
	return r, Walk(context.Background(), name, opt, r.yield)
}
