// Labels over golang.org/x/net/bpf.
//
// A conditional jump reaches 255 instructions, and every jump leads forward. So
// the program is written from its end: whatever a jump wants to reach is there
// already, its distance is known at once, and a target out of reach gets a
// stand-in right behind the jump. Equal code is written once: a leaf is shared
// by all numbers that need it.

package policy

import "golang.org/x/net/bpf"

const reach = 255

// label is a place in the program: how many instructions follow it.
type label int

// branchKey is all that a branch is: equal keys are equal code.
type branchKey struct {
	cond    bpf.JumpTest
	k       uint32
	yes, no label
}

// fallKey is an instruction that goes on to next.
type fallKey struct {
	ins  bpf.Instruction
	next label
}

// writer holds the program backwards: rev[l] is the instruction at label l.
type writer struct {
	rev      []bpf.Instruction
	rets     map[Action]label
	branches map[branchKey]label
	falls    map[fallKey]label
	standIns map[label]label // the latest for each target
}

func newWriter() *writer {
	return &writer{rets: map[Action]label{}, branches: map[branchKey]label{}, falls: map[fallKey]label{}, standIns: map[label]label{}}
}

func (w *writer) put(ins bpf.Instruction) label {
	w.rev = append(w.rev, ins)
	return label(len(w.rev) - 1)
}

// skip is how many instructions lie between the next one written and l.
func (w *writer) skip(l label) int { return len(w.rev) - 1 - int(l) }

// ret gives the place that ends with an action.
func (w *writer) ret(a Action) label {
	l, ok := w.rets[a]
	if !ok {
		l = w.put(bpf.RetConstant{Val: uint32(a)})
		w.rets[a] = l
	}
	return l
}

// fall gives the place that runs ins and goes on at next.
func (w *writer) fall(ins bpf.Instruction, next label) label {
	key := fallKey{ins, next}
	l, ok := w.falls[key]
	if !ok {
		if w.skip(next) > 0 {
			w.standIn(next)
		}
		l = w.put(ins)
		w.falls[key] = l
	}
	return l
}

// branch gives the place that compares the accumulator with k.
func (w *writer) branch(cond bpf.JumpTest, k uint32, yes, no label) label {
	if yes == no {
		return yes
	}
	key := branchKey{cond, k, yes, no}
	l, ok := w.branches[key]
	if !ok {
		// One stand-in may push the other target out of reach, but not itself.
		for w.skip(yes) > reach || w.skip(no) > reach {
			if w.skip(yes) > reach {
				yes = w.near(yes)
			} else {
				no = w.near(no)
			}
		}
		l = w.put(bpf.JumpIf{Cond: cond, Val: k, SkipTrue: uint8(w.skip(yes)), SkipFalse: uint8(w.skip(no))})
		w.branches[key] = l
	}
	return l
}

// near gives a place within reach that does what l does.
func (w *writer) near(l label) label {
	if s, ok := w.standIns[l]; ok && w.skip(s) <= reach {
		return s
	}
	return w.standIn(l)
}

// standIn writes one: a copy where l is but an end, else a long jump.
func (w *writer) standIn(l label) label {
	ins := w.rev[l]
	if _, end := ins.(bpf.RetConstant); !end {
		ins = bpf.Jump{Skip: uint32(w.skip(l))}
	}
	w.standIns[l] = w.put(ins)
	return w.standIns[l]
}

// program returns the instructions in order.
func (w *writer) program() []bpf.Instruction {
	out := make([]bpf.Instruction, len(w.rev))
	for i, ins := range w.rev {
		out[len(out)-1-i] = ins
	}
	return out
}
