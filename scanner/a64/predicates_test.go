// The predicates of one word.

package a64

import (
	"strings"
	"testing"
)

func TestPredicates(t *testing.T) {
	for _, test := range []struct {
		word Word
		text string
		want string // the predicates that hold
	}{
		{0x14000000, "b .", "b branch"},
		{0x17ffffff, "b .-4", "b branch"},
		{0x94000000, "bl .", "bl branch"},
		{0x54000000, "b.eq .", "branch"},
		{0x54000011, "bc.ne .", "branch"},
		{0x55000000, "not b.cond", ""},
		{0xb5000000, "cbnz x0, .", "branch"},
		{0x36000000, "tbz w0, #0, .", "branch"},
		{0x74000000, "not cbz", ""},
		{0xd61f0200, "br x16", ""},
		{0xd503241f, "bti", "pad"},
		{0xd503245f, "bti c", "pad"},
		{0xd503249f, "bti j", "pad jumppad"},
		{0xd50324df, "bti jc", "pad jumppad"},
		{0xd503251f, "hint #40", ""},
		{0xd503243f, "hint #33", ""},
		{0xd503233f, "paciasp", "pad link"},
		{0xd503237f, "pacibsp", "pad link"},
		{0xd503231f, "paciaz", "link"},
		{0xd50323bf, "autiasp", "link"},
		{0xd50323ff, "autibsp", "link"},
		{0xd50322ff, "hint #23", ""},
		{0xd503241e, "not a hint", ""},
		{0xd50320ff, "xpaclri", ""},
		{0xd4200000, "brk #0", "pad"},
		{0xd43fffe0, "brk #65535", "pad"},
		{0xd45fffe0, "hlt #65535", "pad"},
		{0xdc200000, "not brk", "literal memory"},
		{0xdc400000, "not hlt", "literal memory"},
		{0xd4200001, "not brk", ""},
		{0xd4400010, "not hlt", ""},
		{0xd4000001, "svc #0", ""},
		{0xd4a00001, "dcps1", ""},
		{0x58000000, "ldr x0, .", "literal memory"},
		{0x1c000000, "ldr s0, .", "literal memory"},
		{0x98000000, "ldrsw x0, .", "literal memory"},
		{0xd8000000, "prfm pldl1keep, .", "literal memory"},
		{0x19000000, "stlurb w0, [x0]", "memory"},
		{0x08000000, "stxrb w0, w0, [x0]", "memory"},
		{0x0c000000, "st4 {v0.8b-v3.8b}, [x0]", "memory"},
		{0xa9400000, "ldp x0, x0, [x0]", "memory"},
		{0xbd400000, "ldr s0, [x0]", "memory"},
		{0x0a000000, "and w0, w0, w0", ""},
		{0x0e000000, "tbl", ""},
		{0x10000000, "adr x0, .", ""},
		{0xa4000000, "SVE", ""},
	} {
		if got := predicates(test.word); got != test.want {
			t.Errorf("predicates of %08x [%s] = %q, want %q", uint32(test.word), test.text, got, test.want)
		}
	}
}

