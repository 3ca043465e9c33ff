// Functions by name, streamed from the symbol tables in place.
//
// Nothing is allocated per symbol: the string table becomes one Go string and
// every name is a part of it. A stripped image has no symbol count anywhere:
// DT_SYMTAB has an address only, and the number comes from whichever hash table
// the linker made. Both are clamped to the bytes that are there.

package elfimg

import (
	"slices"
	"strings"
)

const (
	symSize = 24

	sttFunc  = 2
	sttIfunc = 10

	maxSymbolName = 4096
)

// Func is one function symbol. [Vaddr, Vaddr+Size) lies in the memory of one
// executable segment; Size may be 0.
type Func struct {
	Vaddr, Size uint64
	Name        string // shares memory with all names of its table
	Dynamic     bool
}

// Funcs yields the defined functions of .symtab, then the dynamic ones, in
// table order. The same function may come twice and under several names; those
// of .symtab may end in a version, as in "stime@GLIBC_2.17".
func (m *Image) Funcs(yield func(Func) bool) {
	m.eachFunc(func(Func) bool { return true }, yield)
}

// FuncsOver is Funcs for those functions alone that hold one of the addresses,
// which ascend. Names cost more than all else, and most of them are not wanted.
func (m *Image) FuncsOver(vaddrs []uint64, yield func(Func) bool) {
	if len(vaddrs) == 0 {
		return
	}
	x := newNearest(vaddrs)
	m.eachFunc(func(f Func) bool {
		i := x.atOrAfter(f.Vaddr)
		return i < len(vaddrs) && vaddrs[i]-f.Vaddr < f.Size
	}, yield)
}

// nearest finds the first of many ascending addresses that is not below another,
// without the mispredicted halvings of a binary search.
type nearest struct {
	vaddrs []uint64
	shift  uint
	blocks []int32 // by (address - first) >> shift: the first address not below the block
}

func newNearest(vaddrs []uint64) nearest {
	x := nearest{vaddrs: vaddrs}
	span := vaddrs[len(vaddrs)-1] - vaddrs[0]
	for span>>x.shift > 4*uint64(len(vaddrs)) {
		x.shift++
	}
	x.blocks = make([]int32, span>>x.shift+2)
	at := 0
	for b := range x.blocks {
		for at < len(vaddrs) && (vaddrs[at]-vaddrs[0])>>x.shift < uint64(b) {
			at++
		}
		x.blocks[b] = int32(at)
	}
	return x
}

func (x *nearest) atOrAfter(vaddr uint64) int {
	if vaddr <= x.vaddrs[0] {
		return 0
	}
	b := (vaddr - x.vaddrs[0]) >> x.shift
	if b >= uint64(len(x.blocks)) {
		return len(x.vaddrs)
	}
	from, to := int(x.blocks[b]), len(x.vaddrs)
	if b+1 < uint64(len(x.blocks)) {
		to = int(x.blocks[b+1])
	}
	i, _ := slices.BinarySearch(x.vaddrs[from:to], vaddr)
	return from + i
}

// Starts yields every address at which the image says that code begins: frames,
// function symbols, the entry point, DT_INIT and DT_FINI. Repeats included, in no
// order.
func (m *Image) Starts(yield func(uint64) bool) {
	for _, vaddr := range []uint64{m.Entry, m.dyn.tag[dtInit], m.dyn.tag[dtFini]} {
		if vaddr != 0 && !yield(vaddr) {
			return
		}
	}
	for i := range m.eh.len() {
		if !yield(m.eh.start(i)) {
			return
		}
	}
	if !m.eh.sorted {
		for _, f := range m.linearFrames() {
			if !yield(f.Start) {
				return
			}
		}
	}
	m.eachFunc(func(f Func) bool { yield(f.Vaddr); return false }, nil)
}

