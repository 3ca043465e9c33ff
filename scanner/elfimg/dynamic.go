// The dynamic section, as a loader sees it: by address, last entry of a tag wins.

package elfimg

const (
	dtNull     = 0
	dtPltrelsz = 2
	dtHash     = 4
	dtStrtab   = 5
	dtSymtab   = 6
	dtRela     = 7
	dtRelasz   = 8
	dtStrsz    = 10
	dtInit     = 12
	dtFini     = 13
	dtSoname   = 14
	dtPltrel   = 20
	dtJmprel   = 23
	dtRelrsz   = 35
	dtRelr     = 36
	dtGNUHash  = 0x6ffffef5

	tagGNUHash = dtRelr + 1 // where dynamic keeps DT_GNU_HASH
)

// dynamic holds the values of the tags up to DT_RELR; 0 means absent, for no
// table of an image can lie at address 0, where its header is.
type dynamic struct {
	tag [tagGNUHash + 1]uint64
}

func (d *dynamic) set(tag, value uint64) {
	switch {
	case tag <= dtRelr:
		d.tag[tag] = value
	case tag == dtGNUHash:
		d.tag[tagGNUHash] = value
	}
}

func (m *Image) readDynamic() error {
	for i := range m.file.Segments {
		p := &m.file.Segments[i]
		if p.Type != ptDynamic || m.Debug {
			continue
		}
		b, ok := m.ReadAt(p.VirtualAddress, int(min(p.FileSize, uint64(len(m.Raw)))))
		if !ok || p.FileSize > uint64(len(b)) {
			return fault(numbered("segment", i), p.FileOffset, withValue(ErrTruncated, uint64(len(m.Raw))))
		}
		for ; len(b) >= 16 && le.Uint64(b) != dtNull; b = b[16:] {
			m.dyn.set(le.Uint64(b), le.Uint64(b[8:]))
		}
		m.SOName = stringAt(m.dynStrings(), m.dyn.tag[dtSoname], maxPath)
		return nil
	}
	return nil
}

// table returns up to size bytes at the address that tag holds.
func (m *Image) table(tag int, size uint64) []byte {
	if m.dyn.tag[tag] == 0 {
		return nil
	}
	b := m.tail(m.dyn.tag[tag])
	n := min(size, uint64(len(b)))
	return b[:n:n]
}

func (m *Image) dynStrings() []byte { return m.table(dtStrtab, m.dyn.tag[dtStrsz]) }
