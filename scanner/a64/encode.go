// Encoders for the words that relays are made of, all in x form. A branch that
// does not reach returns false: the +-128 MiB of b and bl decide where relays
// may lie.

package a64

// B encodes a b at pc to target; false when out of reach or misaligned.
func B(pc, target uint64) (Word, bool) { return branch26(0x1400_0000, pc, target) }

// BL encodes a bl at pc to target; false when out of reach or misaligned.
func BL(pc, target uint64) (Word, bool) { return branch26(0x9400_0000, pc, target) }

func branch26(op Word, pc, target uint64) (Word, bool) {
	d := int64(target - pc)
	if d&3 != 0 || d < -1<<27 || d >= 1<<27 {
		return 0, false
	}
	return op | Word(d>>2)&0x03ff_ffff, true
}

// A Condition is the condition of a b.cond.
type Condition uint32

const (
	EQ Condition = 0
	NE Condition = 1
	HS Condition = 2
	LO Condition = 3
	HI Condition = 8
	LS Condition = 9
)

// BCond encodes a b.cond at pc; it reaches +-1 MiB.
func BCond(c Condition, pc, target uint64) (Word, bool) {
	d := int64(target - pc)
	if d&3 != 0 || d < -1<<20 || d >= 1<<20 {
		return 0, false
	}
	return 0x5400_0000 | Word(d>>2)&0x7ffff<<5 | Word(c), true
}

// Movz encodes movz xd, #imm, lsl #(16*hw); hw is 0 to 3.
func Movz(rd uint32, imm uint16, hw uint32) Word {
	return 0xd280_0000 | Word(hw)<<21 | Word(imm)<<5 | Word(rd)
}

// Movk encodes movk xd, #imm, lsl #(16*hw); hw is 0 to 3.
func Movk(rd uint32, imm uint16, hw uint32) Word {
	return 0xf280_0000 | Word(hw)<<21 | Word(imm)<<5 | Word(rd)
}

// Mov encodes mov xd, xm for two general registers other than sp.
func Mov(rd, rm uint32) Word { return 0xaa00_03e0 | Word(rm)<<16 | Word(rd) }

// Add encodes add xd, xn, #imm, and register 31 is sp; imm is below 4096.
func Add(rd, rn, imm uint32) Word {
	return 0x9100_0000 | Word(imm)<<10 | Word(rn)<<5 | Word(rd)
}

// Sub encodes sub xd, xn, #imm, and register 31 is sp; imm is below 4096.
func Sub(rd, rn, imm uint32) Word {
	return 0xd100_0000 | Word(imm)<<10 | Word(rn)<<5 | Word(rd)
}

// CmpW encodes cmp wn, #imm; imm is below 4096. The kernel reads the syscall
// number as 32 bits, so w8 is what a relay compares.
func CmpW(rn, imm uint32) Word { return 0x7100_001f | Word(imm)<<10 | Word(rn)<<5 }

// Adrp encodes an adrp at pc of the page of target; false beyond +-4 GiB.
func Adrp(rd uint32, pc, target uint64) (Word, bool) {
	d := int64(target&^0xfff-pc&^0xfff) >> 12
	if d < -1<<20 || d >= 1<<20 {
		return 0, false
	}
	return 0x9000_0000 | Word(d)&3<<29 | Word(d>>2)&0x7ffff<<5 | Word(rd), true
}

// Ldr encodes ldr xt, [xn, #off]; off is a multiple of 8 below 32768.
func Ldr(rt, rn, off uint32) Word { return 0xf940_0000 | Word(off/8)<<10 | Word(rn)<<5 | Word(rt) }

// Str encodes str xt, [xn, #off]; off is a multiple of 8 below 32768.
func Str(rt, rn, off uint32) Word { return 0xf900_0000 | Word(off/8)<<10 | Word(rn)<<5 | Word(rt) }

// Ldp encodes ldp xt, xt2, [xn, #off]; off is a multiple of 8 in -512..504.
func Ldp(rt, rt2, rn uint32, off int) Word { return pairWord(0xa940_0000, rt, rt2, rn, off) }

// Stp encodes stp xt, xt2, [xn, #off]; off is a multiple of 8 in -512..504.
func Stp(rt, rt2, rn uint32, off int) Word { return pairWord(0xa900_0000, rt, rt2, rn, off) }

func pairWord(op Word, rt, rt2, rn uint32, off int) Word {
	return op | Word(off/8)&0x7f<<15 | Word(rt2)<<10 | Word(rn)<<5 | Word(rt)
}

// MrsNZCV encodes mrs xt, nzcv.
func MrsNZCV(rt uint32) Word { return 0xd53b_4200 | Word(rt) }

// MsrNZCV encodes msr nzcv, xt.
func MsrNZCV(rt uint32) Word { return 0xd51b_4200 | Word(rt) }
