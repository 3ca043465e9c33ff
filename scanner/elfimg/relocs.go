// Addresses of code that the loader writes into data: function pointers,
// which are ways into the code that no branch shows.
//
// From 2.41 on most of them are not in DT_RELA but in DT_RELR, where an entry is
// either an address or a bitmap of the 63 words behind the last one, and the
// value is what the file holds at the place.

package elfimg

import "iter"

const (
	relaSize = 24

	relAbs64     = 257  // R_AARCH64_ABS64
	relGlobDat   = 1025 // R_AARCH64_GLOB_DAT
	relJumpSlot  = 1026 // R_AARCH64_JUMP_SLOT
	relRelative  = 1027 // R_AARCH64_RELATIVE
	relIrelative = 1032 // R_AARCH64_IRELATIVE
)

// Relatives yields the targets of R_AARCH64_RELATIVE and IRELATIVE (DT_RELA
// and DT_JMPREL) and of DT_RELR that are words of Exec, in table order, repeats
// included; of the relocations against a symbol of the image itself, too. An
// ET_EXEC that needs no relocation has none to show.
func (m *Image) Relatives(yield func(uint64) bool) {
	for target := range m.relocated() {
		if _, ok := m.execAt(target); ok && target&3 == 0 && !yield(target) {
			return
		}
	}
}

func (m *Image) relocated() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		ok := m.relaTargets(m.table(dtRela, m.dyn.tag[dtRelasz]), yield)
		if ok && m.dyn.tag[dtPltrel] == dtRela {
			ok = m.relaTargets(m.table(dtJmprel, m.dyn.tag[dtPltrelsz]), yield)
		}
		if !ok {
			return
		}
		for place := range relrPlaces(m.table(dtRelr, m.dyn.tag[dtRelrsz])) {
			if b, ok := m.ReadAt(place, 8); ok && !yield(le.Uint64(b)) {
				return
			}
		}
	}
}

func (m *Image) relaTargets(b []byte, yield func(uint64) bool) bool {
	for ; len(b) >= relaSize; b = b[relaSize:] {
		target := le.Uint64(b[16:])
		switch le.Uint32(b[8:]) {
		case relRelative, relIrelative:
		case relAbs64, relGlobDat, relJumpSlot:
			target += m.symbolValue(le.Uint32(b[12:]))
		default:
			continue
		}
		if !yield(target) {
			return false
		}
	}
	return true
}

// symbolValue is the address of a dynamic symbol, 0 when it has none.
func (m *Image) symbolValue(n uint32) uint64 {
	at := m.dyn.tag[dtSymtab] + uint64(n)*symSize
	if m.dyn.tag[dtSymtab] == 0 {
		return 0
	}
	b, ok := m.ReadAt(at, symSize)
	if !ok {
		return 0
	}
	return le.Uint64(b[8:])
}

// relrPlaces decodes a DT_RELR table: an even entry is a place; bit i of an odd
// one (i >= 1) is the i-th word behind the words seen so far.
func relrPlaces(b []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		next := uint64(0)
		for ; len(b) >= 8; b = b[8:] {
			e := le.Uint64(b)
			if e&1 == 0 {
				if !yield(e) {
					return
				}
				next = e + 8
				continue
			}
			for i, bits := uint64(0), e>>1; bits != 0; i, bits = i+1, bits>>1 {
				if bits&1 != 0 && !yield(next+8*i) {
					return
				}
			}
			next += 63 * 8
		}
	}
}
