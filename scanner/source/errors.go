// Why a source or a member of it was refused.
//
// Members' names are the enemy's words: a tar may call a file
// "libc.so.6\n0 errors" or put a terminal's escape codes in it, so nothing read
// from a source is printed unless it is printable, and no more than 200 bytes
// of it.

package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// Reason says why something was refused.
type Reason uint8

const (
	Unreadable      Reason = iota + 1 // the system would not open or read it
	UnknownFormat                     // none of the containers that are understood
	BadGlob                           // a pattern of Options.Globs is malformed
	NotRegular                        // a device, pipe, socket or directory in the place of a file
	NotELF                            // it has an image's name and not its magic
	TooBig                            // an image beyond Options.MaxImage
	BadName                           // a member's name is absolute, has "..", or is too long
	LinkEscapes                       // a link climbs above the root
	LinkLoop                          // more than 40 links on the way to one file
	TooFar                            // more than 4096 components on the way to one file
	TooManySteps                      // following its links costs more than its names are worth
	Dangling                          // the target of a link is not in the source
	TooDeep                           // directories nested beyond any use
	TooManyNames                      // more names than are worth remembering
	TooManyProblems                   // more bad members than are worth reporting
	Truncated                         // it ends before its own structure says so
	Corrupt                           // its structure or a checksum is wrong
	Unsupported                       // a valid xz feature that is not decoded here
	WindowTooBig                      // it needs a decompression window beyond 128 MiB
	Bomb                              // it unpacks to far more than its size justifies
	BadAr                             // a header of the .deb's ar archive is wrong
	NoData                            // a .deb without a data.tar member
	numReasons
)

var reasonText = [numReasons]string{
	Unreadable:      "cannot be read",
	UnknownFormat:   "not an ELF file, a directory, a tar or a .deb",
	BadGlob:         "malformed glob",
	NotRegular:      "not a regular file",
	NotELF:          "not an ELF file",
	TooBig:          "image too big",
	BadName:         "refused member name",
	LinkEscapes:     "link leads outside the source",
	LinkLoop:        "too many links",
	TooFar:          "too many components to follow",
	TooManySteps:    "too many steps to follow its links",
	Dangling:        "link target is not in the source",
	TooDeep:         "directories nested too deep",
	TooManyNames:    "too many names",
	TooManyProblems: "too many bad members",
	Truncated:       "truncated",
	Corrupt:         "corrupt",
	Unsupported:     "not supported",
	WindowTooBig:    "decompression window too big",
	Bomb:            "unpacks to far more than its size justifies",
	BadAr:           "bad ar header",
	NoData:          "no data.tar member",
}

// String is the reason as it is printed.
func (r Reason) String() string {
	if r == 0 || r >= numReasons {
		return fmt.Sprintf("reason %d", uint8(r))
	}
	return reasonText[r]
}

// An Error is one refusal. It prints as one line whatever the source contains.
type Error struct {
	Source string // as given to Walk
	Member string // guest path, or the name in the archive; "" for the source itself
	// Offset is where the member's content, or the damage, begins: in the source
	// file; in the unpacked stream for a member of a compressed tar; 0 for what
	// lies in a directory.
	Offset int64
	Reason Reason
	Err    error // the detail, may be nil
}

// Error is "source: member: offset 0x0: reason: detail", without an offset where
// the source was not read at all.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(Printable(e.Source))
	if e.Member != "" {
		b.WriteString(": " + Printable(e.Member))
	}
	if e.Offset != 0 || e.Reason != Unreadable && e.Reason != NotRegular {
		fmt.Fprintf(&b, ": offset 0x%x", e.Offset)
	}
	b.WriteString(": " + e.Reason.String())
	if e.Err != nil {
		b.WriteString(": " + Printable(detail(e.Err)))
	}
	return b.String()
}

// Unwrap gives the detail.
func (e *Error) Unwrap() error { return e.Err }

// refuse makes an Error whose source and member are filled in further out.
func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// reasonOf is the reason to give for err.
func reasonOf(err error) Reason {
	var e *Error
	var pe *fs.PathError
	switch {
	case errors.As(err, &e):
		return e.Reason
	case errors.As(err, &pe):
		return Unreadable
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Truncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return WindowTooBig
	}
	return Corrupt
}

// detail drops the path of a PathError: the Error has it already.
func detail(err error) string {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// Printable is s, or s quoted when printing it could break a line or a terminal;
// of what is longer than 200 bytes, the beginning.
func Printable(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "..."
	}
	bad := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.ContainsFunc(s, bad) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

// modeName says what a file is that is not regular.
func modeName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symlink"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
