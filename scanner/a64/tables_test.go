// The readers that follow a jump table: a load of an entry and the add of it to
// the table's address. And Loads, which tells a number from memory apart.

package a64

import "testing"

func TestIndexedLoad(t *testing.T) {
	for _, test := range []struct {
		word Word
		text string
		want Indexed
		ok   bool
	}{
		{0x38626820, "ldrb w0, [x1, x2]", Indexed{0, 1, 2, 1, false}, true},
		{0x78e27828, "ldrsh w8, [x1, x2, lsl #1]", Indexed{8, 1, 2, 2, true}, true},
		{0xb8a25820, "ldrsw x0, [x1, w2, uxtw #2]", Indexed{0, 1, 2, 4, true}, true},
		{0xb87e5be0, "ldr w0, [sp, w30, uxtw #2]", Indexed{0, 31, 30, 4, false}, true},
		{0xf8627820, "ldr x0, [x1, x2, lsl #3]", Indexed{}, false},
		{0xf8a27820, "prfm pldl1keep, [x1, x2, lsl #3]", Indexed{}, false},
		{0x38226820, "strb w0, [x1, x2]", Indexed{}, false},
		{0xb8e26820, "opc 3 of a word", Indexed{}, false},
		{0x38622820, "option 1", Indexed{}, false},
		{0x3c626820, "ldr b0, [x1, x2]", Indexed{}, false},
		{0x38620020, "ldaddlb w2, w0, [x1]", Indexed{}, false},
		{0x38426820, "not with bit 21 clear", Indexed{}, false},
		{0x39626820, "ldrb w0, [x1, #0x89a]", Indexed{}, false},
	} {
		if got, ok := test.word.IndexedLoad(); got != test.want || ok != test.ok {
			t.Errorf("Word(%08x).IndexedLoad() [%s] = %+v, %t, want %+v, %t", uint32(test.word), test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestAddRegister(t *testing.T) {
	for _, test := range []struct {
		word   Word
		text   string
		rd, rn uint32
		want   Addend
		ok     bool
	}{
		{0x8b020020, "add x0, x1, x2", 0, 1, Addend{2, 8, false, 0}, true},
		{0x8b1efd1d, "add x29, x8, x30, lsl #63", 29, 8, Addend{30, 8, false, 63}, true},
		{0x8b220020, "add x0, x1, w2, uxtb", 0, 1, Addend{2, 1, false, 0}, true},
		{0x8b222820, "add x0, x1, w2, uxth #2", 0, 1, Addend{2, 2, false, 2}, true},
		{0x8b234c20, "add x0, x1, w3, uxtw #3", 0, 1, Addend{3, 4, false, 3}, true},
		{0x8b226820, "add x0, x1, x2, uxtx #2", 0, 1, Addend{2, 8, false, 2}, true},
		{0x8b228820, "add x0, x1, w2, sxtb #2", 0, 1, Addend{2, 1, true, 2}, true},
		{0x8b22a820, "add x0, x1, w2, sxth #2", 0, 1, Addend{2, 2, true, 2}, true},
		{0x8b3ed11d, "add x29, x8, w30, sxtw #4", 29, 8, Addend{30, 4, true, 4}, true},
		{0x8b22e820, "add x0, x1, x2, sxtx #2", 0, 1, Addend{2, 8, true, 2}, true},
		{0x8b22d420, "sxtw #5", 0, 0, Addend{}, false},
		{0x8b420420, "add x0, x1, x2, lsr #1", 0, 0, Addend{}, false},
		{0x0b020020, "add w0, w1, w2", 0, 0, Addend{}, false},
		{0xab020020, "adds x0, x1, x2", 0, 0, Addend{}, false},
		{0xcb020020, "sub x0, x1, x2", 0, 0, Addend{}, false},
		{0x0b22c820, "add w0, w1, w2, sxtw #2", 0, 0, Addend{}, false},
		{0xab22c820, "adds x0, x1, w2, sxtw #2", 0, 0, Addend{}, false},
	} {
		rd, rn, got, ok := test.word.AddRegister()
		if ok != test.ok || rd != test.rd || rn != test.rn || ok && got != test.want {
			t.Errorf("Word(%08x).AddRegister() [%s] = x%d, x%d, %+v, %t, want x%d, x%d, %+v, %t",
				uint32(test.word), test.text, rd, rn, got, ok, test.rd, test.rn, test.want, test.ok)
		}
	}
}

func TestLoads(t *testing.T) {
	for _, test := range []struct {
		word Word
		text string
		want bool // Loads(8)
	}{
		{0xf9400028, "ldr x8, [x1]", true},
		{0xf9400108, "ldr x8, [x8]", true},
		{0xb8408428, "ldr w8, [x1], #8", true},
		{0x58000008, "ldr x8, .", true},
		{0xa9402028, "ldp x8, x8, [x1]", true},
		{0xa9402020, "ldp x0, x8, [x1]", true},
		{0xa9402100, "ldp x0, x8, [x8]", true},
		{0xf8208028, "swp x0, x8, [x1]", true},
		{0xc8a87c20, "cas x8, x0, [x1]", true},
		{0x48287c20, "casp x8, x9, x0, x1, [x1]", true},
		{0x885f7c28, "ldxr w8, [x1]", true},
		{0xf8408500, "ldr x0, [x8], #8", false},
		{0xa8c10500, "ldp x0, x1, [x8], #16", false},
		{0xf8008d00, "str x0, [x8, #8]!", false},
		{0x4cdf7100, "ld1 {v0.16b}, [x8], #16", false},
		{0x3d400108, "ldr b8, [x8]", false},
		{0x88087c20, "stxr w8, w0, [x1]", false},
		{0xc8280440, "stxp w8, x0, x1, [x2]", false},
		{0x1d080420, "cpyp [x0]!, [x8]!, x1!", false},
		{0xf9000028, "str x8, [x1]", false},
		{0x52800708, "movz w8, #56", false},
		{0xd53bd048, "mrs x8, tpidr_el0", false},
	} {
		if got := test.word.Loads(8); got != test.want {
			t.Errorf("Word(%08x).Loads(8) [%s] = %t, want %t", uint32(test.word), test.text, got, test.want)
		}
	}
}
