// Exclusives, atomics, memory tags and memory copies (DDI 0487, C4.1.94): the
// loads and stores whose register fields change sides from word to word. cas
// writes the register it compares, stxr the one that tells how it went, and a
// cpy all three of its registers.

package a64

// exclusive decodes ldxr, stxr, ldar, stlr, their pairs, cas and casp.
func exclusive(w Word) Effect {
	rs, rt, rt2, base := X(w.rm()), X(w.rd()), X(w.ra()), X(w.rn())
	load, pairForm := w.bit(22), w.bit(21)
	switch ordered := w.bit(23); {
	case ordered && pairForm: // cas
		if w.ra() != 31 {
			return Effect{}
		}
		return next(base|rs|rt, rs)
	case pairForm && !w.bit(31): // casp
		if w.ra() != 31 || w.bit(16) || w.bit(0) {
			return Effect{}
		}
		both := rs | X(w.rm()+1)
		return next(base|both|rt|X(w.rd()+1), both)
	case !pairForm && load: // ldxr, ldar
		return next(base, rt)
	case !pairForm && ordered: // stlr
		return next(base|rt, 0)
	case !pairForm: // stxr
		return next(base|rt, rs)
	case load: // ldxp
		return next(base, rt|rt2)
	}
	return next(base|rt|rt2, rs) // stxp
}

// atomic decodes the LSE words ld<op>, swp and ldapr.
func atomic(w Word) Effect {
	rs, rt, base := X(w.rm()), X(w.rd()), X(w.rn())
	switch opc := w.field(14, 12); {
	case !w.bit(15), opc == 0: // ldadd ... ldumin, swp
		return next(base|rs, rt)
	case opc == 4 && w.rm() == 31 && w.bit(23) && !w.bit(22): // ldapr
		return next(base, rt)
	}
	return Effect{}
}

// tagAccess decodes stg, stzg, st2g, stz2g, ldg and their multiple forms.
func tagAccess(w Word) Effect {
	base, rt := X(w.rn()), X(w.rd())
	if mode := w.field(11, 10); mode != 0 {
		if mode == 2 {
			return next(base|rt, 0)
		}
		return next(base|rt, base)
	}
	switch opc := w.field(23, 22); {
	case opc == 1: // ldg replaces the tag in rt
		return next(base|rt, rt)
	case w.field(20, 12) != 0: // the multiple forms have no offset
		return Effect{}
	case opc == 3: // ldgm
		return next(base, rt)
	}
	return next(base|rt, 0) // stzgm, stgm
}

// copyOrSet decodes the prologue, main and epilogue words of cpy and set, which
// update their address and count registers; the prologue tells the others in
// NZCV what it did.
func copyOrSet(w Word) Effect {
	rd, rn, rs := X(w.rd()), X(w.rn()), X(w.rm())
	stage, e := w.field(23, 22), next(rd|rn|rs, rd|rn)
	if stage == 3 { // set keeps its value register
		stage = w.field(15, 14)
	} else {
		e.Def |= rs
	}
	switch stage {
	case 0:
		e.Def |= NZCV
	case 1, 2:
		e.Use |= NZCV
	case 3:
		return Effect{}
	}
	return e
}
