// Symbols, hash tables, relocations and, at last, the headers.

package elftest

import "bytes"

const (
	dtHash, dtStrtab, dtSymtab, dtRela, dtRelasz, dtStrsz = 4, 5, 6, 7, 8, 10
	dtSoname, dtPltrel, dtJmprel, dtPltrelsz              = 14, 20, 23, 2
	dtRelrsz, dtRelr, dtGNUHash                           = 35, 36, 0x6ffffef5
)

func (b *builder) tag(t, v uint64) { b.dyn = append(b.dyn, t, v) }

// intern appends s to a string table and returns its offset.
func intern(table *[]byte, s string) uint32 {
	if len(*table) == 0 {
		*table = []byte{0}
	}
	if s == "" {
		return 0
	}
	off := uint32(len(*table))
	*table = append(append(*table, s...), 0)
	return off
}

func encodeSymbols(syms []Symbol, table *[]byte) []byte {
	out := make([]byte, 24) // symbol 0
	for _, s := range syms {
		out = le.AppendUint32(out, intern(table, s.Name))
		shndx := uint16(1)
		if s.Undefined {
			shndx = 0
		}
		out = append(out, 1<<4|or(s.Type, 2), 0)
		out = le.AppendUint16(out, shndx)
		out = le.AppendUint64(le.AppendUint64(out, s.Value), s.Size)
	}
	return out
}

func (b *builder) dynamicSymbols() {
	var strs []byte
	syms := encodeSymbols(b.s.Dynamic, &strs)
	soname := intern(&strs, b.s.SOName)
	s := b.addBytes(".dynsym", dynsym, alloc, 8, syms)
	s.ent, s.link = 24, uint32(len(b.sections))
	b.tag(dtSymtab, s.vaddr)
	s = b.addBytes(".dynstr", strtab, alloc, 1, strs)
	b.tag(dtStrtab, s.vaddr)
	b.tag(dtStrsz, s.size)
	if soname != 0 {
		b.tag(dtSoname, uint64(soname))
	}
	n := uint32(len(syms) / 24)
	if b.s.GNUHash {
		b.tag(dtGNUHash, b.addBytes(".gnu.hash", gnuHash, alloc, 8, gnuHashTable(n)).vaddr)
		return
	}
	// nbucket nchain bucket[1] chain[n]: nothing looks symbols up in it.
	h := append(words([]uint32{1, n}), make([]byte, 4+4*n)...)
	b.tag(dtHash, b.addBytes(".hash", hash, alloc, 8, h).vaddr)
}

// gnuHashTable has one bucket; chain words carry only their end marks.
func gnuHashTable(n uint32) []byte {
	t := words([]uint32{1, 1, 1, 0, 0xffffffff, 0xffffffff})
	if n == 1 {
		return append(t, 0, 0, 0, 0)
	}
	t = append(t, words([]uint32{1})...)
	t = append(t, make([]byte, 4*(n-1))...)
	t[len(t)-4] = 1
	return t
}

func (b *builder) relocations() {
	if len(b.s.Relative) > 0 {
		s := b.addBytes(".rela.dyn", rela, alloc, 8, encodeRela(b.s.Relative, 1027))
		b.tag(dtRela, s.vaddr)
		b.tag(dtRelasz, s.size)
	}
	if len(b.s.Irel) > 0 {
		s := b.addBytes(".rela.plt", rela, alloc, 8, encodeRela(b.s.Irel, 1032))
		b.tag(dtJmprel, s.vaddr)
		b.tag(dtPltrelsz, s.size)
		b.tag(dtPltrel, dtRela)
	}
}

func encodeRela(targets []uint64, kind uint64) (out []byte) {
	for _, t := range targets {
		out = le.AppendUint64(out, 0)
		out = le.AppendUint64(le.AppendUint64(out, kind), t)
	}
	return out
}

// data places the words that DT_RELR relocates and their table: the address of
// the first and bitmaps for the rest.
func (b *builder) data() {
	if len(b.s.Relr) == 0 {
		return
	}
	var ws, table []byte
	for _, t := range b.s.Relr {
		ws = le.AppendUint64(ws, t)
	}
	s := b.addBytes(".data", progbits, alloc|write, 16, ws)
	table = le.AppendUint64(table, s.vaddr)
	for n := len(b.s.Relr) - 1; n > 0; n -= 63 {
		table = le.AppendUint64(table, (uint64(1)<<min(n, 63)-1)<<1|1)
	}
	s = b.addBytes(".relr.dyn", relr, alloc|write, 8, table)
	b.tag(dtRelr, s.vaddr)
	b.tag(dtRelrsz, s.size)
}

func (b *builder) symbols() {
	if b.s.NoSections || len(b.s.Symbols) == 0 {
		return
	}
	var strs []byte
	s := b.addBytes(".symtab", symtab, 0, 8, encodeSymbols(b.s.Symbols, &strs))
	s.ent, s.link = 24, uint32(len(b.sections))
	b.addBytes(".strtab", strtab, 0, 1, strs)
}

func (b *builder) finish() {
	h := b.out[:64]
	copy(h, "\x7fELF")
	h[4], h[5], h[6] = b.s.Class, b.s.Data, 1
	le.PutUint16(h[16:], b.s.Type)
	le.PutUint16(h[18:], b.s.Machine)
	le.PutUint32(h[20:], 1)
	le.PutUint64(h[24:], b.s.Entry)
	le.PutUint64(h[32:], 64)
	le.PutUint16(h[52:], 64)
	le.PutUint16(h[54:], 56)
	le.PutUint16(h[56:], uint16(len(b.segments)))
	copy(b.out[64:TextOff], b.encodeSegments())
	if !b.s.NoSections {
		b.sectionHeaders()
	}
}

func (b *builder) encodeSegments() []byte {
	var out bytes.Buffer
	for _, p := range b.segments {
		out.Write(words([]uint32{p.kind, p.flags}))
		for _, v := range []uint64{p.off, p.vaddr, p.vaddr, p.filesz, p.filesz, p.aln} {
			out.Write(le.AppendUint64(nil, v))
		}
	}
	if out.Len() > TextOff-64 {
		panic("elftest: too many program headers")
	}
	return out.Bytes()
}

func (b *builder) sectionHeaders() {
	var names []byte
	intern(&names, "")
	for _, s := range b.sections {
		intern(&names, s.name)
	}
	intern(&names, ".shstrtab")
	b.addBytes(".shstrtab", strtab, 0, 1, names)
	b.out = append(b.out, make([]byte, -len(b.out)&7)...)
	h := b.out[:64]
	le.PutUint64(h[40:], uint64(len(b.out)))
	le.PutUint16(h[58:], 64)
	le.PutUint16(h[60:], uint16(len(b.sections)))
	le.PutUint16(h[62:], uint16(len(b.sections)-1))
	for _, s := range b.sections {
		b.out = append(b.out, b.encodeSection(s, names)...)
	}
}

func (b *builder) encodeSection(s section, names []byte) []byte {
	if b.s.Debug && s.flags&alloc != 0 && s.kind != note {
		s.kind = nobits
	}
	name := uint32(bytes.Index(names, append([]byte("\x00"+s.name), 0)) + 1)
	out := words([]uint32{name, s.kind})
	for _, v := range []uint64{s.flags, s.vaddr, s.off, s.size, uint64(s.link), s.aln, s.ent} {
		out = le.AppendUint64(out, v) // sh_info, the upper half of link, is 0
	}
	return out
}
