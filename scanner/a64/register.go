// Data processing on registers (DDI 0487, C4.1.95). Conditional selects of w8
// and 3-source multiplies are why "writes x8" is decided by decoding: an
// allow-list of moves loses real sites.

package a64

// register decodes op0 = x101.
func register(w Word) Effect {
	if !w.bit(28) {
		return logicalOrAdd(w)
	}
	if w.bit(24) {
		return multiply(w)
	}
	switch w.field(23, 21) {
	case 0:
		return carryOrFlags(w)
	case 2:
		return compareConditional(w)
	case 4:
		return selectConditional(w)
	case 6:
		if w.bit(30) {
			return oneSource(w)
		}
		return twoSource(w)
	}
	return Effect{}
}

func logicalOrAdd(w Word) Effect {
	def := X(w.rd()) | flagsIf(w.bit(29))
	use := X(w.rn()) | X(w.rm())
	shiftTooFar := !w.sf() && w.bit(15)
	switch {
	case !w.bit(24): // and, bic, orr, orn, eor, eon, ands, bics
		if shiftTooFar {
			return Effect{}
		}
		return next(use, X(w.rd())|flagsIf(w.field(30, 29) == 3))
	case !w.bit(21): // add, sub of a shifted register
		if shiftTooFar || w.field(23, 22) == 3 {
			return Effect{}
		}
		return next(use, def)
	case w.field(23, 22) == 0 && w.field(12, 10) <= 4: // of an extended one
		return next(use, def)
	}
	return Effect{}
}

// multiply decodes the 3-source words; bits 23:21 and 15 tell the operation,
// and only madd and msub exist in w form.
func multiply(w Word) Effect {
	if w.field(30, 29) != 0 {
		return Effect{}
	}
	switch op := w.field(23, 21); {
	case op == 0, (op == 1 || op == 5) && w.sf():
		return next(X(w.rn())|X(w.rm())|X(w.ra()), X(w.rd()))
	case (op == 2 || op == 6) && w.sf() && !w.bit(15): // smulh, umulh
		return next(X(w.rn())|X(w.rm()), X(w.rd()))
	}
	return Effect{}
}

// carryOrFlags decodes adc, sbc and the flag words rmif, setf8, setf16.
func carryOrFlags(w Word) Effect {
	switch {
	case w.field(15, 10) == 0:
		return next(X(w.rn())|X(w.rm())|NZCV, X(w.rd())|flagsIf(w.bit(29)))
	case w&0xffe0_7c10 == 0xba00_0400, w&0xffff_bc1f == 0x3a00_080d:
		return next(X(w.rn())|NZCV, NZCV)
	}
	return Effect{}
}

func compareConditional(w Word) Effect {
	if !w.bit(29) || w.bit(10) || w.bit(4) {
		return Effect{}
	}
	use := X(w.rn()) | NZCV
	if !w.bit(11) { // the register form
		use |= X(w.rm())
	}
	return next(use, NZCV)
}

func selectConditional(w Word) Effect {
	if w.bit(29) || w.bit(11) {
		return Effect{}
	}
	return next(X(w.rn())|X(w.rm())|NZCV, X(w.rd()))
}

// twoSource decodes division, variable shifts, crc32, the CSSC minimum and
// maximum, and in x form the tag words and pacga.
func twoSource(w Word) Effect {
	e := next(X(w.rn())|X(w.rm()), X(w.rd()))
	op := w.field(15, 10)
	if w.bit(29) { // subps
		e.Def |= NZCV
		if !w.sf() || op != 0 {
			return Effect{}
		}
		return e
	}
	switch {
	case op == 2, op == 3, op>>2 == 2, op>>2 == 6: // udiv, sdiv; shifts; smax ... umin
		return e
	case op>>3 == 2: // crc32: the x form exists for doublewords only
		if w.sf() == (op&3 == 3) {
			return e
		}
	case w.sf() && (op == 0 || op == 4 || op == 5 || op == 12): // subp, irg, gmi, pacga
		return e
	}
	return Effect{}
}

// oneSource decodes the bit counters and reversals, and in x form pointer
// authentication of one register.
func oneSource(w Word) Effect {
	op := w.field(15, 10)
	if w.bit(29) {
		return Effect{}
	}
	switch w.rm() {
	case 0:
		if op <= 8 && (op != 3 || w.sf()) {
			return next(X(w.rn()), X(w.rd()))
		}
	case 1:
		if w.sf() && (op < 8 || op < 18 && w.rn() == 31) {
			return next(X(w.rn())|X(w.rd()), X(w.rd()))
		}
	}
	return Effect{}
}

// An Addend is the second operand of an add of two general registers.
type Addend struct {
	Reg    uint32
	Size   uint32 // bytes of it that count, 8 when it is not extended
	Signed bool   // sign-extended
	Shift  uint32 // left, after extending
}

// AddRegister reports the operands of an x-form add of a register, shifted left
// or extended: what ends a jump table's address.
func (w Word) AddRegister() (rd, rn uint32, m Addend, ok bool) {
	m.Reg, m.Size = w.rm(), 8
	switch {
	case w&0xffe0_0000 == 0x8b00_0000: // lsl
		m.Shift = w.field(15, 10)
	case w&0xffe0_0000 == 0x8b20_0000 && w.field(12, 10) <= 4:
		option := w.field(15, 13)
		m.Size, m.Signed, m.Shift = 1<<(option&3), option >= 4, w.field(12, 10)
	default:
		return 0, 0, m, false
	}
	return w.rd(), w.rn(), m, true
}
