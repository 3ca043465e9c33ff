// Loadable segments and what lies at an address.
//
// The checks are those of Linux's and glibc's loaders plus two that they skip:
// memory ranges may not overlap (a later segment would replace bytes that were
// scanned) and addresses stay below 2^52, so that sums never overflow.

package elfimg

import "github.com/yalue/elf_reader"

const (
	ptLoad        = 1
	ptDynamic     = 2
	ptInterp      = 3
	ptNote        = 4
	ptGNUEhFrame  = 0x6474e550
	ptGNUProperty = 0x6474e553

	flagExec = 1

	maxAddress = 1 << 52 // the largest AArch64 user address (LVA)
	relayPage  = 0x10000 // layouts use 64 KiB units, the largest page
)

// Executable tells whether the segment is mapped executable.
func (s Segment) Executable() bool { return s.Flags&flagExec != 0 }

func (s *Segment) memEnd() uint64  { return s.Vaddr + s.Memsz }
func (s *Segment) fileEnd() uint64 { return s.Vaddr + s.Filesz }

// holdsFile tells whether the file backs all of [vaddr, vaddr+size).
func (s *Segment) holdsFile(vaddr, size uint64) bool {
	return vaddr >= s.Vaddr && within(vaddr-s.Vaddr, size, s.Filesz)
}

func (m *Image) readLoads() error {
	for i := range m.file.Segments {
		p := &m.file.Segments[i]
		if p.Type != ptLoad {
			continue
		}
		s := Segment{Vaddr: p.VirtualAddress, Off: p.FileOffset, Filesz: p.FileSize,
			Memsz: p.MemorySize, Align: p.Align, Flags: uint32(p.Flags)}
		if m.Debug {
			s.Filesz = 0
		}
		if err := m.checkLoad(s); err != nil {
			return fault(numbered("segment", i), s.Off, err)
		}
		m.Loads = append(m.Loads, s)
	}
	return nil
}

// checkLoad judges s as the successor of the segments read so far.
func (m *Image) checkLoad(s Segment) error {
	switch {
	case !within(s.Vaddr, s.Memsz, maxAddress):
		return withValue(ErrAddress, s.Vaddr)
	case s.Filesz > s.Memsz:
		return withValue(ErrAddress, s.Filesz)
	case !m.Debug && !within(s.Off, s.Filesz, uint64(len(m.Raw))):
		return withValue(ErrTruncated, uint64(len(m.Raw)))
	case s.Align&(s.Align-1) != 0:
		return withValue(ErrAddress, s.Align)
	case !m.Debug && s.Align > 1 && (s.Vaddr-s.Off)%s.Align != 0:
		return withValue(ErrAddress, s.Vaddr)
	case len(m.Loads) > 0 && s.Vaddr < m.Loads[len(m.Loads)-1].memEnd():
		return withValue(ErrOverlap, s.Vaddr)
	}
	return nil
}

// loadAt finds the segment whose memory holds vaddr.
func (m *Image) loadAt(vaddr uint64) (*Segment, bool) {
	lo, hi := 0, len(m.Loads)
	for lo < hi {
		mid := (lo + hi) / 2
		s := &m.Loads[mid]
		switch {
		case vaddr < s.Vaddr:
			hi = mid
		case vaddr-s.Vaddr < s.Memsz:
			return s, true
		default:
			lo = mid + 1
		}
	}
	return nil, false
}

// tail returns the file's bytes from vaddr to the end of its segment.
func (m *Image) tail(vaddr uint64) []byte {
	s, ok := m.loadAt(vaddr)
	if !ok || vaddr >= s.fileEnd() {
		return nil
	}
	off := s.Off + (vaddr - s.Vaddr)
	end := s.Off + s.Filesz
	return m.Raw[off:end:end]
}

// ReadAt returns the n bytes at vaddr, a sub-slice of Raw, if one PT_LOAD backs
// all of them with the file.
func (m *Image) ReadAt(vaddr uint64, n int) ([]byte, bool) {
	b := m.tail(vaddr)
	if b == nil || n < 0 || n > len(b) {
		return nil, false
	}
	return b[:n:n], true
}

// Hole returns the free addresses between the end of the last executable
// PT_LOAD, exactly (no alignment), and the 64 KiB page on which the next
// PT_LOAD starts. It is empty, (0, 0), when there is no such room or no next.
func (m *Image) Hole() (start, end uint64) {
	for i := len(m.Loads) - 2; i >= 0; i-- {
		if !m.Loads[i].Executable() {
			continue
		}
		start, end = m.Loads[i].memEnd(), m.Loads[i+1].Vaddr&^(relayPage-1)
		if start < end {
			return start, end
		}
		break
	}
	return 0, 0
}

// content returns the file bytes of a program header that is not a PT_LOAD.
func (m *Image) content(i int, p *elf_reader.ELF64ProgramHeader) ([]byte, error) {
	b := m.fileBytes(p.FileOffset, p.FileSize)
	if b == nil {
		return nil, fault(numbered("segment", i), p.FileOffset, withValue(ErrTruncated, uint64(len(m.Raw))))
	}
	return b, nil
}

func (m *Image) readInterp() error {
	for i := range m.file.Segments {
		p := &m.file.Segments[i]
		if p.Type != ptInterp || m.Debug {
			continue
		}
		b, err := m.content(i, p)
		if err != nil {
			return err
		}
		m.Interp = cString(b, maxPath)
		return nil
	}
	return nil
}
