// Words that no compiler made: the tables' words with bits flipped, and noise.
// The seed is fixed, so that a failure is a row waiting to be added.

package a64

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// randomWords returns n words: one in three is noise, the others are words of
// the tables with one to four bits flipped.
func randomWords(n int) []Word {
	r := rand.New(rand.NewPCG(64, 0xa64))
	seeds := slices.Concat(assembledRows(), newerRows)
	all := make([]Word, n)
	for i := range all {
		if i%3 == 0 {
			all[i] = Word(r.Uint32())
			continue
		}
		all[i] = seeds[r.IntN(len(seeds))].word
		for range 1 + r.IntN(4) {
			all[i] ^= 1 << r.IntN(32)
		}
	}
	return all
}

func TestDecodeRandomMatchesModel(t *testing.T) {
	for _, l := range listWords(t, randomWords(100_000)) {
		if l = l.as240(); !harmless(l) {
			checkEffect(t, l)
		}
	}
}

// harmless reports whether objdump refuses a word that a64 may step over: those
// that cannot be executed and touch no general register, those whose registers
// clash, and those with a should-be-one field that processors ignore. It names
// no register of a sys that has no operand, and it knows system registers that
// nobody has allocated.
func harmless(l listing) bool {
	if !l.undefined() {
		name, rest, _ := strings.Cut(l.text, " ")
		isSys := names("ic dc at tlbi")[name] && registers(rest) == 0
		return isSys || names("mrs msr")[name] && strings.Contains(rest, "s0_")
	}
	w := l.word
	switch {
	case w>>25&7 == 7: // vectors
		e := Decode(w)
		return (e.Use|e.Def)&^NZCV == 0
	case w&0x3b20_0c00 == 0x1900_0400: // cpy, set
		return true
	case w&0xfa40_0000 == 0x6840_0000: // ldpsw
		return true
	case w&0x3fe0_8000 == 0x08c0_8000: // ldar
		return true
	}
	return false
}

func TestDecodeMatchesArm64asm(t *testing.T) {
	known := 0
	for _, w := range randomWords(300_000) {
		inst, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, uint32(w)))
		if err != nil {
			continue
		}
		got, text := Decode(w), arm64asm.GNUSyntax(inst)
		if got.Flow == Unknown { // the model decides who is right
			continue
		}
		known++
		if missing := registers(text) &^ (got.Use | got.Def); missing != 0 {
			t.Errorf("Decode(%08x) [%s] = %s, misses %s", uint32(w), text, show(got), showSet(missing))
		}
		if missing := model(text).Def &^ got.Def; missing != 0 {
			t.Errorf("Decode(%08x) [%s] = %s, does not write %s", uint32(w), text, show(got), showSet(missing))
		}
	}
	if known < 100_000 {
		t.Errorf("arm64asm and a64 both knew %d words, want 100,000 or more", known)
	}
}
