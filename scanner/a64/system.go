// Exceptions, hints, barriers and system registers (DDI 0487, C4.1.93). Two of
// them surprise: paciasp and its kin are in the hint space and yet write x30,
// and mrs of RNDR writes the flags.

package a64

// svcUse is what the kernel reads at svc #0: the arguments and the number.
const svcUse Regs = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<8

// system decodes what of op0 = 101x is no branch.
func system(w Word) Effect {
	switch {
	case w&0xff00_0000 == 0xd400_0000:
		return exception(w)
	case w&0xffff_f01f == 0xd503_201f:
		return hint(w)
	case w&0xffff_f01f == 0xd503_301f:
		return barrier(w)
	case w&0xffff_ffc0 == 0xd503_1000: // wfet, wfit
		return next(X(w.rd()), 0)
	case w&0xfff8_f01f == 0xd500_401f:
		return processState(w)
	case w&0xfff8_0000 == 0xd508_0000: // sys: ic, dc, at, tlbi
		return next(X(w.rd()), 0)
	case w&0xfff8_0000 == 0xd528_0000: // sysl
		return next(0, X(w.rd()))
	case w&0xfff0_0000 == 0xd510_0000:
		return moveToSystem(w)
	case w&0xfff0_0000 == 0xd530_0000: // mrs
		return moveFromSystem(w)
	}
	return Effect{}
}

// The system registers that reach the flags or the streaming mode, as
// op0:op1:CRn:CRm:op2.
const (
	registerNZCV   = 0xda10
	registerSVCR   = 0xda12
	registerRNDR   = 0xd920
	registerRNDRRS = 0xd921
)

func (w Word) systemRegister() uint32 { return 0x8000 | w.field(19, 5) }

func moveToSystem(w Word) Effect {
	switch w.systemRegister() {
	case registerNZCV:
		return next(X(w.rd()), NZCV)
	case registerSVCR: // smstart and smstop in another form
		return Effect{}
	}
	return next(X(w.rd()), 0)
}

func moveFromSystem(w Word) Effect {
	switch w.systemRegister() {
	case registerNZCV:
		return next(NZCV, X(w.rd()))
	case registerRNDR, registerRNDRRS:
		return next(0, X(w.rd())|NZCV)
	}
	return next(0, X(w.rd()))
}

func exception(w Word) Effect {
	opc, ll := w.field(23, 21), w.field(4, 0)
	switch {
	case opc == 0 && ll == 1:
		return Effect{Use: svcUse, Def: X(0), Flow: Svc}
	case opc == 0 && (ll == 2 || ll == 3), // hvc, smc
		(opc == 1 || opc == 2) && ll == 0: // brk, hlt
		return Effect{Flow: Trap}
	}
	return Effect{}
}

// hint decodes the hint space: a nop but for pointer authentication, which
// signs x30 or x17, and chkfeat, which answers in x16.
func hint(w Word) Effect {
	switch n := w.field(11, 5); n {
	case 7, 24, 25, 26, 27, 28, 29, 30, 31: // xpaclri, paciaz ... autibsp
		return next(X(30), X(30))
	case 8, 10, 12, 14: // pacia1716, pacib1716, autia1716, autib1716
		return next(X(16)|X(17), X(17))
	case 40: // chkfeat x16
		return next(X(16), X(16))
	}
	return next(0, 0)
}

// barrier decodes clrex, dsb, dmb, isb and sb.
func barrier(w Word) Effect {
	switch op := w.field(7, 5); {
	case op == 0, op == 1 && w.field(9, 8) != 2, op == 3: // 1: dsb nxs; 3: tcommit
		return Effect{}
	}
	return next(0, 0)
}

// processState decodes msr of an immediate. cfinv, xaflag and axflag rewrite
// the flags; SVCR switches streaming mode, after which nothing here holds.
func processState(w Word) Effect {
	op1, op2 := w.field(18, 16), w.field(7, 5)
	switch {
	case op1 == 0 && op2 <= 2:
		return next(NZCV, NZCV)
	case op1 == 0 && op2 <= 5, // uao, pan, spsel
		op1 == 1 && op2 == 0,                         // allint, pm
		op1 == 3 && op2 != 0 && op2 != 3 && op2 != 5: // ssbs, dit, tco, daifset, daifclr
		return next(0, 0)
	}
	return Effect{}
}

// SignsLink reports whether w is a hint that signs or authenticates x30: paciasp
// and its kin. Unwind tables say at which word that happens.
func (w Word) SignsLink() bool { return w&0xffff_ff1f == 0xd503_231f }
