// Where the code is.
//
// A glibc of two PT_LOADs maps 150 to 400 KB of read-only data executable, so
// segments alone would make data look like svc words; sections tell them apart.
// glibc 2.31 and 2.36 have a third executable section besides .plt and .text:
// __libc_freeres_fn.

package elfimg

import (
	"cmp"
	"slices"

	"github.com/yalue/elf_reader"
)

const (
	shtProgbits = 1
	shtSymtab   = 2
	shtNote     = 7
	shtNobits   = 8
	shtDynsym   = 11

	shfAlloc = 2
	shfExec  = 4

	maxSectionName = 64
)

func isCode(s *elf_reader.ELF64SectionHeader) bool {
	return s.Flags&(shfAlloc|shfExec) == shfAlloc|shfExec
}

// isDebugFile: code sections exist and none has bytes.
func isDebugFile(sections []elf_reader.ELF64SectionHeader) bool {
	nobits := false
	for i := range sections {
		if !isCode(&sections[i]) {
			continue
		}
		if sections[i].Type != shtNobits {
			return false
		}
		nobits = true
	}
	return nobits
}

func (m *Image) readExec() error {
	if m.Debug {
		return nil
	}
	for i := range m.file.Sections {
		if err := m.addSection(i, &m.file.Sections[i]); err != nil {
			return err
		}
	}
	if len(m.Exec) == 0 {
		m.addSegments()
	}
	return m.sortExec()
}

func (m *Image) addSection(i int, s *elf_reader.ELF64SectionHeader) error {
	if !isCode(s) || s.Type != shtProgbits || s.Size == 0 {
		return nil
	}
	what := numbered("section", i)
	if !within(s.FileOffset, s.Size, uint64(len(m.Raw))) {
		return fault(what, s.FileOffset, withValue(ErrTruncated, uint64(len(m.Raw))))
	}
	load, ok := m.loadAt(s.VirtualAddress)
	if !ok || !load.Executable() || !load.holdsFile(s.VirtualAddress, s.Size) ||
		s.FileOffset-load.Off != s.VirtualAddress-load.Vaddr {
		return fault(what, s.FileOffset, withValue(ErrOutside, s.VirtualAddress))
	}
	m.addRange(Range{s.VirtualAddress, s.FileOffset, s.Size, m.sectionName(s)})
	return nil
}

func (m *Image) addSegments() {
	for _, s := range m.Loads {
		if s.Executable() {
			m.addRange(Range{Vaddr: s.Vaddr, Off: s.Off, Size: s.Filesz})
		}
	}
	m.ExecFromSegments = len(m.Exec) > 0
}

// addRange trims r to whole words; the processor fetches no others.
func (m *Image) addRange(r Range) {
	skip := -r.Vaddr & 3
	if r.Size < skip+4 {
		return
	}
	r.Vaddr, r.Off, r.Size = r.Vaddr+skip, r.Off+skip, (r.Size-skip)&^3
	m.Exec = append(m.Exec, r)
}

// sortExec refuses ranges that share addresses or file bytes: a word must have
// one meaning, and the sum of all ranges must not exceed the file.
func (m *Image) sortExec() error {
	slices.SortFunc(m.Exec, func(a, b Range) int { return cmp.Compare(a.Off, b.Off) })
	if err := overlap(m.Exec, func(r Range) uint64 { return r.Off }); err != nil {
		return err
	}
	slices.SortFunc(m.Exec, func(a, b Range) int { return cmp.Compare(a.Vaddr, b.Vaddr) })
	return overlap(m.Exec, func(r Range) uint64 { return r.Vaddr })
}

func overlap(rs []Range, start func(Range) uint64) error {
	for i := 1; i < len(rs); i++ {
		if start(rs[i-1])+rs[i-1].Size > start(rs[i]) {
			return fault("executable range "+rs[i].Name, rs[i].Off, withValue(ErrOverlap, rs[i].Vaddr))
		}
	}
	return nil
}

// section returns the bytes of section i, or nil.
func (m *Image) section(i uint32) []byte {
	if uint64(i) >= uint64(len(m.file.Sections)) {
		return nil
	}
	s := &m.file.Sections[i]
	if s.Type == shtNobits {
		return nil
	}
	return m.fileBytes(s.FileOffset, s.Size)
}

// sectionName cuts names short: thousands of sections may share one long name.
func (m *Image) sectionName(s *elf_reader.ELF64SectionHeader) string {
	return stringAt(m.section(uint32(m.file.Header.SectionNamesTable)), uint64(s.Name), maxSectionName)
}

// Bytes returns r's bytes, a sub-slice of Raw; nil when r leaves the file.
func (m *Image) Bytes(r Range) []byte { return m.fileBytes(r.Off, r.Size) }

// fileBytes returns size bytes at off, which end there; nil when they leave the file.
func (m *Image) fileBytes(off, size uint64) []byte {
	if !within(off, size, uint64(len(m.Raw))) {
		return nil
	}
	end := off + size
	return m.Raw[off:end:end]
}

// Word returns the word at vaddr of an executable range.
func (m *Image) Word(vaddr uint64) (uint32, bool) {
	if vaddr&3 != 0 {
		return 0, false
	}
	r, ok := m.execAt(vaddr)
	if !ok {
		return 0, false
	}
	return le.Uint32(m.Raw[r.Off+(vaddr-r.Vaddr):]), true
}

// execAt finds the executable range that holds vaddr; a hostile image may have
// tens of thousands.
func (m *Image) execAt(vaddr uint64) (*Range, bool) {
	lo, hi := 0, len(m.Exec)
	for lo < hi {
		mid := (lo + hi) / 2
		r := &m.Exec[mid]
		switch {
		case vaddr < r.Vaddr:
			hi = mid
		case vaddr-r.Vaddr < r.Size:
			return r, true
		default:
			lo = mid + 1
		}
	}
	return nil, false
}
