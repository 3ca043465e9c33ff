// PT_LOADs. Two things here are not in the ELF specification: an alignment that
// is no power of two is ignored, as the kernel does, and a file whose offsets and
// addresses agree modulo 4 KiB only is no program on a machine of 16 KiB pages.
package loadplan

import (
	"debug/elf"

	"svcrelay/runtime/abi"
)

const (
	maxSegments = 64
	taskSize    = 1 << 48
	// A reservation has to hold the alignment on top of the image, and the
	// smallest address space of arm64 Linux has 39 bits.
	maxAlign = 1 << 36
)

var protOf = []struct {
	flag elf.ProgFlag
	prot uint32
}{{elf.PF_R, abi.ProtRead}, {elf.PF_W, abi.ProtWrite}, {elf.PF_X, abi.ProtExec}}

func prot(f elf.ProgFlag) (p uint32) {
	for _, m := range protOf {
		if f&m.flag != 0 {
			p |= m.prot
		}
	}
	return p
}

func isPowerOfTwo(n uint64) bool { return n != 0 && n&(n-1) == 0 }

func (m *Image) addSegment(h phdr, phoff uint64) error {
	switch {
	case h.filesz > h.memsz:
		return noExec("%#x bytes of file for %#x of memory", h.filesz, h.memsz)
	case h.memsz > taskSize || h.addr > taskSize-h.memsz:
		return noExec("%#x bytes at %#x end outside the address space", h.memsz, h.addr)
	case h.offset > 1<<63-1-h.filesz:
		return noExec("offset %#x", h.offset)
	case h.memsz == 0:
		return nil
	}
	if isPowerOfTwo(h.align) {
		m.Align = max(m.Align, h.align)
	}
	if phoff >= h.offset && phoff-h.offset < h.filesz {
		m.Phdr = phoff - h.offset + h.addr
	}
	m.Segments = append(m.Segments, abi.Segment{
		Addr: h.addr, Filesz: h.filesz, Memsz: h.memsz, Offset: h.offset, Prot: prot(h.flags),
	})
	return nil
}

func (m *Image) checkSegments(pageSize uint64) error {
	m.Align = max(m.Align, pageSize)
	switch n := len(m.Segments); {
	case n == 0 || n > maxSegments:
		return noExec("%d segments", n)
	case m.Align > maxAlign:
		return noExec("segments aligned to %#x", m.Align)
	}
	var end uint64
	for i, s := range m.Segments {
		if s.Addr < end {
			return noExec("segment %d at %#x begins before the one before it ends, at %#x", i, s.Addr, end)
		}
		if s.Filesz != 0 && (s.Addr-s.Offset)%pageSize != 0 {
			return noExec("segment %d at %#x, offset %#x: not the same place in a page of %#x", i, s.Addr, s.Offset, pageSize)
		}
		end = s.Addr + s.Memsz
	}
	return nil
}

// low and end are the first address and the one behind the last.
func (m *Image) low() uint64 { return m.Segments[0].Addr }

func (m *Image) end() uint64 {
	last := m.Segments[len(m.Segments)-1]
	return last.Addr + last.Memsz
}

// heapGap is what arm64 chooses a random distance below, in 64-bit programs.
const heapGap = 1 << 30

// Heap returns where a kernel that loads m itself at base starts the heap: right
// behind the last segment and, unless random is 0, a random number of pages
// below 1 GiB further. Without a loader in between that is where brk(0) is.
func (m *Image) Heap(base, pageSize, random uint64) uint64 {
	start := (base + m.end() + pageSize - 1) &^ (pageSize - 1)
	return start + random%(heapGap/pageSize)*pageSize
}
