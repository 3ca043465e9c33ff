// One ELF file, as far as exec looks at it: its header, its program headers, the
// interpreter's name and the BTI property. The kernel reads nothing else, so a
// file with broken sections, symbols or dynamic table is still a program.
package loadplan

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"svcrelay/runtime/abi"
)

const (
	headerSize = 64
	phdrSize   = 56
	maxPhdrs   = 65536 / phdrSize // the kernel's limit is on the bytes
)

var le = binary.LittleEndian

// An Image is what exec needs to know of an ELF file. Addresses are as in the
// file; the loader adds its base.
type Image struct {
	Fixed     bool   // ET_EXEC: the base is 0
	Interp    string // the guest path of the program interpreter, "" for none
	ExecStack bool   // PT_GNU_STACK asks for an executable stack
	BTI       bool   // executable pages are to be guarded, if nobody else does it
	Entry     uint64
	Phdr      uint64 // address of the program headers, 0 if they are in no segment
	Phnum     int
	Align     uint64 // the largest alignment of a segment, at least the page size
	Segments  []abi.Segment
}

// Read reads the headers of a program through r. pageSize is the machine's: it
// decides which files can be mapped.
func Read(r io.ReaderAt, pageSize uint64) (*Image, error) {
	phoff, m, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	phdrs, err := readFull(r, phoff, uint64(m.Phnum)*phdrSize, syscall.ENOEXEC)
	if err != nil {
		return nil, fmt.Errorf("program headers: %w", err)
	}
	for i := range m.Phnum {
		if err := m.take(r, parsePhdr(phdrs[i*phdrSize:]), phoff); err != nil {
			return nil, fmt.Errorf("program header %d: %w", i, err)
		}
	}
	if err := m.checkSegments(pageSize); err != nil {
		return nil, err
	}
	return m, nil
}

// ReadInterp reads a program interpreter. The kernel answers ELIBBAD where it
// would answer ENOEXEC for a program.
func ReadInterp(r io.ReaderAt, pageSize uint64) (*Image, error) {
	m, err := Read(r, pageSize)
	if errors.Is(err, syscall.ENOEXEC) {
		// %v hides the program's errno from errors.As.
		return nil, fmt.Errorf("program interpreter: %v: %w", err, syscall.ELIBBAD)
	}
	if err != nil {
		return nil, fmt.Errorf("program interpreter: %w", err)
	}
	return m, nil
}

// readHeader returns the offset of the program headers and an image with what
// the ELF header tells.
func readHeader(r io.ReaderAt) (phoff uint64, m *Image, err error) {
	h, err := readFull(r, 0, headerSize, syscall.ENOEXEC)
	if err != nil {
		return 0, nil, fmt.Errorf("ELF header: %w", err)
	}
	kind, phentsize, phnum := elf.Type(le.Uint16(h[16:])), le.Uint16(h[54:]), int(le.Uint16(h[56:]))
	switch {
	case string(h[:4]) != elf.ELFMAG:
		return 0, nil, noExec("no ELF file")
	case h[elf.EI_CLASS] != byte(elf.ELFCLASS64) || h[elf.EI_DATA] != byte(elf.ELFDATA2LSB) ||
		elf.Machine(le.Uint16(h[18:])) != elf.EM_AARCH64:
		return 0, nil, noExec("no 64-bit arm64 program")
	case kind != elf.ET_EXEC && kind != elf.ET_DYN:
		return 0, nil, noExec("ELF type %d is no program", kind)
	case phentsize != phdrSize || phnum == 0 || phnum > maxPhdrs:
		return 0, nil, noExec("%d program headers of %d bytes", phnum, phentsize)
	}
	return le.Uint64(h[32:]), &Image{Fixed: kind == elf.ET_EXEC, Entry: le.Uint64(h[24:]), Phnum: phnum}, nil
}

// A phdr is a program header.
type phdr struct {
	kind                               elf.ProgType
	flags                              elf.ProgFlag
	offset, addr, filesz, memsz, align uint64
}

func parsePhdr(b []byte) phdr {
	return phdr{
		kind: elf.ProgType(le.Uint32(b)), flags: elf.ProgFlag(le.Uint32(b[4:])),
		offset: le.Uint64(b[8:]), addr: le.Uint64(b[16:]),
		filesz: le.Uint64(b[32:]), memsz: le.Uint64(b[40:]), align: le.Uint64(b[48:]),
	}
}

func (m *Image) take(r io.ReaderAt, h phdr, phoff uint64) (err error) {
	switch h.kind {
	case elf.PT_LOAD:
		return m.addSegment(h, phoff)
	case elf.PT_INTERP:
		if m.Interp == "" { // the first counts
			m.Interp, err = readInterpPath(r, h)
		}
	case elf.PT_GNU_STACK: // the last counts
		m.ExecStack = h.flags&elf.PF_X != 0
	case elf.PT_GNU_PROPERTY:
		m.BTI = readBTI(r, h)
	}
	return err
}

func readInterpPath(r io.ReaderAt, h phdr) (string, error) {
	if h.filesz < 2 || h.filesz > abi.PathMax {
		return "", noExec("%d bytes of interpreter path", h.filesz)
	}
	b, err := readFull(r, h.offset, h.filesz, syscall.EIO)
	if err != nil {
		return "", fmt.Errorf("interpreter path: %w", err)
	}
	if b[len(b)-1] != 0 {
		return "", noExec("the interpreter path has no end")
	}
	path := cString(b)
	if path == "" { // names the working directory
		return "", fmt.Errorf("empty interpreter path: %w", syscall.EACCES)
	}
	return path, nil
}
