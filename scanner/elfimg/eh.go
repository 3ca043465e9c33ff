// Which frame of the unwind tables an address belongs to.
//
// PT_GNU_EH_FRAME names a table sorted by function start that libgcc trusts
// alone, so the same table answers here: one binary search, two decoded entries,
// no allocation. Only an image without it has its .eh_frame read through, once.
//
//	.eh_frame_hdr: version 1 | enc of eh_frame | enc of count | enc of table
//	               | eh_frame | count | { start, entry } * count
//	entry (FDE):   length | distance to its CIE | start | size | augmentation
//
// Starts are relative to where they are stored, the table to the header.

package elfimg

import (
	"cmp"
	"slices"
	"sort"
)

// Frame is the part of a function that one entry describes. It lies in one
// executable segment.
type Frame struct {
	Start, End uint64
	LSDA       uint64 // of its exception table; 0: none
}

func (f Frame) holds(vaddr uint64) bool { return vaddr >= f.Start && vaddr < f.End }

// FrameAt returns the frame that covers vaddr.
func (m *Image) FrameAt(vaddr uint64) (Frame, bool) {
	f, ok := m.lastFrame(vaddr)
	if !ok || !f.holds(vaddr) {
		return Frame{}, false
	}
	return f, true
}

// Frames yields all frames in ascending order. One that overlaps the frames
// before it is left out, as is one that cannot be decoded.
func (m *Image) Frames(yield func(Frame) bool) {
	end := uint64(0)
	for f := range m.rawFrames {
		if f.Start < end {
			continue
		}
		if end = f.End; !yield(f) {
			return
		}
	}
}

// lastFrame returns the last frame that starts at vaddr or below.
func (m *Image) lastFrame(vaddr uint64) (Frame, bool) {
	if m.eh.sorted {
		n := sort.Search(m.eh.len(), func(i int) bool { return m.eh.start(i) > vaddr })
		if n == 0 {
			return Frame{}, false
		}
		return m.frame(m.eh.entry(n-1), &cieMemo{})
	}
	fs := m.linearFrames()
	n := sort.Search(len(fs), func(i int) bool { return fs[i].Start > vaddr })
	if n == 0 {
		return Frame{}, false
	}
	return fs[n-1], true
}

// rawFrames yields the frames in the order of their table.
func (m *Image) rawFrames(yield func(Frame) bool) {
	var memo cieMemo
	for i := range m.eh.len() {
		if f, ok := m.frame(m.eh.entry(i), &memo); ok && !yield(f) {
			return
		}
	}
	if m.eh.sorted {
		return
	}
	for _, f := range m.linearFrames() {
		if !yield(f) {
			return
		}
	}
}

// ehHeader is a decoded .eh_frame_hdr.
type ehHeader struct {
	vaddr   uint64
	ehFrame uint64
	table   []byte // pairs of sdata4 relative to vaddr
	sorted  bool   // table is there
}

// readUnwind never fails: malformed unwind data is an image without frames,
// which runs as well as any other until something unwinds.
func (m *Image) readUnwind() error {
	for i := range m.file.Segments {
		if p := &m.file.Segments[i]; p.Type == ptGNUEhFrame {
			m.eh = m.decodeHeader(p.VirtualAddress)
			break
		}
	}
	return nil
}

func (m *Image) decodeHeader(vaddr uint64) ehHeader {
	c := cursor{b: m.tail(vaddr), at: vaddr, data: vaddr}
	version, frameEnc, countEnc, tableEnc := c.u8(), c.u8(), c.u8(), c.u8()
	h := ehHeader{vaddr: vaddr, ehFrame: c.pointer(frameEnc)}
	if c.bad || version != 1 {
		return ehHeader{}
	}
	count := c.pointer(countEnc)
	h.sorted = !c.bad && tableEnc == encDatarel|encSdata4 && count <= uint64(len(c.b))/8
	if h.sorted {
		h.table = c.b[:8*count]
	}
	return h
}

func (h *ehHeader) len() int           { return len(h.table) / 8 }
func (h *ehHeader) at(i int) uint64    { return h.vaddr + uint64(int64(int32(le.Uint32(h.table[i:])))) }
func (h *ehHeader) start(i int) uint64 { return h.at(8 * i) }
func (h *ehHeader) entry(i int) uint64 { return h.at(8*i + 4) }

// linearFrames reads .eh_frame through on first use.
func (m *Image) linearFrames() []Frame {
	m.linear.once.Do(func() { m.linear.frames = m.allFrames() })
	return m.linear.frames
}

// allFrames decodes .eh_frame up to its terminator or to the first record that
// does not fit, and sorts. A record is 16 bytes or more, so that the result is
// no larger than twice the section.
func (m *Image) allFrames() []Frame {
	at := m.ehFrame()
	c := cursor{b: m.tail(at), at: at}
	var fs []Frame
	var memo cieMemo
	for {
		body, ok := c.record()
		if !ok {
			break
		}
		if f, ok := m.entry(body, &memo); ok {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b Frame) int { return cmp.Compare(a.Start, b.Start) })
	return fs
}

// ehFrame returns the address of .eh_frame, from the header or by section name.
func (m *Image) ehFrame() uint64 {
	if m.eh.ehFrame != 0 {
		return m.eh.ehFrame
	}
	for i := range m.file.Sections {
		if s := &m.file.Sections[i]; s.Flags&shfAlloc != 0 && m.sectionName(s) == ".eh_frame" {
			return s.VirtualAddress
		}
	}
	return 0
}

// frame decodes the entry at vaddr.
func (m *Image) frame(vaddr uint64, memo *cieMemo) (Frame, bool) {
	c := cursor{b: m.tail(vaddr), at: vaddr}
	body, ok := c.record()
	if !ok {
		return Frame{}, false
	}
	return m.entry(body, memo)
}

// entry decodes an entry behind its length; false for a CIE too.
func (m *Image) entry(body cursor, memo *cieMemo) (f Frame, ok bool) {
	back := body.at
	distance := uint64(body.u32())
	if body.bad || distance == 0 { // a CIE
		return Frame{}, false
	}
	if memo.at != back-distance {
		memo.at = back - distance
		memo.cie, memo.ok = m.cie(memo.at)
	}
	if !memo.ok {
		return Frame{}, false
	}
	f.Start = body.pointer(memo.start)
	f.End = f.Start + body.value(memo.start)
	if memo.augmented {
		body.uleb()
		if memo.lsda != encOmit {
			f.LSDA = body.lsda(memo.lsda)
		}
	}
	return f, !body.bad && m.executable(f)
}

func (m *Image) executable(f Frame) bool {
	s, ok := m.loadAt(f.Start)
	return ok && s.Executable() && f.Start < f.End && f.End <= s.memEnd()
}
