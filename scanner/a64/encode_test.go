// Every encoder against its word, written out, and that word against two
// disassemblers' authors: arm64asm must print the text and the GNU assembler
// must make the word of it.

package a64

import (
	"encoding/binary"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// reach returns the word of an encoder that may refuse, and udf when it does.
func reach(w Word, ok bool) Word {
	if !ok {
		return 0
	}
	return w
}

var encodeRows = []struct {
	got, want Word
	text      string
}{
	{reach(B(0x1000, 0x1008)), 0x14000002, "b .+0x8"},
	{reach(B(0x1000, 0x1000)), 0x14000000, "b .+0x0"},
	{reach(B(0x9000000, 0x1000000)), 0x16000000, "b .+0xfffffffff8000000"},
	{reach(B(0, 0x7fffffc)), 0x15ffffff, "b .+0x7fffffc"},
	{reach(BL(0x1000, 0xffc)), 0x97ffffff, "bl .+0xfffffffffffffffc"},
	{reach(BL(0, 0x7fffffc)), 0x95ffffff, "bl .+0x7fffffc"},
	{reach(BCond(EQ, 0x1000, 0x1010)), 0x54000080, "b.eq .+0x10"},
	{reach(BCond(NE, 0x1000, 0xff0)), 0x54ffff81, "b.ne .+0xfffffffffffffff0"},
	{reach(BCond(HS, 0, 0xffffc)), 0x547fffe2, "b.cs .+0xffffc"},
	{reach(BCond(LO, 0, 8)), 0x54000043, "b.cc .+0x8"},
	{reach(BCond(HI, 0, 8)), 0x54000048, "b.hi .+0x8"},
	{reach(BCond(LS, 0x100000, 0)), 0x54800009, "b.ls .+0xfffffffffff00000"},
	{Movz(8, 136, 0), 0xd2801108, "mov x8, #0x88"},
	{Movz(30, 0xffff, 3), 0xd2fffffe, "mov x30, #0xffff000000000000"},
	{Movz(16, 0x1234, 1), 0xd2a24690, "mov x16, #0x12340000"},
	{Movk(16, 0xffff, 0), 0xf29ffff0, "movk x16, #0xffff"},
	{Movk(17, 0xf, 2), 0xf2c001f1, "movk x17, #0xf, lsl #32"},
	{Mov(0, 8), 0xaa0803e0, "mov x0, x8"},
	{Mov(30, 29), 0xaa1d03fe, "mov x30, x29"},
	{Add(0, 1, 4095), 0x913ffc20, "add x0, x1, #0xfff"},
	{Add(31, 31, 16), 0x910043ff, "add sp, sp, #0x10"},
	{Sub(31, 31, 4080), 0xd13fc3ff, "sub sp, sp, #0xff0"},
	{Sub(8, 30, 1), 0xd10007c8, "sub x8, x30, #0x1"},
	{CmpW(8, 56), 0x7100e11f, "cmp w8, #0x38"},
	{CmpW(30, 4095), 0x713fffdf, "cmp w30, #0xfff"},
	{reach(Adrp(0, 0x1ffc, 0x2000)), 0xb0000000, "adrp x0, .+0x1000"},
	{reach(Adrp(16, 0x5000, 0x5fff)), 0x90000010, "adrp x16, .+0x0"},
	{reach(Adrp(30, 0x5000, 0x4fff)), 0xf0fffffe, "adrp x30, .+0xfffffffffffff000"},
	{reach(Adrp(16, 0, 0xffff_ffff)), 0xf07ffff0, "adrp x16, .+0xfffff000"},
	{Ldr(0, 1, 0), 0xf9400020, "ldr x0, [x1]"},
	{Ldr(30, 31, 32760), 0xf97ffffe, "ldr x30, [sp,#32760]"},
	{Str(8, 31, 8), 0xf90007e8, "str x8, [sp,#8]"},
	{Str(31, 16, 0), 0xf900021f, "str xzr, [x16]"},
	{Ldp(0, 1, 31, 16), 0xa94107e0, "ldp x0, x1, [sp,#16]"},
	{Ldp(29, 30, 8, -512), 0xa960791d, "ldp x29, x30, [x8,#-512]"},
	{Stp(0, 1, 31, 504), 0xa91f87e0, "stp x0, x1, [sp,#504]"},
	{Stp(16, 17, 31, -8), 0xa93fc7f0, "stp x16, x17, [sp,#-8]"},
	{MrsNZCV(16), 0xd53b4210, "mrs x16, s3_3_c4_c2_0"},
	{MsrNZCV(30), 0xd51b421e, "msr s3_3_c4_c2_0, x30"},
	{SVC0, 0xd4000001, "svc #0x0"},
	{NOP, 0xd503201f, "nop"},
	{RET, 0xd65f03c0, "ret"},
	{BTIc, 0xd503245f, "hint #0x22"},
	{PACIASP, 0xd503233f, "hint #0x19"},
	{AUTIASP, 0xd50323bf, "hint #0x1d"},
}

func TestEncode(t *testing.T) {
	lines := make([]string, len(encodeRows))
	for i, r := range encodeRows {
		lines[i] = r.text
		if r.got != r.want {
			t.Errorf("encoded %q = %08x, want %08x", r.text, uint32(r.got), uint32(r.want))
		}
		if got := gnuText(t, r.want); got != r.text {
			t.Errorf("arm64asm of %08x = %q, want %q", uint32(r.want), got, r.text)
		}
	}
	for i, got := range assemble(t, lines) {
		if want := encodeRows[i].want; got != want {
			t.Errorf("assembled %q = %08x, want %08x", lines[i], uint32(got), uint32(want))
		}
	}
}

// gnuText is what arm64asm prints for a word that it knows.
func gnuText(t *testing.T, w Word) string {
	t.Helper()
	inst, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, uint32(w)))
	if err != nil {
		t.Fatalf("arm64asm of %08x: %v", uint32(w), err)
	}
	return strings.TrimSpace(arm64asm.GNUSyntax(inst))
}

