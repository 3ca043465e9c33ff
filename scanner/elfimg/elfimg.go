// Package elfimg is a read-only view of one ELF image: its loadable segments,
// executable ranges, notes, symbols, relocations and unwind tables.
//
// It promises that any bytes give either an error or a view; that a view never
// panics, never leaves the bytes it was made from, and ends every walk after a
// number of steps that the file's size bounds; and that memory stays within a
// small multiple of the file. What a view yields is where a loader would look,
// so an image without section headers is as readable as one with them.
//
// It refuses what no AArch64 loader maps: other classes, byte orders, machines
// and file types, tables or segments beyond the end of the file, segments that
// overlap. It does not decode instructions and never changes the bytes.
//
// The one surprise: opening is cheap (headers only) because everything else is
// read in place, on demand; see header.go for what that leaves to elf_reader.
package elfimg

import (
	"sync"

	"github.com/yalue/elf_reader"
)

// Range is a run of executable bytes present in the file.
type Range struct {
	Vaddr, Off, Size uint64
	Name             string // of its section; "" for a segment
}

// Segment is one PT_LOAD.
type Segment struct {
	Vaddr, Off, Filesz, Memsz, Align uint64
	Flags                            uint32
}

// Property holds the GNU_PROPERTY_AARCH64_FEATURE_1_AND bits.
type Property struct{ BTI, PAC, GCS bool }

// Image is a view of one image. It is safe for concurrent use as long as
// nobody writes its fields or Raw.
type Image struct {
	Raw      []byte
	Type     uint16 // typeDyn or typeExec: ET_DYN (3), ET_EXEC (2)
	Entry    uint64
	Loads    []Segment // ascending, not overlapping
	Exec     []Range   // ascending, not overlapping in the file or in memory, 4-byte aligned, inside executable Loads
	BuildID  []byte    // sub-slice of Raw
	SOName   string
	Interp   string
	Property Property

	// ExecFromSegments: no section told where the code is, so Exec holds whole
	// executable segments, read-only data included.
	ExecFromSegments bool
	// Debug: a separate debug file. Its code is NOBITS, so no address is backed
	// by the file (Filesz is 0 in all Loads); only names are to be had.
	Debug bool

	file   *elf_reader.ELF64File
	dyn    dynamic
	eh     ehHeader
	linear struct {
		once   sync.Once
		frames []Frame
	}
}

// New opens raw, which is retained and never modified.
func New(raw []byte) (*Image, error) {
	f, err := parse(raw)
	if err != nil {
		return nil, err
	}
	m := &Image{Raw: raw, Type: uint16(f.Header.Type), Entry: f.Header.EntryPoint, file: f}
	m.Debug = isDebugFile(f.Sections)
	for _, step := range []func() error{m.readLoads, m.readExec, m.readNotes, m.readInterp, m.readDynamic, m.readUnwind} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, nil
}
