// Where indirect jumps may land, in images that BTI does not guard. glibc 2.36
// has 200 br words; those in functions without a site do not matter, since a
// jump table stays inside its function and everything else goes to an address
// that some relocation or adr names.

package scanner

import (
	"slices"

	"svcrelay/scanner/elfimg"
)

// markHidden marks every address that a relocation names. What the code computes
// is marked while its branches are collected, jump tables and landing pads per
// function by resolveFrame.
func (v *prover) markHidden() {
	for vaddr := range v.img.Relatives {
		v.hide(vaddr)
	}
}

// hide marks vaddr as a target of indirect jumps; false outside the text.
func (v *prover) hide(vaddr uint64) bool {
	s, i, ok := v.t.locate(vaddr)
	if ok {
		s.hidden.set(i)
	}
	return ok
}

// resolveFrame marks the jump tables and landing pads of one function, and
// reports whether every indirect jump in it was understood.
func (v *prover) resolveFrame(f elfimg.Frame) bool {
	err := v.img.LandingPads(f, func(pad uint64) bool {
		v.hide(pad)
		return true
	})
	resolved := err == nil
	first, _ := slices.BinarySearch(v.t.jumps, v.t.pos(f.Start))
	for _, p := range v.t.jumps[first:] {
		vaddr := v.t.vaddr(p)
		if vaddr >= f.End {
			break
		}
		br, _ := v.t.word(p)
		if v.resolveJump(f, vaddr, br, func(to uint64) { v.hide(to) }) == jumpUnknown {
			resolved = false
		}
	}
	return resolved
}
