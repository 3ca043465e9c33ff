package a64

import "testing"

func TestIsFloat(t *testing.T) {
	for _, tt := range []struct {
		word Word
		text string
		want bool
	}{
		{0x1e604020, "fmov d0, d1", true},
		{0x9e660000, "fmov x0, d0", true},
		{0x4e080c00, "dup v0.2d, x0", true},
		{0x6f00e400, "movi v0.2d, #0", true},
		{0xfd400000, "ldr d0, [x0]", true},
		{0xad400400, "ldp q0, q1, [x0]", true},
		{0x4c407000, "ld1 {v0.16b}, [x0]", true},
		{0x1c000000, "ldr s0, .", true},
		{0x5c000000, "ldr d0, .", true},
		{0xd51b4402, "msr fpcr, x2", true},
		{0xd51b4422, "msr fpsr, x2", true},
		{0xd53b4428, "mrs x8, fpsr", true},
		{0xd53b4408, "mrs x8, fpcr", true},
		{0xd53b4208, "mrs x8, nzcv", false},
		{0xd51b4200, "msr nzcv, x0", false},
		{0xd53b4440, "mrs x0, s3_3_c4_c4_2", false},
		{0xf9400000, "ldr x0, [x0]", false},
		{0xa9400400, "ldp x0, x1, [x0]", false},
		{0x58000000, "ldr x0, .", false},
		{0xc8dffc00, "ldar x0, [x0]", false},
		{0xf8200000, "ldadd x0, x0, [x0]", false},
		{0xd9600000, "ldg x0, [x0]", false},
		{0x19000440, "cpyfp [x0]!, [x0]!, x2!", false},
		{0x8b000000, "add x0, x0, x0", false},
		{0x9b007c00, "mul x0, x0, x0", false},
		{0x14000000, "b .", false},
		{0xd4000001, "svc #0", false},
	} {
		if got := tt.word.IsFloat(); got != tt.want {
			t.Errorf("Word(%08x).IsFloat() = %v, want %v: %s", uint32(tt.word), got, tt.want, tt.text)
		}
	}
}
