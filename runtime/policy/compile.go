// From a Filter to instructions.
//
// The kernel (5.11 and later) runs every new filter once for each number, with
// the number and nothing else; where that ends in ALLOW before anything but
// number and architecture was loaded, the filter is skipped for that number from
// then on. Hence the order here: architecture, number by binary search over runs
// of equal rules, and behind that the tests, in the order in which a rule has them.

package policy

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/net/bpf"
)

// Offsets in struct seccomp_data. A field is two words, the lower one first.
const (
	offNr   = 0
	offArch = 4
	offIP   = 8
	offArgs = 16
)

// maxProgram is the kernel's BPF_MAXINSNS.
const maxProgram = 4096

// Compile returns the instructions of a filter.
func (f Filter) Compile() (Program, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	w := newWriter()
	numbers := w.fall(load(offNr), dispatch(w, runs(w, f)))
	w.branch(bpf.JumpEqual, Arch, numbers, w.ret(f.foreign))
	raw, err := bpf.Assemble(append([]bpf.Instruction{load(offArch)}, w.program()...))
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	p := make(Program, len(raw))
	for i, r := range raw {
		p[i] = Instruction(r)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func (f Filter) check() error {
	if len(f.rules) == 0 {
		return errors.New("filter: no rule for number -1")
	}
	for i, r := range f.rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("filter: number %d: %w", i-1, err)
		}
	}
	return nil
}

func (r Rule) check() error {
	for _, c := range r.Cases {
		for _, t := range c.When {
			if t.Field > IP {
				return fmt.Errorf("test of field %d", t.Field)
			}
		}
		if err := c.Then.check(); err != nil {
			return err
		}
	}
	return nil
}

// run is a range of numbers that share their code: from first to the next run.
type run struct {
	first uint32
	code  label
}

// runs cuts all numbers, read without a sign: 0 to the last rule, above, and -1.
func runs(w *writer, f Filter) []run {
	last := len(f.rules) - 2
	var out []run
	add := func(first uint32, r Rule) {
		code := w.start(w.rule(r))
		if len(out) == 0 || out[len(out)-1].code != code {
			out = append(out, run{first, code})
		}
	}
	for nr := range last + 1 {
		add(uint32(nr), f.rules[nr+1])
	}
	add(uint32(last+1), Always(f.above))
	add(math.MaxUint32, f.rules[0])
	return out
}

// dispatch finds the run that holds the number in the accumulator.
func dispatch(w *writer, rs []run) label {
	if len(rs) == 1 {
		return rs[0].code
	}
	mid := len(rs) / 2
	above := dispatch(w, rs[mid:])
	below := dispatch(w, rs[:mid])
	return w.branch(bpf.JumpGreaterOrEqual, rs[mid].first, above, below)
}

func load(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }
