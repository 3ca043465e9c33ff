// Where indirect jumps may land, in images that BTI does not guard. glibc 2.36
// has 200 br words; those in functions without a site do not matter, since a
// jump table stays inside its function and everything else goes to an address
// that some relocation or adr names.
package scanner

import (
	"svcrelay/scanner/a64"
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
	if vaddr < v.t.low || vaddr&3 != 0 {
		return false
	}
	p := v.t.pos(vaddr)
	s := v.t.spanOf(p)
	if s == nil || v.t.vaddr(p) != vaddr {
		return false
	}
	s.hidden.set(p - s.first)
	return true
}

// resolveFrame marks the jump tables and landing pads of one function, and
// reports whether every indirect jump in it was understood.
func (v *prover) resolveFrame(f elfimg.Frame) bool {
	err := v.img.LandingPads(f, func(pad uint64) bool {
		v.hide(pad)
		return true
	})
	resolved := err == nil
	for vaddr := f.Start; vaddr < f.End; vaddr += a64.Size {
		w, ok := v.t.word(v.t.pos(vaddr))
		if !ok {
			return false
		}
		if a64.Decode(w).Flow != a64.JumpReg {
			continue
		}
		if v.resolveJump(f, vaddr, w, func(to uint64) { v.hide(to) }) == jumpUnknown {
			resolved = false
		}
	}
	return resolved
}
