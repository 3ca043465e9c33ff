// The fence around elf_reader.
//
// github.com/yalue/elf_reader v1.0.3 trusts its input in ways that matter
// here: it allocates e_phnum and e_shnum entries before it looks at the file's
// length, it ignores e_phentsize and e_shentsize, and GetSegmentContent and
// GetSectionName index with an unchecked number. So the header and the place
// of both tables are proven first; then it decodes the two tables and nothing
// else, with its panics turned into errors. What it does for symbols, dynamic
// entries and relocations goes through reflection and copies: 0.65 ms and 3,100
// allocations for the 3,100 dynamic symbols of libc 2.43, a third of the time a
// whole scan may take, against 0.1 ms and one allocation in place; and names
// that share one long string would cost the square of the file in memory. So
// this package reads symbols, names, relocations, dynamic entries and notes.

package elfimg

import (
	"encoding/binary"
	"fmt"

	"github.com/yalue/elf_reader"
)

const (
	headerSize  = 64
	phentSize   = 56
	shentSize   = 64
	maxSegments = 65536 / phentSize // Linux refuses a larger program header table

	typeExec       = 2
	typeDyn        = 3
	machineAArch64 = 183
)

var le = binary.LittleEndian

// within tells whether [off, off+size) lies in n bytes, whatever overflows.
func within(off, size, n uint64) bool { return off <= n && size <= n-off }

// parse checks raw's header and tables, then lets elf_reader decode them.
func parse(raw []byte) (*elf_reader.ELF64File, error) {
	if err := checkIdent(raw); err != nil {
		return nil, err
	}
	if err := checkKind(raw); err != nil {
		return nil, err
	}
	if err := checkSegmentTable(raw); err != nil {
		return nil, err
	}
	if err := checkSectionTable(raw); err != nil {
		return nil, err
	}
	f, err := guard(func() (*elf_reader.ELF64File, error) { return elf_reader.ParseELF64File(raw) })
	if err != nil {
		return nil, fault("header", 0, fmt.Errorf("%w: %w", ErrReader, err))
	}
	return f, nil
}

// guard turns a panic of the reader into an error.
func guard(read func() (*elf_reader.ELF64File, error)) (f *elf_reader.ELF64File, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return read()
}

func checkIdent(raw []byte) error {
	if len(raw) < 4 || string(raw[:4]) != "\x7fELF" {
		return fault("header", 0, ErrNotELF)
	}
	if len(raw) < headerSize {
		return fault("header", uint64(len(raw)), ErrTruncated)
	}
	if raw[4] != 2 {
		return fault("header", 4, withValue(ErrClass, uint64(raw[4])))
	}
	if raw[5] != 1 {
		return fault("header", 5, withValue(ErrEndian, uint64(raw[5])))
	}
	return nil
}

func checkKind(raw []byte) error {
	if m := le.Uint16(raw[18:]); m != machineAArch64 {
		return fault("header", 18, withValue(ErrMachine, uint64(m)))
	}
	if t := le.Uint16(raw[16:]); t != typeExec && t != typeDyn {
		return fault("header", 16, withValue(ErrType, uint64(t)))
	}
	return nil
}

// checkSegmentTable also refuses e_phnum 0xffff, which says that the number is
// elsewhere: no loader follows it there.
func checkSegmentTable(raw []byte) error {
	off, size, n := le.Uint64(raw[32:]), le.Uint16(raw[54:]), le.Uint16(raw[56:])
	if n > maxSegments {
		return fault("segment table", 56, withValue(ErrTooMany, uint64(n)))
	}
	return checkTable(raw, "segment table", off, 54, size, phentSize, n)
}

// checkSectionTable takes e_shnum 0 as "no section headers", also where it
// announces a number of 0xff00 or more in section 0: no image has as many, and
// the executable segments cover them all.
func checkSectionTable(raw []byte) error {
	off, size, n := le.Uint64(raw[40:]), le.Uint16(raw[58:]), le.Uint16(raw[60:])
	return checkTable(raw, "section table", off, 58, size, shentSize, n)
}

func checkTable(raw []byte, what string, off, sizeAt uint64, size, want, n uint16) error {
	if n == 0 {
		return nil
	}
	if size != want {
		return fault(what, sizeAt, withValue(ErrEntrySize, uint64(size)))
	}
	if !within(off, uint64(n)*uint64(want), uint64(len(raw))) {
		return fault(what, off, withValue(ErrTruncated, uint64(len(raw))))
	}
	return nil
}
