// Where code begins, and where indirect jumps may land. In an image that BTI
// guards only a landing pad can be landed on; elsewhere every address counts that
// a relocation names, an adr computes, an exception table or a switch holds.
// glibc 2.36 has 200 br words, and most are tail calls.

package scanner

import (
	"encoding/binary"

	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

// survey marks entries and indirect targets, once the branches are collected.
// Nothing may be proven before it is done.
func (v *prover) survey() {
	for i := range v.t.spans {
		v.t.spans[i].entries = make(bitmap, v.t.spans[i].words()/64+1)
	}
	for vaddr := range v.img.Starts {
		if s, i, ok := v.t.locate(vaddr); ok {
			s.entries.set(i)
		}
	}
	if !v.img.Property.BTI {
		for vaddr := range v.img.Relatives {
			v.hide(vaddr)
		}
		if v.img.Type == elfExec {
			v.hideData()
		}
		v.hidePads()
	}
	for _, p := range v.t.jumps {
		v.resolve(p)
	}
}

// elfExec is ET_EXEC: its pointers need no relocation.
const elfExec = 2

// hide marks vaddr as a target of indirect jumps; false outside the text.
func (v *prover) hide(vaddr uint64) bool {
	s, i, ok := v.t.locate(vaddr)
	if ok {
		s.hidden.set(i)
	}
	return ok
}

// hideData marks whatever words of the file look like the address of code.
func (v *prover) hideData() {
	for _, l := range v.img.Loads {
		b, ok := v.img.ReadAt(l.Vaddr, int(l.Filesz))
		if !ok {
			continue
		}
		for ; len(b) >= 8; b = b[4:] {
			if n := binary.LittleEndian.Uint64(b); n-v.t.low < 1<<32 {
				v.hide(n)
			}
			v.hide(uint64(binary.LittleEndian.Uint32(b)))
		}
	}
}

// hidePads marks the landing pads of every frame. Frames that share a table are
// not paid for twice.
func (v *prover) hidePads() {
	for f := range v.img.Frames {
		if f.LSDA == 0 {
			continue
		}
		err := v.img.LandingPads(f, func(pad uint64) bool {
			v.hide(pad)
			return v.spend(1)
		})
		if err != nil {
			v.makeOpaque(f)
		}
	}
}

// resolve marks where the jump at p goes, or that nobody knows.
func (v *prover) resolve(p pos) {
	if v.img.Property.BTI || v.resolveJump(p, v.hide) == jumpUnknown {
		v.makeOpaque(v.function(v.t.vaddr(p)))
	}
}

// makeOpaque marks a function in which nothing can be proven.
func (v *prover) makeOpaque(f elfimg.Frame) {
	s, i, ok := v.t.locate(f.Start)
	if !ok {
		return
	}
	if s.opaque == nil {
		s.opaque = make(bitmap, s.words()/64+1)
	}
	end := i + pos(min((f.End-f.Start)/a64.Size, uint64(s.words()-i)))
	for ; i < end && !s.opaque.has(i); i++ {
		s.opaque.set(i)
	}
}

// isOpaque reports whether word i of s is in such a function.
func (s *span) isOpaque(i pos) bool { return s.opaque != nil && s.opaque.has(i) }