func (m *Image) eachFunc(want, yield func(Func) bool) {
	if syms, names := m.sectionSymbols(shtSymtab); !m.funcs(syms, names, false, want, yield) {
		return
	}
	syms, names := m.sectionSymbols(shtDynsym)
	if len(syms) == 0 {
		syms, names = m.dynamicSymbols()
	}
	m.funcs(syms, names, true, want, yield)
}

// sectionSymbols returns the first symbol table of a kind and its strings.
func (m *Image) sectionSymbols(kind uint32) (syms, names []byte) {
	for i := range m.file.Sections {
		if s := &m.file.Sections[i]; uint32(s.Type) == kind {
			return m.section(uint32(i)), m.section(s.LinkedIndex)
		}
	}
	return nil, nil
}

func (m *Image) dynamicSymbols() (syms, names []byte) {
	return m.table(dtSymtab, m.symbolCount()*symSize), m.dynStrings()
}

// symbolCount is at most 2^32: 24 times as much does not overflow.
func (m *Image) symbolCount() uint64 {
	if b := m.table(dtHash, 8); len(b) == 8 {
		return uint64(le.Uint32(b[4:])) // nchain
	}
	return gnuHashCount(m.table(tagGNUHash, uint64(len(m.Raw))))
}

// gnuHashCount finds the last symbol of a DT_GNU_HASH table:
//
//	nbuckets symoffset nbloom shift | bloom 8*nbloom | bucket 4*nbuckets | chain
//
// A bucket names the first symbol of its chain, and the chain word of symbol i
// is number i-symoffset, odd where a chain ends.
func gnuHashCount(b []byte) uint64 {
	if len(b) < 16 {
		return 0
	}
	buckets, first := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
	at := 16 + 8*uint64(le.Uint32(b[8:]))
	if !within(at, 4*buckets, uint64(len(b))) {
		return 0
	}
	last := uint64(0)
	for i := range buckets {
		last = max(last, uint64(le.Uint32(b[at+4*i:])))
	}
	if last < first {
		return first // only symbols that are not hashed
	}
	return chainEnd(b[at+4*buckets:], last, first)
}

// chainEnd returns the number of the symbol after the one that ends last's chain.
func chainEnd(chain []byte, last, first uint64) uint64 {
	for n := uint64(len(chain)) / 4; last-first < n; last++ {
		if le.Uint32(chain[4*(last-first):])&1 != 0 {
			return last + 1
		}
	}
	return last
}

// funcs yields the wanted functions of one table; false when yield asked to stop.
func (m *Image) funcs(syms, names []byte, dynamic bool, want, yield func(Func) bool) bool {
	if len(syms) < symSize {
		return true
	}
	table := string(names)
	for ; len(syms) >= symSize; syms = syms[symSize:] {
		f, ok := m.function(syms)
		if !ok || !want(f) {
			continue
		}
		f.Dynamic = dynamic
		f.Name = nameAt(table, le.Uint32(syms))
		if !yield(f) {
			return false
		}
	}
	return true
}

// function decodes the symbol at sym, if it is a function defined in
// executable memory. A size that leaves the segment is cut.
func (m *Image) function(sym []byte) (Func, bool) {
	kind, shndx := sym[4]&0xf, le.Uint16(sym[6:])
	if kind != sttFunc && kind != sttIfunc || shndx == 0 {
		return Func{}, false
	}
	f := Func{Vaddr: le.Uint64(sym[8:]), Size: le.Uint64(sym[16:])}
	s, ok := m.loadAt(f.Vaddr)
	if !ok || !s.Executable() {
		return Func{}, false
	}
	f.Size = min(f.Size, s.memEnd()-f.Vaddr)
	return f, true
}

func nameAt(table string, off uint32) string {
	if uint64(off) >= uint64(len(table)) {
		return ""
	}
	s := table[off:]
	n := strings.IndexByte(s[:min(len(s), maxSymbolName)], 0)
	if n < 0 {
		return ""
	}
	return s[:n]
}
