// The ar archive that a .deb is: 8 bytes of magic, then members with headers of
// 60 bytes of text, each starting at an even offset.
//
// The name of the data member tells its compression, and is not believed. Sizes
// are decimal text in ten columns: what is not all digits, signs included, is
// refused.

package source

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	arMagic  = "!<arch>\n"
	arHeader = 60
)

// arMember is a member of an ar archive.
type arMember struct {
	name      string
	off, size int64 // of its content
}

// findData is where the data.tar of a .deb lies.
func findData(ctx context.Context, r io.ReaderAt, size int64) (layout, error) {
	for off := int64(len(arMagic)); off < size; {
		if err := ctx.Err(); err != nil {
			return layout{}, err
		}
		m, err := readArMember(r, off, size)
		if err != nil {
			return layout{}, at(off, err)
		}
		if off == int64(len(arMagic)) && m.name != "debian-binary" {
			return layout{}, at(off, refuse(UnknownFormat, "an ar archive that is no .deb, it begins with %q", m.name))
		}
		if strings.HasPrefix(m.name, "data.tar") {
			return layout{kind: Deb, off: m.off, size: m.size}, nil
		}
		off = m.off + m.size + m.size&1
	}
	return layout{}, at(size, &Error{Reason: NoData})
}

// at sets the offset of an error.
func at(off int64, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Offset = off
		return e
	}
	return &Error{Offset: off, Reason: reasonOf(err), Err: err}
}

func readArMember(r io.ReaderAt, off, size int64) (arMember, error) {
	if size-off < arHeader {
		return arMember{}, refuse(Truncated, "%#x bytes left for an ar header", size-off)
	}
	h := make([]byte, arHeader)
	if err := readFull(io.NewSectionReader(r, off, arHeader), h); err != nil {
		return arMember{}, err
	}
	if string(h[58:]) != "`\n" {
		return arMember{}, refuse(BadAr, "it ends in %q", h[58:])
	}
	field := strings.TrimRight(string(h[48:58]), " ")
	n, err := strconv.ParseUint(field, 10, 63)
	if err != nil {
		return arMember{}, refuse(BadAr, "size %q", field)
	}
	m := arMember{off: off + arHeader, size: int64(n)}
	m.name = strings.TrimSuffix(strings.TrimRight(string(h[:16]), " "), "/")
	if m.size > size-m.off {
		return arMember{}, refuse(Truncated, "member %q has %#x bytes, %#x are left", m.name, m.size, size-m.off)
	}
	return m, nil
}
