// Package a64 knows one A64 instruction word at a time: what it is, which
// general registers and flags it reads and writes, where it branches to, and
// how to build the few words that relays need. It is the only place in the
// project that knows encodings.
//
// It promises: no allocation, no state, no panic on any word, and no guess. A
// word it does not know has the flow Unknown; whoever walks code must stop
// there and never step over it. Within a group that cannot touch a general
// register (most of Advanced SIMD and floating point) an unallocated encoding
// counts as known: it cannot be executed, so nothing follows from it. So does
// a word whose registers clash (ldpsw x0, x0) or whose should-be-one field is
// zero: if it runs, it does what the others do.
//
// It refuses to know SVE, SME, transactions, 64-byte and 128-bit accesses, drps
// and dcps, and what is newer than Armv8.8 but for CSSC and the hint and sys
// spaces. Scanning 885,157 words of real libraries found 332 words outside the
// base set, none between a number load and its svc.
//
// golang.org/x/arch's arm64asm is the oracle in the tests and not the engine.
// It cannot decode any LSE atomic (ldadd, cas, casp, swp), LDAPR and its
// unscaled forms, the PAC branches and register forms (retaa, braa, pacia),
// SVE, SME, MTE, half-precision and dot-product forms, cfinv and rmif, sb,
// udf and fjcvtzs: 44 of 125 hand-picked words up to Armv8.6. It costs 165 to
// 330 ns and an allocation a word, since it searches 1,208 patterns in order,
// and its Decode writes a package-level slice, so two goroutines race in it.
//
// Field positions follow the Arm Architecture Reference Manual (DDI 0487),
// chapter C4. The top-level groups, by op0 = bits 28:25:
//
//	 31   29 28   25 24                                    0
//	+-------+-------+---------------------------------------+
//	|       |  op0  |                                       |
//	+-------+-------+---------------------------------------+
//	 100x  data processing, immediate      (immediate.go)
//	 101x  branches, exceptions, system    (branch.go, system.go)
//	 x1x0  loads and stores                (memory.go)
//	 x101  data processing, register       (register.go)
//	 x111  floating point, Advanced SIMD   (vector.go)
package a64

// A Word is one A64 instruction as the processor fetches it.
type Word uint32

// Size is the number of bytes of every A64 instruction.
const Size = 4

// Words without operands.
const (
	SVC0    Word = 0xd4000001 // svc #0
	NOP     Word = 0xd503201f // nop
	BTIc    Word = 0xd503245f // bti c
	PACIASP Word = 0xd503233f // paciasp
	AUTIASP Word = 0xd50323bf // autiasp
	RET     Word = 0xd65f03c0 // ret
)

// Regs is a set of general registers: bit n is xn for n in 0..30, bit 31 is
// NZCV. sp and the zero register are in no set.
type Regs uint32

const (
	// NZCV is the condition flags.
	NZCV Regs = 1 << 31
	// AllRegs is every register of the set type.
	AllRegs Regs = 0xffff_ffff
)

// X returns the set {xn}; the empty set for n = 31, which is sp or xzr.
func X(n uint32) Regs { return 1 << n &^ NZCV }

// Has reports whether xn is in s.
func (s Regs) Has(n uint32) bool { return s&X(n) != 0 }

// Flow says where execution goes after a word.
type Flow uint8

const (
	Unknown Flow = iota // a64 does not know the word
	Next                // the next word
	Jump                // a direct target: b
	Cond                // a direct target or the next word: b.cond, cbz, tbz
	Call                // a direct target that may come back: bl
	JumpReg             // a register's target: br
	CallReg             // a register's target that may come back: blr
	Return              // ret, eret
	Trap                // brk, hlt, hvc, smc: nowhere this package can say
	Svc                 // the kernel, then the next word
)

// Effect is what a word does to the general registers and the flags.
type Effect struct {
	Use  Regs // read before written
	Def  Regs // written
	Flow Flow
}

// Decode returns w's effect. For Svc, Use is x0-x5 and x8 and Def is x0: the
// kernel preserves every other register.
func Decode(w Word) Effect {
	switch w >> 25 & 0xf {
	case 0x8, 0x9:
		return immediate(w)
	case 0xa, 0xb:
		return branchOrSystem(w)
	case 0x4, 0x6, 0xc, 0xe:
		return memory(w)
	case 0x5, 0xd:
		return register(w)
	case 0x7, 0xf:
		return vector(w)
	}
	return Effect{}
}

// The operand fields that most words share.
func (w Word) rd() uint32      { return uint32(w) & 31 }
func (w Word) rn() uint32      { return uint32(w) >> 5 & 31 }
func (w Word) ra() uint32      { return uint32(w) >> 10 & 31 }
func (w Word) rm() uint32      { return uint32(w) >> 16 & 31 }
func (w Word) sf() bool        { return w>>31 == 1 }
func (w Word) bit(n uint) bool { return w>>n&1 == 1 }

// field returns bits hi:lo of w.
func (w Word) field(hi, lo uint) uint32 { return uint32(w) >> lo & (1<<(hi-lo+1) - 1) }

// signed returns bits hi:lo of w as a two's complement number.
func (w Word) signed(hi, lo uint) int64 {
	return int64(int32(uint32(w)<<(31-hi))) >> (31 - hi + lo)
}

// next is the effect of an ordinary word.
func next(use, def Regs) Effect { return Effect{Use: use, Def: def, Flow: Next} }

// flagsIf is NZCV when on.
func flagsIf(on bool) Regs {
	if on {
		return NZCV
	}
	return 0
}
