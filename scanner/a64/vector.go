// Floating point and Advanced SIMD (DDI 0487, C4.1.96). Only a handful of these
// words touch a general register or the flags; all others are Next with empty
// sets, which is all that a window or a live mask needs of them.

package a64

import "math/bits"

// vector decodes op0 = x111.
func vector(w Word) Effect {
	switch {
	case w&0x7f20_fc00 == 0x1e20_0000:
		return convert(w)
	case w&0x7f20_0000 == 0x1e00_0000:
		return convertFixed(w)
	case w&0xff20_fc07 == 0x1e20_2000: // fcmp, fcmpe
		return next(0, NZCV)
	case w&0xff20_0c00 == 0x1e20_0400: // fccmp, fccmpe
		return next(NZCV, NZCV)
	case w&0xff20_0c00 == 0x1e20_0c00: // fcsel
		return next(NZCV, 0)
	case w&0x9fe0_8400 == 0x0e00_0400:
		return copyElement(w)
	case w.bit(31) && w>>24 != 0xce, // only the SHA512, SHA3 and SM3 words set bit 31
		w&0x7e00_0000 == 0x3e00_0000: // bit 29 belongs to Advanced SIMD alone
		return Effect{}
	}
	return next(0, 0)
}

// convert decodes fcvt*, scvtf, ucvtf, fmov and fjcvtzs between a vector and a
// general register. Bits 20:16 tell the operation and bits 23:22 the vector
// side: single, double, the upper half of a quadword, half.
func convert(w Word) Effect {
	op, side := w.field(20, 16), w.field(23, 22)
	toVector, fromVector := next(X(w.rn()), 0), next(0, X(w.rd()))
	switch {
	case op == 0x1e && side == 1 && !w.sf(): // fjcvtzs tells in Z whether it was exact
		return next(0, X(w.rd())|NZCV)
	case op == 0x0e && side == 2 && w.sf(): // fmov xd, vn.d[1]
		return fromVector
	case op == 0x0f && side == 2 && w.sf():
		return toVector
	case side == 2, op|1 == 7 && side != 3 && w.sf() != (side == 1): // fmov keeps the width
		return Effect{}
	case op == 2, op == 3, op == 7: // scvtf, ucvtf, fmov
		return toVector
	case op&6 == 0, op == 4, op == 5, op == 6: // fcvt{n,p,m,z}{s,u}, fcvta{s,u}, fmov
		return fromVector
	}
	return Effect{}
}

func convertFixed(w Word) Effect {
	if w.field(23, 22) == 2 || !w.sf() && !w.bit(15) {
		return Effect{}
	}
	switch w.field(20, 16) {
	case 0x02, 0x03: // scvtf, ucvtf
		return next(X(w.rn()), 0)
	case 0x18, 0x19: // fcvtzs, fcvtzu
		return next(0, X(w.rd()))
	}
	return Effect{}
}

// copyElement decodes dup, ins, smov and umov; bits 14:11 tell which, and the
// lowest set bit of 19:16 the element's size: byte, half, word, doubleword.
func copyElement(w Word) Effect {
	if w.bit(29) { // ins of an element
		return next(0, 0)
	}
	size, wide := bits.TrailingZeros32(w.field(20, 16)), w.bit(30)
	switch op := w.field(14, 11); {
	case op == 0: // dup of an element
		return next(0, 0)
	case size > 3:
		return Effect{}
	case op == 1 && (wide || size < 3), op == 3 && wide: // dup, ins of a general register
		return next(X(w.rn()), 0)
	case op == 5 && (size < 2 || size == 2 && wide), op == 7 && wide == (size == 3): // smov, umov
		return next(0, X(w.rd()))
	}
	return Effect{}
}
