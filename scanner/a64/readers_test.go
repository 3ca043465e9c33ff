// The predicates and field readers, at the edge of what they accept: one row
// that they read and its neighbours that they must leave alone.

package a64

import "testing"

func TestMovz(t *testing.T) {
	for _, test := range []struct {
		word  Word
		text  string
		rd    uint32
		value int
		ok    bool
	}{
		{0xd2801108, "movz x8, #136", 8, 136, true},
		{0x52800708, "movz w8, #56", 8, 56, true},
		{0x529fffff, "movz wzr, #65535", 31, 65535, true},
		{0x52800000, "movz w0, #0", 0, 0, true},
		{0xd2a01108, "movz x8, #136, lsl #16", 0, 0, false},
		{0xd2c01108, "movz x8, #136, lsl #32", 0, 0, false},
		{0xf2801108, "movk x8, #136", 0, 0, false},
		{0x92801108, "movn x8, #136", 0, 0, false},
		{0x32801108, "opc 01", 0, 0, false},
		{0xd2001108, "eor of an immediate", 0, 0, false},
		{0xd3001108, "ubfm", 0, 0, false},
	} {
		if rd, value, ok := test.word.Movz(); rd != test.rd || value != test.value || ok != test.ok {
			t.Errorf("Word(%08x).Movz() [%s] = x%d, %d, %t, want x%d, %d, %t",
				uint32(test.word), test.text, rd, value, ok, test.rd, test.value, test.ok)
		}
	}
}

func TestMove(t *testing.T) {
	for _, test := range []struct {
		word   Word
		text   string
		rd, rm uint32
		ok     bool
	}{
		{0xaa0803e0, "mov x0, x8", 0, 8, true},
		{0x2a0003e8, "mov w8, w0", 8, 0, true},
		{0xaa1f03fe, "mov x30, xzr", 30, 31, true},
		{0xaa0807e0, "orr x0, xzr, x8, lsl #1", 0, 0, false},
		{0xaa4803e0, "orr x0, xzr, x8, lsr #0", 0, 0, false},
		{0xaa2803e0, "mvn x0, x8", 0, 0, false},
		{0xaa0803c0, "orr x0, x30, x8", 0, 0, false},
		{0xca0803e0, "eor x0, xzr, x8", 0, 0, false},
		{0x8a0803e0, "and x0, xzr, x8", 0, 0, false},
		{0x910003e0, "mov x0, sp", 0, 0, false},
	} {
		if rd, rm, ok := test.word.Move(); rd != test.rd || rm != test.rm || ok != test.ok {
			t.Errorf("Word(%08x).Move() [%s] = x%d, x%d, %t, want x%d, x%d, %t",
				uint32(test.word), test.text, rd, rm, ok, test.rd, test.rm, test.ok)
		}
	}
}

func TestAddImmediate(t *testing.T) {
	for _, test := range []struct {
		word   Word
		text   string
		rd, rn uint32
		imm    uint64
		ok     bool
	}{
		{0x913ffc20, "add x0, x1, #0xfff", 0, 1, 0xfff, true},
		{0x917ffc20, "add x0, x1, #0xfff, lsl #12", 0, 1, 0xfff000, true},
		{0x910003ff, "mov sp, sp", 31, 31, 0, true},
		{0x113ffc20, "add w0, w1, #0xfff", 0, 0, 0, false},
		{0xb13ffc20, "adds x0, x1, #0xfff", 0, 0, 0, false},
		{0xd13ffc20, "sub x0, x1, #0xfff", 0, 0, 0, false},
		{0x91800420, "addg x0, x1, #0, #1", 0, 0, 0, false},
	} {
		if rd, rn, imm, ok := test.word.AddImmediate(); rd != test.rd || rn != test.rn || imm != test.imm || ok != test.ok {
			t.Errorf("Word(%08x).AddImmediate() [%s] = x%d, x%d, %#x, %t, want x%d, x%d, %#x, %t",
				uint32(test.word), test.text, rd, rn, imm, ok, test.rd, test.rn, test.imm, test.ok)
		}
	}
}

func TestCompareImmediate(t *testing.T) {
	for _, test := range []struct {
		word Word
		text string
		rn   uint32
		imm  uint64
		ok   bool
	}{
		{0x7100e11f, "cmp w8, #56", 8, 56, true},
		{0xf17ffc1f, "cmp x0, #0xfff, lsl #12", 0, 0xfff000, true},
		{0x7100e100, "subs w0, w8, #56", 0, 0, false},
		{0x3100e11f, "cmn w8, #56", 0, 0, false},
		{0x5100e11f, "sub wsp, w8, #56", 0, 0, false},
		{0x6b08011f, "cmp w8, w8", 0, 0, false},
	} {
		if rn, imm, ok := test.word.CompareImmediate(); rn != test.rn || imm != test.imm || ok != test.ok {
			t.Errorf("Word(%08x).CompareImmediate() [%s] = x%d, %#x, %t, want x%d, %#x, %t",
				uint32(test.word), test.text, rn, imm, ok, test.rn, test.imm, test.ok)
		}
	}
}

func TestTbnz(t *testing.T) {
	for _, test := range []struct {
		word    Word
		text    string
		rt, bit uint32
		ok      bool
	}{
		{0x37000000, "tbnz w0, #0, .", 0, 0, true},
		{0x37f8001e, "tbnz w30, #31, .", 30, 31, true},
		{0xb7000008, "tbnz x8, #32, .", 8, 32, true},
		{0xb7f80008, "tbnz x8, #63, .", 8, 63, true},
		{0x36f80008, "tbz w8, #31, .", 0, 0, false},
		{0x35f80008, "cbnz w8, .", 0, 0, false},
	} {
		if rt, bit, ok := test.word.Tbnz(); rt != test.rt || bit != test.bit || ok != test.ok {
			t.Errorf("Word(%08x).Tbnz() [%s] = x%d, %d, %t, want x%d, %d, %t",
				uint32(test.word), test.text, rt, bit, ok, test.rt, test.bit, test.ok)
		}
	}
}