func TestEncodeReach(t *testing.T) {
	const far = 1 << 27
	pc := uint64(0x2_0000_0000)
	for _, test := range []struct {
		name   string
		encode func(pc, target uint64) (Word, bool)
		low    uint64 // how far below pc the lowest target is
		high   uint64 // how far above pc the highest is
		step   uint64
	}{
		{"B", B, far, far - 4, 4},
		{"BL", BL, far, far - 4, 4},
		{"BCond", func(pc, target uint64) (Word, bool) { return BCond(NE, pc, target) }, 1 << 20, 1<<20 - 4, 4},
		{"Adrp", func(pc, target uint64) (Word, bool) { return Adrp(8, pc, target) }, 1 << 32, 1<<32 - 1<<12, 1 << 12},
	} {
		for _, c := range []struct {
			target uint64
			want   bool
		}{
			{pc - test.low - test.step, false},
			{pc - test.low, true},
			{pc - test.low + test.step, true},
			{pc + test.high - test.step, true},
			{pc + test.high, true},
			{pc + test.high + test.step, false},
			{pc + 1<<62, false},
			{pc - 1<<62, false},
		} {
			w, ok := test.encode(pc, c.target)
			if ok != c.want {
				t.Errorf("%s(%#x, %#x) = %t, want %t", test.name, pc, c.target, ok, c.want)
			}
			if got, known := goesTo(w, pc); ok && (!known || got != c.target) {
				t.Errorf("%s(%#x, %#x) = %08x, which goes to %#x", test.name, pc, c.target, uint32(w), got)
			}
		}
	}
}

// goesTo reads back the address that a branch or an adrp was given.
func goesTo(w Word, pc uint64) (uint64, bool) {
	if _, addr, ok := w.Adr(pc); ok {
		return addr, true
	}
	return w.Target(pc)
}

func TestEncodeMisaligned(t *testing.T) {
	for offset := uint64(1); offset < 4; offset++ {
		for _, target := range []uint64{0x1000 + offset, 0x1000 - offset, 0x7ff_0000 + offset} {
			_, b := B(0x1000, target)
			_, bl := BL(0x1000, target)
			_, cond := BCond(EQ, 0x1000, target)
			if b || bl || cond {
				t.Errorf("to %#x: B, BL, BCond = %t, %t, %t, want all refused", target, b, bl, cond)
			}
		}
	}
}

func TestAdrpIgnoresPageOffsets(t *testing.T) {
	for _, pc := range []uint64{0x5000, 0x5004, 0x5ffc} {
		for _, target := range []uint64{0x7000, 0x7001, 0x7fff} {
			if w, ok := Adrp(3, pc, target); !ok || w != 0xd0000003 {
				t.Errorf("Adrp(3, %#x, %#x) = %08x, %t, want d0000003 (adrp x3, .+0x2000)", pc, target, uint32(w), ok)
			}
		}
	}
}
