// The tests of one rule.
//
// An accumulator of 32 bits looks at a field in halves. Each piece of code knows
// which half it loads first, so that a test that follows one of the same half
// starts behind its load: six ioctl requests are compared with one load.

package policy

import (
	"math"
	"math/bits"

	"golang.org/x/net/bpf"
)

// entry is a piece of code that wants a word in the accumulator. The load of it
// is written only where somebody comes in without.
type entry struct {
	word uint32 // its offset; 0, which is no half of a field, for none
	held label
}

// start gives the way in for code that holds no word.
func (w *writer) start(e entry) label {
	if e.word == 0 {
		return e.held
	}
	return w.fall(load(e.word), e.held)
}

// from gives the way in for code that holds one.
func (w *writer) from(word uint32, e entry) label {
	if word == e.word {
		return e.held
	}
	return w.start(e)
}

// halves returns the offsets of a field's lower and upper word.
func (f Field) halves() (lo, hi uint32) {
	if f == IP {
		return offIP, offIP + 4
	}
	lo = offArgs + 8*uint32(f)
	return lo, lo + 4
}

func low(v uint64) uint32  { return uint32(v) }
func high(v uint64) uint32 { return uint32(v >> 32) }

func (w *writer) end(a Action) entry { return entry{held: w.ret(a)} }

// rule writes the cases from the last to the first, each in front of the rest.
func (w *writer) rule(r Rule) entry {
	rest := w.end(r.Else)
	for i := len(r.Cases) - 1; i >= 0; i-- {
		c := r.Cases[i]
		hit := w.rule(c.Then)
		for j := len(c.When) - 1; j >= 0; j-- {
			hit = w.test(c.When[j], hit, rest)
		}
		rest = hit
	}
	return rest
}

func (w *writer) test(t Test, yes, no entry) entry {
	lo, hi := t.Field.halves()
	switch t.op {
	case opAny:
		rest := w.any(hi, high(t.a), yes, no)
		return w.any(lo, low(t.a), yes, rest)
	case opWithin:
		return w.within(t, yes, no)
	}
	rest := w.equal(hi, high(t.a), high(t.b), yes, no)
	return w.equal(lo, low(t.a), low(t.b), rest, no)
}

// compare branches on a word.
func (w *writer) compare(word uint32, cond bpf.JumpTest, k uint32, yes, no entry) entry {
	if yes == no {
		return yes
	}
	y, n := w.from(word, yes), w.from(word, no)
	return entry{word, w.branch(cond, k, y, n)}
}

func (w *writer) any(word, mask uint32, yes, no entry) entry {
	if mask == 0 {
		return no
	}
	return w.compare(word, bpf.JumpBitsSet, mask, yes, no)
}

func (w *writer) equal(word, mask, v uint32, yes, no entry) entry {
	switch {
	case v&^mask != 0 || yes == no:
		return no
	case mask == 0:
		return yes
	case mask == math.MaxUint32:
		return w.compare(word, bpf.JumpEqual, v, yes, no)
	case bits.OnesCount32(mask) == 1 && v == 0:
		return w.any(word, mask, no, yes)
	case bits.OnesCount32(mask) == 1:
		return w.any(word, mask, yes, no)
	}
	// Masked, the accumulator is no word any more: both ways load anew.
	y, n := w.start(yes), w.start(no)
	return entry{word, w.fall(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask}, w.branch(bpf.JumpEqual, v, y, n))}
}

func (w *writer) within(t Test, yes, no entry) entry {
	lo, hi := t.Field.halves()
	if high(t.a) != high(t.b) {
		return w.atLeast(t.Field, t.a, w.atMost(t.Field, t.b, yes, no), no)
	}
	// One upper half: the range of a gate's page.
	return w.equal(hi, math.MaxUint32, high(t.a), w.lowAtLeast(lo, low(t.a), w.lowAtMost(lo, low(t.b), yes, no), no), no)
}

func (w *writer) atLeast(f Field, v uint64, yes, no entry) entry {
	lo, hi := f.halves()
	rest := w.equal(hi, math.MaxUint32, high(v), w.lowAtLeast(lo, low(v), yes, no), no)
	return w.compare(hi, bpf.JumpGreaterThan, high(v), yes, rest)
}

func (w *writer) atMost(f Field, v uint64, yes, no entry) entry {
	lo, hi := f.halves()
	rest := w.equal(hi, math.MaxUint32, high(v), w.lowAtMost(lo, low(v), yes, no), yes)
	return w.compare(hi, bpf.JumpGreaterThan, high(v), no, rest)
}

func (w *writer) lowAtLeast(word, v uint32, yes, no entry) entry {
	if v == 0 {
		return yes
	}
	return w.compare(word, bpf.JumpGreaterOrEqual, v, yes, no)
}

func (w *writer) lowAtMost(word, v uint32, yes, no entry) entry {
	if v == math.MaxUint32 {
		return yes
	}
	return w.compare(word, bpf.JumpGreaterThan, v, no, yes)
}
