// What every class of word reads and writes: one row a case, in the
// effects_*_test.go files. The assembler checks that a row's word is its text.

package a64

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A row is a word, its text, and the registers it reads and writes.
type row struct {
	word     Word
	text     string
	use, def string
	flow     Flow
}

// effect is what Decode must return.
func (r row) effect() Effect { return Effect{Use: set(r.use), Def: set(r.def), Flow: r.flow} }

// set reads a list of registers, with nzcv.
func set(list string) Regs {
	return registers(list) | flagsIf(slices.Contains(strings.Fields(list), "nzcv"))
}

// assembledRows are the rows whose text the assembler knows.
func assembledRows() []row {
	return slices.Concat(immediateRows, branchRows, systemRows, registerRows, memoryRows, atomicRows, vectorRows)
}

func TestDecode(t *testing.T) {
	for _, r := range slices.Concat(assembledRows(), newerRows) {
		if got := Decode(r.word); got != r.effect() {
			t.Errorf("Decode(%08x) [%s] = %s, want %s", uint32(r.word), r.text, show(got), show(r.effect()))
		}
	}
}

func TestRowsAssemble(t *testing.T) {
	rows := assembledRows()
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.text
	}
	for i, got := range assemble(t, lines) {
		if got != rows[i].word {
			t.Errorf("assembled %q = %08x, want %08x", rows[i].text, uint32(got), uint32(rows[i].word))
		}
	}
}

func TestUnknown(t *testing.T) {
	words := make([]Word, len(unknownRows))
	for i, r := range unknownRows {
		words[i] = r.word
		if got := Decode(r.word); got != (Effect{}) {
			t.Errorf("Decode(%08x) [%s] = %s, want Unknown", uint32(r.word), r.why, show(got))
		}
	}
	for i, l := range listWords(t, words) {
		want := cmp.Or(unknownRows[i].text, ".inst")
		if got, _, _ := strings.Cut(l.text, " "); !names(want)[got] {
			t.Errorf("objdump of %08x = %q, want %q", uint32(l.word), l.text, want)
		}
	}
}

func TestModelMatchesRows(t *testing.T) {
	rows := slices.Concat(assembledRows(), newerRows)
	words := make([]Word, len(rows))
	for i, r := range rows {
		words[i] = r.word
	}
	for i, l := range listWords(t, words) {
		l = l.as240()
		if got, want := model(l.text), rows[i].effect(); l.undefined() || got != want {
			t.Errorf("model(%q) of %08x = %s, want %s", l.text, uint32(l.word), show(got), show(want))
		}
	}
}

// show prints an effect as the rows do.
func show(e Effect) string {
	flow := [...]string{"Unknown", "Next", "Jump", "Cond", "Call", "JumpReg", "CallReg", "Return", "Trap", "Svc"}[e.Flow]
	return fmt.Sprintf("%s use %q def %q", flow, showSet(e.Use), showSet(e.Def))
}

func showSet(s Regs) string {
	var names []string
	for n := range uint32(31) {
		if s.Has(n) {
			names = append(names, fmt.Sprint("x", n))
		}
	}
	if s&NZCV != 0 {
		names = append(names, "nzcv")
	}
	return strings.Join(names, " ")
}
