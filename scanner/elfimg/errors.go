// What can be wrong with a file that claims to be an image.
//
// Every error of New is an *Error: it names the part at fault and its offset,
// because the first question about a refused file is always "where". Callers
// that branch use errors.Is with the sentinels below.

package elfimg

import (
	"errors"
	"fmt"
)

var (
	ErrNotELF    = errors.New("not an ELF file")
	ErrClass     = errors.New("not a 64-bit image")
	ErrEndian    = errors.New("not a little-endian image")
	ErrMachine   = errors.New("not an AArch64 image")
	ErrType      = errors.New("neither a shared object nor an executable")
	ErrTruncated = errors.New("past the end of the file")
	ErrEntrySize = errors.New("table entry of the wrong size")
	ErrTooMany   = errors.New("more entries than a loader accepts")
	ErrOverlap   = errors.New("overlaps its neighbour or is out of order")
	ErrAddress   = errors.New("address that no loader can map")
	ErrOutside   = errors.New("outside every executable segment")
	ErrReader    = errors.New("the ELF reader refused it")
	ErrUnwind    = errors.New("malformed unwind data")
)

// Error is a fault at a file offset.
type Error struct {
	Off  uint64 // offset in the file, or the offset that was asked for
	What string // the part at fault: "header", "segment 2", "section 12"
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: offset %#x: %v", e.What, e.Off, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

func fault(what string, off uint64, err error) error {
	return &Error{Off: off, What: what, Err: err}
}

// numbered names one entry of a table.
func numbered(table string, i int) string { return fmt.Sprintf("%s %d", table, i) }

func withValue(err error, v uint64) error { return fmt.Errorf("%w (%#x)", err, v) }
