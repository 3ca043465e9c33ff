// A builder of headers for the tests, and the reader that counts on nothing.
package loadplan

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// headers is an ELF file of headers and little else. The zero value of a field
// is what a program has.
type headers struct {
	magic     string
	class     elf.Class
	data      elf.Data
	machine   elf.Machine
	kind      elf.Type
	entry     uint64
	phoff     uint64
	phentsize uint16
	phnum     int // -1: none
	phdrs     []elf.Prog64
	tail      string // what lies at tailOff
}

const tailOff = 0x800

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (h headers) bytes() []byte {
	e := elf.Header64{
		Type: uint16(or(h.kind, elf.ET_DYN)), Machine: uint16(or(h.machine, elf.EM_AARCH64)), Version: 1, Entry: h.entry,
		Phoff: or(h.phoff, 64), Ehsize: 64, Phentsize: or(h.phentsize, 56), Phnum: uint16(max(or(h.phnum, len(h.phdrs)), 0)),
	}
	copy(e.Ident[:], or(h.magic, elf.ELFMAG))
	e.Ident[elf.EI_CLASS], e.Ident[elf.EI_DATA] = byte(or(h.class, elf.ELFCLASS64)), byte(or(h.data, elf.ELFDATA2LSB))
	b, _ := binary.Append(nil, le, e)
	b, _ = binary.Append(b, le, h.phdrs)
	if h.tail != "" {
		b = append(append(b, make([]byte, tailOff-len(b))...), h.tail...)
	}
	return b
}

func (h headers) reader() *bytes.Reader { return bytes.NewReader(h.bytes()) }

func load(off, addr, filesz, memsz uint64) elf.Prog64 {
	return elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: 5, Off: off, Vaddr: addr, Filesz: filesz, Memsz: memsz, Align: 0x1000}
}

func aligned(align uint64) elf.Prog64 {
	p := load(0, 0, 1, 1)
	p.Align = align
	return p
}

func inTail(kind elf.ProgType, size int) elf.Prog64 {
	return elf.Prog64{Type: uint32(kind), Off: tailOff, Filesz: uint64(size)}
}
