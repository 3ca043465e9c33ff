// What a file is, by its bytes.
//
// A tar of 1979 has no magic at all, and "ustar" at 257 is only what POSIX
// added. What every header has is its checksum, so that is what counts.

package source

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
)

const tarBlock = 512

// layout is what a source is and where the tar in it lies.
type layout struct {
	kind      Kind
	off, size int64
}

// sniff looks at no more than the headers on the way to a tar's first member.
func sniff(ctx context.Context, r io.ReaderAt, size int64, lim limits) (layout, error) {
	head, err := peek(io.NewSectionReader(r, 0, size), len(arMagic))
	if err != nil {
		return layout{}, err
	}
	l := layout{kind: Tar, size: size}
	switch {
	case len(head) >= 4 && isELF(head[:4]):
		return layout{kind: File}, nil
	case string(head) == arMagic:
		if l, err = findData(ctx, r, size); err != nil {
			return layout{}, err
		}
	}
	if err := checkTar(ctx, r, l, lim); err != nil {
		return layout{}, err
	}
	return l, nil
}

// checkTar looks at the first header of a tar.
func checkTar(ctx context.Context, r io.ReaderAt, l layout, lim limits) error {
	s, err := openStream(ctx, r, l.off, l.size, lim)
	if err != nil {
		return err
	}
	defer s.close()
	block := make([]byte, tarBlock)
	n, err := io.ReadFull(s, block)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if n < tarBlock || !isTarHeader(block) {
		e := refuse(UnknownFormat, "%#x bytes, no tar header", l.size)
		if name := formatOf(block[:n]); name != "" {
			e = refuse(UnknownFormat, "%s is not supported", name)
		}
		e.Offset = l.off
		return e
	}
	return nil
}

// formatOf names what is known and not understood, "" for anything else.
func formatOf(head []byte) string {
	for _, f := range []struct{ magic, name string }{
		{"BZh", "bzip2"}, {"PK\x03\x04", "zip"}, {"\x5d\x00\x00", "lzma"}, {"LZIP", "lzip"}, {"\x04\x22\x4d\x18", "lz4"},
		{"\x89LZO", "lzop"}, {"\x1f\x9d", "compress (.Z)"}, {"7z\xbc\xaf\x27\x1c", "7z"}, {"07070", "cpio"},
		{"\xed\xab\xee\xdb", "rpm"}, {"hsqs", "squashfs"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}

// isTarHeader reports whether a block is a header by its checksum, or the end
// of an empty tar. Old tars summed signed bytes.
func isTarHeader(block []byte) bool {
	const at, n = 148, 8
	field := strings.Trim(string(block[at:at+n]), " \x00")
	want, err := strconv.ParseInt(field, 8, 64)
	if err != nil {
		return bytes.Count(block, []byte{0}) == tarBlock
	}
	unsigned, signed := int64(n*' '), int64(n*' ')
	for i, b := range block {
		if i < at || i >= at+n {
			unsigned += int64(b)
			signed += int64(int8(b))
		}
	}
	return want == unsigned || want == signed
}
