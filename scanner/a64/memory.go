// Loads and stores (DDI 0487, C4.1.94). Three ways to write x8 hide here: as
// the loaded register, as the second of a pair, and as the base of a pre- or
// post-indexed access.

package a64

// memory decodes op0 = x1x0.
func memory(w Word) Effect {
	switch {
	case w&0x3f00_0000 == 0x0800_0000:
		return exclusive(w)
	case w&0xbe00_0000 == 0x0c00_0000:
		return structure(w)
	case w&0x3b00_0000 == 0x1800_0000:
		return literal(w)
	case w&0x3b00_0000 == 0x1900_0000:
		return unscaledOrdered(w)
	case w&0x3a00_0000 == 0x2800_0000:
		return pair(w)
	case w&0x3b00_0000 == 0x3900_0000:
		return single(w, X(w.rn()), 0)
	case w&0x3b00_0000 == 0x3800_0000:
		return indexed(w)
	}
	return Effect{}
}

// structure decodes ld1 to ld4 and st1 to st4: only the base and, when
// post-indexed, the index are general registers.
func structure(w Word) Effect {
	allocated := isMultiple
	if w.bit(24) {
		allocated = isSingle
	}
	switch {
	case !allocated(w):
		return Effect{}
	case w.bit(23):
		return next(X(w.rn())|X(w.rm()), X(w.rn()))
	case w.rm() == 0:
		return next(X(w.rn()), 0)
	}
	return Effect{}
}

// isMultiple reports whether w is an ld1 to st4 of whole registers. Only ld1 and
// st1 take registers of one doubleword.
func isMultiple(w Word) bool {
	switch w.field(15, 12) {
	case 2, 6, 7, 10: // ld1, st1
		return !w.bit(21)
	case 0, 4, 8:
		return !w.bit(21) && (w.bit(30) || w.field(11, 10) != 3)
	}
	return false
}

// isSingle reports whether w is an ld1 to st4 of one element, or an ld1r to ld4r.
func isSingle(w Word) bool {
	switch size := w.field(11, 10); w.field(15, 14) {
	case 1:
		return size&1 == 0
	case 2:
		return size == 0 || size == 1 && !w.bit(12)
	case 3: // replicated
		return w.bit(22) && !w.bit(12)
	}
	return true
}

// literal decodes the pc-relative loads.
func literal(w Word) Effect {
	switch prefetch := w.field(31, 30) == 3; {
	case w.bit(26):
		if prefetch {
			return Effect{}
		}
		return next(0, 0)
	case prefetch:
		return next(0, 0)
	}
	return next(0, X(w.rd()))
}

// IsLiteralLoad reports whether w reads memory relative to its own address.
func (w Word) IsLiteralLoad() bool { return w&0x3b00_0000 == 0x1800_0000 }

// unscaledOrdered decodes ldapur and stlur, the tag stores and the memory copy
// and set words.
func unscaledOrdered(w Word) Effect {
	switch {
	case w&0xff20_0000 == 0xd920_0000:
		return tagAccess(w)
	case w.bit(21):
		return Effect{}
	case w.field(11, 10) == 1 && w.field(31, 30) == 0:
		return copyOrSet(w)
	case w.field(11, 10) == 0 && !w.bit(26): // ldapur, stlur
		return access(w, w.field(31, 30), X(w.rn()), 0)
	}
	return Effect{}
}

// pair decodes ldp, stp, ldnp, stnp, ldpsw and stgp.
func pair(w Word) Effect {
	opc, mode, load := w.field(31, 30), w.field(24, 23), w.bit(22)
	if opc == 3 || opc == 1 && mode == 0 && !w.bit(26) {
		return Effect{}
	}
	e := next(X(w.rn()), 0)
	if mode&1 == 1 { // pre- and post-indexed
		e.Def |= X(w.rn())
	}
	switch rt := X(w.rd()) | X(w.ra()); {
	case w.bit(26):
	case load:
		e.Def |= rt
	default:
		e.Use |= rt
	}
	return e
}

// indexed decodes the accesses with bit 24 clear: unscaled, pre- and
// post-indexed, unprivileged, register offset, atomic and authenticated.
func indexed(w Word) Effect {
	base, mode := X(w.rn()), w.field(11, 10)
	if !w.bit(21) {
		switch mode {
		case 0:
			return single(w, base, 0)
		case 2: // ldtr, sttr
			if w.bit(26) || w.field(31, 30) == 3 && w.bit(23) {
				return Effect{}
			}
			return single(w, base, 0)
		}
		if w.field(31, 30) == 3 && w.bit(23) && !w.bit(26) { // no indexed prefetch
			return Effect{}
		}
		return single(w, base, base)
	}
	switch {
	case mode == 2:
		if !w.bit(14) {
			return Effect{}
		}
		return single(w, base|X(w.rm()), 0)
	case mode == 0 && !w.bit(26):
		return atomic(w)
	case w&0xff20_0400 == 0xf820_0400: // ldraa, ldrab
		if w.bit(11) {
			return next(base, X(w.rd())|base)
		}
		return next(base, X(w.rd()))
	}
	return Effect{}
}

// single decodes the accesses of one register with the address registers use
// and the written-back ones def; size 3 with opc 2 is a prefetch.
func single(w Word, use, def Regs) Effect {
	size, opc := w.field(31, 30), w.field(23, 22)
	if w.bit(26) {
		if opc >= 2 && size != 0 {
			return Effect{}
		}
		return next(use, def)
	}
	if size == 3 && opc == 2 {
		return next(use, def)
	}
	return access(w, size, use, def)
}

// access decodes opc of a general register's load or store: store, load, load
// sign-extended to x, load sign-extended to w.
func access(w Word, size uint32, use, def Regs) Effect {
	switch opc := w.field(23, 22); {
	case opc == 0:
		return next(use|X(w.rd()), def)
	case opc+size > 4: // nothing wider than the register to extend
		return Effect{}
	}
	return next(use, def|X(w.rd()))
}

// Loads reports whether w reads memory into xn, rather than writing xn as an
// updated base or as the status of an exclusive store.
func (w Word) Loads(n uint32) bool {
	if !w.isLoadStore() || !Decode(w).Def.Has(n) {
		return false
	}
	storeExclusive := w&0x3fc0_0000 == 0x0800_0000 && (w.bit(31) || !w.bit(21)) // and not casp
	copyOrSet := w&0xfb20_0c00 == 0x1900_0400
	isTarget := w.rd() == n || w.ra() == n && w&0x3a00_0000 == 0x2800_0000 // ldp
	return !storeExclusive && !copyOrSet && (w.rn() != n || isTarget)
}

// isLoadStore reports whether w is in the group of loads and stores.
func (w Word) isLoadStore() bool { return w>>25&0x5 == 0x4 }

// FromStack reports whether a load's address is built on sp or the frame pointer.
func (w Word) FromStack() bool {
	return !w.IsLiteralLoad() && (w.rn() == 31 || w.rn() == 29)
}

// An Indexed is a load of 1, 2 or 4 bytes with a register offset.
type Indexed struct {
	Reg, Base, Index uint32
	Size             uint32 // bytes
	Signed           bool   // sign-extended to the register
}

// IndexedLoad reports such a load: how a jump table's entry is read.
func (w Word) IndexedLoad() (l Indexed, ok bool) {
	log, opc := w.field(31, 30), w.field(23, 22)
	if w&0x3f20_4c00 != 0x3820_4800 || opc == 0 || log == 3 || opc+log > 4 {
		return l, false
	}
	return Indexed{w.rd(), w.rn(), w.rm(), 1 << log, opc >= 2}, true
}
