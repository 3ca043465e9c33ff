// Why an encoding is refused. Every reason has its own sentinel, because a
// loader, a test and the C reader must be able to tell them apart; FORMAT.md
// lists them in the order in which they are looked for.

package cachefmt

import (
	"errors"
	"fmt"
)

// The reasons to refuse a table or a pack, for errors.Is.
var (
	ErrShort      = errors.New("too short")
	ErrMagic      = errors.New("bad magic")
	ErrVersion    = errors.New("unknown format version")
	ErrCount      = errors.New("count too large")
	ErrLong       = errors.New("too long")
	ErrCRC        = errors.New("bad checksum")
	ErrReserved   = errors.New("reserved bits set")
	ErrWindow     = errors.New("bad window")
	ErrKey        = errors.New("bad key")
	ErrMisaligned = errors.New("misaligned")
	ErrOutOfRange = errors.New("out of range")
	ErrUnsorted   = errors.New("unsorted")
	ErrDuplicate  = errors.New("duplicate")
	ErrOverlap    = errors.New("overlapping")
	ErrKind       = errors.New("unknown kind")
	ErrFlags      = errors.New("bad flags")
	ErrNumber     = errors.New("bad number")
	ErrDistance   = errors.New("bad distance")
	ErrHook       = errors.New("hook not where kind and flags put it")
	ErrBridge     = errors.New("bad bridge range")
	ErrZstd       = errors.New("bad zstd stream")
)

// A FormatError says where an encoding is wrong and which rule it breaks.
type FormatError struct {
	Err    error // one of the sentinels
	Offset int64 // of the field in the table's (or the unpacked pack's) bytes
	Detail string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("at 0x%x: %v: %s", e.Offset, e.Err, e.Detail)
}

func (e *FormatError) Unwrap() error { return e.Err }

// broken makes a FormatError.
func broken(err error, offset int, format string, args ...any) error {
	return &FormatError{Err: err, Offset: int64(offset), Detail: fmt.Sprintf(format, args...)}
}

// A position is that of an entry, for errors.
type position struct{ entry, offset int }

func (p position) broken(err error, field int, format string, args ...any) error {
	args = append([]any{p.entry}, args...)
	return broken(err, p.offset+field, "entry %d: "+format, args...)
}
