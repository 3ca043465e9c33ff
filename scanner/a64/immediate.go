// Data processing with an immediate (DDI 0487, C4.1.92). movz is the word this
// project lives on: in glibc 2.31 to 2.44 every windowed syscall number is one
// unshifted movz of x8 or w8.

package a64

import "math/bits"

// immediate decodes op0 = 100x.
func immediate(w Word) Effect {
	switch w.field(25, 23) {
	case 0, 1:
		return next(0, X(w.rd())) // adr, adrp
	case 2:
		return next(X(w.rn()), X(w.rd())|flagsIf(w.bit(29))) // add, sub
	case 3:
		return tagOrMinMax(w)
	case 4:
		return logicalImmediate(w)
	case 5:
		return moveWide(w)
	case 6:
		return bitfield(w)
	}
	return extract(w)
}

// tagOrMinMax decodes addg, subg and the CSSC minimum and maximum.
func tagOrMinMax(w Word) Effect {
	tag := w&0xbfc0_c000 == 0x9180_0000
	minMax := w&0x7ff0_0000 == 0x11c0_0000
	if !tag && !minMax {
		return Effect{}
	}
	return next(X(w.rn()), X(w.rd()))
}

func logicalImmediate(w Word) Effect {
	if !w.sf() && w.bit(22) || !isPattern(w.field(22, 22), w.field(15, 10)) {
		return Effect{}
	}
	return next(X(w.rn()), X(w.rd())|flagsIf(w.field(30, 29) == 3))
}

// isPattern reports whether N:imms names a bit pattern. The highest set bit of
// N:^imms tells an element's size; no element is of one bit or of ones only.
func isPattern(n, imms uint32) bool {
	log := bits.Len32(n<<6|imms^0x3f) - 1
	return log >= 1 && ^imms&(1<<log-1) != 0
}

func moveWide(w Word) Effect {
	opc := w.field(30, 29)
	if opc == 1 || !w.sf() && w.bit(22) {
		return Effect{}
	}
	if opc == 3 { // movk keeps the other bits
		return next(X(w.rd()), X(w.rd()))
	}
	return next(0, X(w.rd()))
}

func bitfield(w Word) Effect {
	opc := w.field(30, 29)
	if opc == 3 || w.sf() != w.bit(22) || !w.sf() && (w.bit(21) || w.bit(15)) {
		return Effect{}
	}
	use := X(w.rn())
	if opc == 1 { // bfm inserts into what is there
		use |= X(w.rd())
	}
	return next(use, X(w.rd()))
}

func extract(w Word) Effect {
	if w&0x7fa0_0000 != 0x1380_0000 || w.sf() != w.bit(22) || !w.sf() && w.bit(15) {
		return Effect{}
	}
	return next(X(w.rn())|X(w.rm()), X(w.rd()))
}

// Movz reports the register and value of an unshifted movz, in its x or w form.
func (w Word) Movz() (rd uint32, value int, ok bool) {
	if w&0x7fe0_0000 != 0x5280_0000 {
		return 0, 0, false
	}
	return w.rd(), int(w.field(20, 5)), true
}

// Move reports the registers of a mov between general registers (orr rd, zr,
// rm unshifted), in its x or w form.
func (w Word) Move() (rd, rm uint32, ok bool) {
	if w&0x7fe0_ffe0 != 0x2a00_03e0 {
		return 0, 0, false
	}
	return w.rd(), w.rm(), true
}

// Adr reports the register and the address an adr or adrp at pc computes.
func (w Word) Adr(pc uint64) (rd uint32, addr uint64, ok bool) {
	if w&0x1f00_0000 != 0x1000_0000 {
		return 0, 0, false
	}
	imm := w.signed(23, 5)<<2 | int64(w.field(30, 29))
	if w.bit(31) {
		return w.rd(), pc&^0xfff + uint64(imm)<<12, true
	}
	return w.rd(), pc + uint64(imm), true
}

// AddImmediate reports the operands of an x-form add of an immediate.
func (w Word) AddImmediate() (rd, rn uint32, imm uint64, ok bool) {
	if w&0xff80_0000 != 0x9100_0000 {
		return 0, 0, 0, false
	}
	imm = uint64(w.field(21, 10))
	if w.bit(22) {
		imm <<= 12
	}
	return w.rd(), w.rn(), imm, true
}

// CompareImmediate reports the operands of a cmp with an immediate (subs into
// the zero register), in its x or w form.
func (w Word) CompareImmediate() (rn uint32, imm uint64, ok bool) {
	if w&0x7f80_001f != 0x7100_001f {
		return 0, 0, false
	}
	imm = uint64(w.field(21, 10))
	if w.bit(22) {
		imm <<= 12
	}
	return w.rn(), imm, true
}
