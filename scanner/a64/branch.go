// Branches (DDI 0487, C4.1.93): who can arrive where. A direct branch reaches
// +-128 MiB (b, bl), +-1 MiB (b.cond, cbz) or +-32 KiB (tbz); the proof of a
// syscall number rests on every such target of an image being known.

package a64

// IsBranch reports whether w is a direct branch: b, bl, b.cond, cbz or tbz.
func (w Word) IsBranch() bool {
	switch {
	case w&0x7c00_0000 == 0x1400_0000, // b, bl
		w&0x7c00_0000 == 0x3400_0000, // cbz, cbnz, tbz, tbnz
		w&0xff00_0000 == 0x5400_0000: // b.cond, bc.cond
		return true
	}
	return false
}

// IsB reports whether w is an unconditional b.
func (w Word) IsB() bool { return w&0xfc00_0000 == 0x1400_0000 }

// IsBL reports whether w is a bl.
func (w Word) IsBL() bool { return w&0xfc00_0000 == 0x9400_0000 }

// Target returns where a direct branch at pc goes.
func (w Word) Target(pc uint64) (target uint64, ok bool) {
	switch {
	case w&0x7c00_0000 == 0x1400_0000: // b, bl
		return pc + uint64(w.signed(25, 0)<<2), true
	case w&0x7e00_0000 == 0x3600_0000: // tbz, tbnz
		return pc + uint64(w.signed(18, 5)<<2), true
	case w&0x7e00_0000 == 0x3400_0000, w&0xff00_0000 == 0x5400_0000: // cbz, cbnz, b.cond
		return pc + uint64(w.signed(23, 5)<<2), true
	}
	return 0, false
}

// Tbnz reports the register and bit number of a tbnz.
func (w Word) Tbnz() (rt, bit uint32, ok bool) {
	if w&0x7f00_0000 != 0x3700_0000 {
		return 0, 0, false
	}
	return w.rd(), w.field(31, 31)<<5 | w.field(23, 19), true
}

// IsLandingPad reports whether an indirect branch may land on w in a page that
// is guarded by BTI: bti in any form, paciasp, pacibsp, and the traps that are
// compatible with every branch type.
func (w Word) IsLandingPad() bool {
	switch {
	case w&0xffff_ff3f == 0xd503_241f, // bti, bti c, bti j, bti jc
		w == PACIASP, w == 0xd503_237f, // paciasp, pacibsp
		w&0xffe0_001f == 0xd420_0000, // brk
		w&0xffe0_001f == 0xd440_0000: // hlt
		return true
	}
	return false
}

// branchOrSystem decodes op0 = 101x.
func branchOrSystem(w Word) Effect {
	switch {
	case w.IsB():
		return Effect{Flow: Jump}
	case w.IsBL():
		return Effect{Def: X(30), Flow: Call}
	case w&0x7c00_0000 == 0x3400_0000: // cbz, cbnz, tbz, tbnz
		return Effect{Use: X(w.rd()), Flow: Cond}
	case w&0xff00_0000 == 0x5400_0000:
		return Effect{Use: NZCV, Flow: Cond}
	case w.IsBranchRegister():
		return branchRegister(w)
	}
	return system(w)
}

// branchRegister decodes br, blr, ret, eret and their authenticated forms.
// Bits 24:21 tell the operation, bits 11:10 the key of an authenticated one.
func branchRegister(w Word) Effect {
	if w.field(20, 16) != 31 || w.field(15, 12) != 0 {
		return Effect{}
	}
	plain, zeroKey := w.field(11, 10) == 0 && w.rd() == 0, w.bit(11) && w.rd() == 31
	rn := X(w.rn())
	switch op := w.field(24, 21); {
	case op == 0 && (plain || zeroKey):
		return Effect{Use: rn, Flow: JumpReg}
	case op == 1 && (plain || zeroKey):
		return Effect{Use: rn, Def: X(30), Flow: CallReg}
	case op == 2 && plain:
		return Effect{Use: rn, Flow: Return}
	case op == 2 && zeroKey && w.rn() == 31: // retaa, retab
		return Effect{Use: X(30), Flow: Return}
	case op == 4 && w.rn() == 31 && (plain || zeroKey): // eret, eretaa
		return Effect{Flow: Return}
	case op == 8 && w.bit(11): // braa
		return Effect{Use: rn | X(w.rd()), Flow: JumpReg}
	case op == 9 && w.bit(11): // blraa
		return Effect{Use: rn | X(w.rd()), Def: X(30), Flow: CallReg}
	}
	return Effect{}
}

// IsJumpPad reports whether w is a bti that lets a br land: bti j or bti jc.
// Jump tables and exception landing pads need one, function entries do not.
func (w Word) IsJumpPad() bool { return w&0xffff_ffbf == 0xd503_249f }

// IsBranchRegister reports whether w is in the group of br, blr, ret and eret.
func (w Word) IsBranchRegister() bool { return w&0xfe00_0000 == 0xd600_0000 }

// Operand returns the register that br, blr or ret takes its target from.
func (w Word) Operand() uint32 { return w.rn() }

// IsBCond reports whether w is a b.cond on condition c.
func (w Word) IsBCond(c Condition) bool { return w&0xff00_001f == 0x5400_0000|Word(c) }
