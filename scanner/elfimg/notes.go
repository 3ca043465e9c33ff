// The build-ID and the AArch64 feature bits.
//
// Notes are padded to 4 bytes except in .note.gnu.property, where gABI asks for
// 8 and the kernel reads the PT_GNU_PROPERTY header alone. A debug file's note
// segments may point anywhere, so there only sections count.

package elfimg

import "bytes"

const (
	noteBuildID  = 3
	noteProperty = 5

	propertyAArch64 = 0xc0000000 // GNU_PROPERTY_AARCH64_FEATURE_1_AND
	featureBTI      = 1
	featurePAC      = 2
	featureGCS      = 4

	maxBuildID = 64
)

func (m *Image) readNotes() error {
	if err := m.segmentNotes(); err != nil {
		return err
	}
	if m.BuildID == nil {
		m.sectionNotes()
	}
	return nil
}

func (m *Image) segmentNotes() error {
	budget := len(m.Raw)
	for i := range m.file.Segments {
		p := &m.file.Segments[i]
		if m.Debug || p.Type != ptNote && p.Type != ptGNUProperty {
			continue
		}
		b, err := m.content(i, p)
		if err != nil {
			return err
		}
		if budget -= len(b); budget < 0 {
			break
		}
		m.notes(b, p.Align)
	}
	return nil
}

// sectionNotes serves debug files and images whose linker made no PT_NOTE. The
// budget keeps overlapping sections from being walked again and again.
func (m *Image) sectionNotes() {
	budget := len(m.Raw)
	for i := range m.file.Sections {
		s := &m.file.Sections[i]
		if s.Type != shtNote {
			continue
		}
		b := m.section(uint32(i))
		if budget -= len(b); budget < 0 {
			return
		}
		m.notes(b, s.Align)
	}
}

// notes walks one table and keeps what this package knows; it stops at the
// first note that does not fit.
func (m *Image) notes(b []byte, align uint64) {
	if align != 8 {
		align = 4
	}
	pad := func(n uint32) uint64 { return (uint64(n) + align - 1) &^ (align - 1) }
	for len(b) >= 12 {
		namesz, descsz, kind := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
		descAt := (12 + uint64(namesz) + align - 1) &^ (align - 1)
		if !within(descAt, uint64(descsz), uint64(len(b))) {
			return
		}
		desc := b[descAt : descAt+uint64(descsz)]
		if namesz == 4 && bytes.Equal(b[12:16], []byte("GNU\x00")) {
			m.gnuNote(kind, desc)
		}
		b = b[min(descAt+pad(descsz), uint64(len(b))):]
	}
}

func (m *Image) gnuNote(kind uint32, desc []byte) {
	switch {
	case kind == noteBuildID && m.BuildID == nil && len(desc) > 0 && len(desc) <= maxBuildID:
		m.BuildID = desc[:len(desc):len(desc)]
	case kind == noteProperty:
		m.properties(desc)
	}
}

// properties reads the array of a property note: type, size, data, padded to 8.
func (m *Image) properties(b []byte) {
	for len(b) >= 8 {
		kind, size := le.Uint32(b), uint64(le.Uint32(b[4:]))
		if !within(8, size, uint64(len(b))) {
			return
		}
		if kind == propertyAArch64 && size >= 4 {
			f := le.Uint32(b[8:])
			m.Property = Property{f&featureBTI != 0, f&featurePAC != 0, f&featureGCS != 0}
		}
		b = b[min(8+(size+7)&^7, uint64(len(b))):]
	}
}
