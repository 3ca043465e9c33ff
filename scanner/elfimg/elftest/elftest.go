// Package elftest builds small ELF images for tests: a few KB with exactly the
// tables that a test asks for, in the shape that GNU ld gives to glibc (one R+X
// and one RW segment, 64 KiB apart).
//
// It promises images that scanner/elfimg accepts unless the Spec overrides a
// header field. Malformed images are made by changing the bytes afterwards;
// code always starts at offset TextOff. Nothing but tests imports it.
package elftest

import (
	"encoding/binary"
	"slices"
)

// TextOff is the file offset of the first text word, and its distance from Base.
const TextOff = 0x400

var le = binary.LittleEndian

// Spec says what an image holds. The zero Spec is an empty shared object.
type Spec struct {
	Class, Data   byte   // 0: 64-bit, little-endian
	Type, Machine uint16 // 0: ET_DYN, AArch64
	Entry         uint64
	Base          uint64 // address of the first segment
	Align         uint64 // of the segments; 0: 64 KiB

	Text   []uint32 // .text
	Code   []Code   // more executable sections
	Rodata []byte

	BuildID  []byte
	Features uint32 // GNU_PROPERTY_AARCH64_FEATURE_1_AND; 0: no note
	SOName   string
	Interp   string

	Symbols  []Symbol // .symtab
	Dynamic  []Symbol // .dynsym
	GNUHash  bool     // DT_GNU_HASH in place of DT_HASH
	Relative []uint64 // R_AARCH64_RELATIVE in DT_RELA
	Irel     []uint64 // R_AARCH64_IRELATIVE in DT_JMPREL
	Relr     []uint64 // DT_RELR

	Frames    []Frame
	Unwind    Unwind
	CallSites byte // encoding of call-site tables; 0: uleb128

	NoSections bool // no section headers
	Debug      bool // code and tables are NOBITS, as in a separate debug file
}

// Code is an executable section behind .text.
type Code struct {
	Name  string
	Words []uint32
}

// Symbol is a symbol table entry.
type Symbol struct {
	Name        string
	Value, Size uint64
	Type        byte // STT_; 0: STT_FUNC
	Undefined   bool
}

const (
	progbits = 1
	symtab   = 2
	strtab   = 3
	rela     = 4
	hash     = 5
	dynamic  = 6
	note     = 7
	nobits   = 8
	dynsym   = 11
	relr     = 19
	gnuHash  = 0x6ffffff6

	write = 1
	alloc = 2
	exec  = 4
)

type section struct {
	name                              string
	kind, link                        uint32
	flags, vaddr, off, size, ent, aln uint64
}

type segment struct {
	kind, flags             uint32
	off, vaddr, filesz, aln uint64
}

type builder struct {
	s        Spec
	out      []byte
	delta    uint64 // address minus offset in the segment being filled
	sections []section
	segments []segment
	dyn      []uint64
}

// Build returns the image that s describes.
func Build(s Spec) []byte {
	s = defaults(s)
	b := &builder{s: s, out: make([]byte, TextOff), delta: s.Base, sections: make([]section, 1)}
	b.code()
	b.readOnly()
	b.segments = slices.Insert(b.segments, 0, segment{1, 5, 0, s.Base, uint64(len(b.out)), s.Align})
	b.writable()
	b.symbols()
	b.finish()
	return b.out
}

func defaults(s Spec) Spec {
	s.Class = or(s.Class, 2)
	s.Data = or(s.Data, 1)
	s.Type = or(s.Type, 3)
	s.Machine = or(s.Machine, 183)
	s.Align = or(s.Align, 0x10000)
	s.CallSites = or(s.CallSites, 1)
	return s
}

func or[T byte | uint16 | uint64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func words(ws []uint32) (b []byte) {
	for _, w := range ws {
		b = le.AppendUint32(b, w)
	}
	return b
}

// add appends a section; data is asked for with the address it will have.
func (b *builder) add(name string, kind uint32, flags, aln uint64, data func(at uint64) []byte) *section {
	for uint64(len(b.out))%aln != 0 {
		b.out = append(b.out, 0)
	}
	s := section{name: name, kind: kind, flags: flags, off: uint64(len(b.out)), aln: aln}
	if flags&alloc != 0 {
		s.vaddr = s.off + b.delta
	}
	content := data(s.vaddr)
	s.size = uint64(len(content))
	b.out = append(b.out, content...)
	b.sections = append(b.sections, s)
	return &b.sections[len(b.sections)-1]
}

func (b *builder) addBytes(name string, kind uint32, flags, aln uint64, data []byte) *section {
	return b.add(name, kind, flags, aln, func(uint64) []byte { return data })
}

// covered adds a program header over s.
func (b *builder) covered(kind uint32, s *section) {
	b.segments = append(b.segments, segment{kind, 4, s.off, s.vaddr, s.size, s.aln})
}

func (b *builder) code() {
	b.addBytes(".text", progbits, alloc|exec, 4, words(b.s.Text))
	for _, c := range b.s.Code {
		b.addBytes(c.Name, progbits, alloc|exec, 4, words(c.Words))
	}
}

func (b *builder) readOnly() {
	if b.s.Interp != "" {
		b.covered(3, b.addBytes(".interp", progbits, alloc, 1, append([]byte(b.s.Interp), 0)))
	}
	b.notes()
	b.dynamicSymbols()
	b.relocations()
	b.unwind()
	b.addBytes(".rodata", progbits, alloc, 8, b.s.Rodata)
}

func (b *builder) notes() {
	if b.s.Features != 0 {
		p := le.AppendUint32(nil, 0xc0000000)
		p = le.AppendUint32(p, 4)
		p = le.AppendUint64(p, uint64(b.s.Features))
		s := b.addBytes(".note.gnu.property", note, alloc, 8, Note(5, p))
		b.covered(4, s)
		b.covered(0x6474e553, s)
	}
	if b.s.BuildID != nil {
		b.covered(4, b.addBytes(".note.gnu.build-id", note, alloc, 4, Note(3, b.s.BuildID)))
	}
}

// Note encodes one note of owner "GNU".
func Note(kind uint32, desc []byte) []byte {
	n := words([]uint32{4, uint32(len(desc)), kind})
	n = append(append(n, "GNU\x00"...), desc...)
	return append(n, make([]byte, -len(desc)&3)...)
}

// writable makes the RW segment: the words that DT_RELR points at, then .dynamic.
func (b *builder) writable() {
	for len(b.out)%16 != 0 {
		b.out = append(b.out, 0)
	}
	start := uint64(len(b.out))
	b.delta += b.s.Align
	b.data()
	b.dyn = append(b.dyn, 0, 0)
	var content []byte
	for _, v := range b.dyn {
		content = le.AppendUint64(content, v)
	}
	d := b.addBytes(".dynamic", dynamic, alloc|write, 16, content)
	b.segments = slices.Insert(b.segments, 1,
		segment{1, 6, start, start + b.delta, uint64(len(b.out)) - start, b.s.Align})
	b.covered(2, d)
}
