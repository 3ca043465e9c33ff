// Reaching definitions of one register, backwards over every path. It answers
// three questions: does each path to an svc carry the same number, which constant
// or argument does a caller of the cancellation bridge pass on, and where is the
// table of a switch.

package scanner

import "svcrelay/scanner/elfimg"

// A value is what a register holds before a word, over all paths at once.
type value struct {
	kind valueKind
	n    uint64 // a constant, or the number of an argument register
}

type valueKind uint8

const (
	none     valueKind = iota // no path found yet: the neutral element
	constant                  // n, by movz, adr, adrp or an add to one of them
	argument                  // what register n held at the function's entry
	pointer                   // loaded from memory other than the stack
	unknown
)

// join is the value that two paths agree on.
func (v value) join(o value) value {
	switch {
	case v.kind == none:
		return o
	case o.kind == none, v == o:
		return v
	}
	return value{kind: unknown}
}

// reachBudget bounds the words of one question, so that hostile code costs
// little: the longest honest walk in glibc 2.31 to 2.44 takes under 300.
const reachBudget = 2000

// A prover answers questions about a text. Its answers follow direct branches,
// function entries and the indirect targets in hidden. What a call may change is
// unknown after it; after a function that never returns, nothing comes. What no
// known way leads to is unknown.
type prover struct {
	t     *text
	img   *elfimg.Image
	work  int          // steps left for the whole image
	frame elfimg.Frame // the last one asked for
	// noReturn remembers which functions never return.
	noReturn map[uint64]bool
	// starts is where functions begin, for code without frames; see function.
	starts []uint64
}

// workPerWord bounds the steps of a scan by the size of the text, so that no code
// costs more than time proportional to it. Libc takes 2 per word.
const (
	workPerWord = 64
	workAtLeast = 1 << 16
)

// spend takes n steps; false when none are left.
func (v *prover) spend(n int) bool {
	v.work -= n
	return v.work >= 0
}

// A query is one question: the words it may still read and where it has been.
// A position seen twice adds nothing, since the first visit joins its value.
type query struct {
	*prover
	left   *int
	seen   map[question]bool
	direct bool // do not ask who arrives by an indirect jump
}

type question struct {
	p   pos
	reg uint32
}

// valueAt returns what reg holds before the word at p.
func (v *prover) valueAt(p pos, reg uint32) value {
	left := reachBudget
	return v.ask(&left).before(p, reg)
}

// directValueAt is valueAt along direct branches alone. A jump table inside a
// loop is reached through itself; what it needs was computed before the loop.
func (v *prover) directValueAt(p pos, reg uint32) value {
	left := reachBudget
	q := v.ask(&left)
	q.direct = true
	return q.before(p, reg)
}

func (v *prover) ask(left *int) *query {
	return &query{prover: v, left: left}
}

// before joins the values of reg over every way to arrive at p.
func (q *query) before(p pos, reg uint32) value {
	var v value
	for v.kind != unknown {
		s := q.t.spanOf(p)
		if *q.left--; *q.left < 0 || !q.spend(1) || s == nil {
			return value{kind: unknown}
		}
		i := p - s.first
		if !q.direct && s.isOpaque(i) {
			return value{kind: unknown}
		}
		entry := s.entries.has(i)
		ways := entry || s.targets.has(i) || q.hiddenAt(s, i)
		if ways {
			at := question{p, reg}
			if q.seen[at] { // only where ways meet can a walk come back
				return v
			}
			if q.seen == nil {
				q.seen = map[question]bool{}
			}
			q.seen[at] = true
			v = v.join(q.arrivals(s, i, reg, entry))
		}
		if i == 0 || entry {
			return v.join(value{argument, uint64(reg)})
		}
		p--
		switch step := q.stepBack(s.at(i-1), q.t.vaddr(p), reg); step.to {
		case stepStop:
			if step.value.kind == none && !ways { // nobody comes here, as far as is known
				return value{kind: unknown}
			}
			return v.join(step.value)
		case stepCopy:
			reg = step.reg
		case stepAdd: // a new question: the sum differs from what its operand is
			sub := q.ask(q.left)
			sub.direct = q.direct
			return v.join(sub.before(p, step.reg).plus(step.add))
		}
	}
	return v
}

// arrivals joins the ways into word i of s other than from the word before:
// branches, and indirect jumps, which tell nothing. A branch from elsewhere to a
// function's entry is a tail call: what it brings is the function's argument.
func (q *query) arrivals(s *span, i pos, reg uint32, entry bool) value {
	if q.hiddenAt(s, i) && !entry {
		return value{kind: unknown}
	}
	var v value
	var f elfimg.Frame
	if entry {
		f = q.function(q.t.vaddr(s.first + i))
	}
	for from := range q.into(s.first + i) {
		if *q.left--; *q.left < 0 {
			return value{kind: unknown}
		}
		w, _ := q.t.word(from)
		switch outside := q.t.vaddr(from)-f.Start >= f.End-f.Start; {
		case entry && outside:
		case w.IsBL():
			v = v.join(value{argument, uint64(reg)})
		default:
			v = v.join(q.before(from, reg))
		}
		if v.kind == unknown {
			break
		}
	}
	if q.work < 0 { // not all of them were seen
		return value{kind: unknown}
	}
	return v
}

// hiddenAt reports whether an indirect jump may land on word i of s: one of the
// marked targets or, in an image guarded by BTI, a landing pad for jumps. A pad
// for calls in mid-function is none: calls go to entries.
func (q *query) hiddenAt(s *span, i pos) bool {
	switch {
	case q.direct:
		return false
	case q.img.Property.BTI:
		return s.at(i).IsJumpPad()
	}
	return s.hidden.has(i)
}

func (v value) plus(n uint64) value {
	if v.kind != constant {
		return value{kind: unknown}
	}
	return value{constant, v.n + n}
}