// predicates names those that hold.
func predicates(w Word) string {
	var names []string
	for _, p := range []struct {
		name  string
		holds bool
	}{
		{"b", w.IsB()}, {"bl", w.IsBL()}, {"branch", w.IsBranch()},
		{"pad", w.IsLandingPad()}, {"jumppad", w.IsJumpPad()},
		{"literal", w.IsLiteralLoad()}, {"memory", w.isLoadStore()}, {"link", w.SignsLink()},
	} {
		if p.holds {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, " ")
}

func TestOperand(t *testing.T) {
	for _, test := range []struct {
		word Word
		want uint32
	}{
		{0xd61f0200, 16}, // br x16
		{0xd63f0100, 8},  // blr x8
		{RET, 30},
		{0xd61f03e0, 31}, // br xzr
	} {
		if got := test.word.Operand(); got != test.want {
			t.Errorf("Word(%08x).Operand() = %d, want %d", uint32(test.word), got, test.want)
		}
	}
}

func TestIsBCond(t *testing.T) {
	for _, test := range []struct {
		word Word
		text string
		c    Condition
		want bool
	}{
		{0x54000000, "b.eq .", EQ, true},
		{0x54ffffe9, "b.ls .-4", LS, true},
		{0x54ffffe9, "b.ls .-4", HI, false},
		{0x54000018, "bc.hi .", HI, false},
		{0x55000008, "not b.cond", HI, false},
		{0x14000008, "b .+0x20", HI, false},
	} {
		if got := test.word.IsBCond(test.c); got != test.want {
			t.Errorf("Word(%08x).IsBCond(%d) [%s] = %t, want %t", uint32(test.word), test.c, test.text, got, test.want)
		}
	}
}

// TestTarget has the words that a libc is too small for.
func TestTarget(t *testing.T) {
	const pc = 0x1_0000_0000
	for _, test := range []struct {
		word Word
		text string
		want uint64
		ok   bool
	}{
		{0x15ffffff, "b .+0x7fffffc", pc + 0x7fffffc, true},
		{0x96000000, "bl .-0x8000000", pc - 0x8000000, true},
		{0x547fffe0, "b.eq .+0xffffc", pc + 0xffffc, true},
		{0x54800000, "b.eq .-0x100000", pc - 0x100000, true},
		{0xb47fffe8, "cbz x8, .+0xffffc", pc + 0xffffc, true},
		{0x35800008, "cbnz w8, .-0x100000", pc - 0x100000, true},
		{0x3603ffe0, "tbz w0, #0, .+0x7ffc", pc + 0x7ffc, true},
		{0xb7fc0000, "tbnz x0, #63, .-0x8000", pc - 0x8000, true},
		{0xd61f0000, "br x0", 0, false},
		{0x55000000, "not b.cond", 0, false},
		{0x74000000, "not cbz", 0, false},
	} {
		if got, ok := test.word.Target(pc); got != test.want || ok != test.ok {
			t.Errorf("Word(%08x).Target(%#x) [%s] = %#x, %t, want %#x, %t",
				uint32(test.word), uint64(pc), test.text, got, ok, test.want, test.ok)
		}
	}
	if got, ok := Word(0x17ffffff).Target(0); got != ^uint64(3) || !ok { // b .-4
		t.Errorf("Word(17ffffff).Target(0) = %#x, %t, want it to wrap", got, ok)
	}
}

func TestAdr(t *testing.T) {
	const pc = 0x1_0000_0ffc
	for _, test := range []struct {
		word Word
		text string
		rd   uint32
		want uint64
		ok   bool
	}{
		{0x10000000, "adr x0, .", 0, pc, true},
		{0x707fffe8, "adr x8, .+0xfffff", 8, pc + 0xfffff, true},
		{0x1080001e, "adr x30, .-0x100000", 30, pc - 0x100000, true},
		{0x90000000, "adrp x0, .", 0, 0x1_0000_0000, true},
		{0xf07fffe8, "adrp x8, .+0xfffff000", 8, 0x1_ffff_f000, true},
		{0x9080001f, "adrp xzr, .-0x100000000", 31, 0, true},
		{0x91000000, "add x0, x0, #0", 0, 0, false},
		{0x58000000, "ldr x0, .", 0, 0, false},
	} {
		if rd, got, ok := test.word.Adr(pc); rd != test.rd || got != test.want || ok != test.ok {
			t.Errorf("Word(%08x).Adr(%#x) [%s] = x%d, %#x, %t, want x%d, %#x, %t",
				uint32(test.word), uint64(pc), test.text, rd, got, ok, test.rd, test.want, test.ok)
		}
	}
}

func TestRegs(t *testing.T) {
	for n, want := range map[uint32]Regs{0: 1, 8: 0x100, 30: 0x4000_0000, 31: 0, 32: 0} {
		if got := X(n); got != want {
			t.Errorf("X(%d) = %#x, want %#x", n, uint32(got), uint32(want))
		}
	}
	for n := range uint32(33) {
		if got, want := AllRegs.Has(n), n < 31; got != want {
			t.Errorf("AllRegs.Has(%d) = %t, want %t", n, got, want)
		}
		if NZCV.Has(n) {
			t.Errorf("NZCV.Has(%d) = true, want false", n)
		}
	}
}
