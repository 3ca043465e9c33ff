// Every direct branch of an image, in one pass: where it comes from and where it
// lands. Libc 2.43 has some 70,000 of them in 301,000 words, and what costs is
// not reading the words but guessing which of them are branches: so the pass
// first collects positions without a conditional jump, then works them off.

package scanner

import (
	"encoding/binary"
	"sync"

	"svcrelay/scanner/a64"
)

// What a word may be, by its top byte alone. b.cond and bc.cond share theirs with
// nothing else.
const (
	isBranch   = 1 << iota // b, bl, b.cond, cbz, tbz
	isIndirect             // adr, adrp; br, blr, ret
)

// wordClass and branchField are by top byte. guardedClass is wordClass without adr
// and adrp, whose addresses do not matter where BTI guards.
var wordClass, guardedClass, branchField = classTables()

// A field is where a branch has its offset: in words, int32(w << left) >> right.
type field struct{ left, right uint8 }

func classTables() (classes, guarded [256]uint8, fields [256]field) {
	for b := range classes {
		w := a64.Word(b) << 24
		_, _, isAdr := w.Adr(0)
		switch {
		case w.IsB(), w.IsBL():
			classes[b], fields[b] = isBranch, field{6, 6} // bits 25:0
		case w.IsBranch() && b&0x7e == 0x36:
			classes[b], fields[b] = isBranch, field{13, 18} // tbz: bits 18:5
		case w.IsBranch():
			classes[b], fields[b] = isBranch, field{8, 13} // b.cond, cbz: bits 23:5
		case isAdr, w.IsBranchRegister():
			classes[b] = isIndirect
		}
		if guarded[b] = classes[b]; isAdr {
			guarded[b] = 0
		}
	}
	return classes, guarded, fields
}

// A link is one branch in the chain of those that land in the same 32 words:
// one pass, no sorting, 9 bytes a branch. A span's heads and a link's next are 1
// more than an index into links, 0 at the end.
type link struct {
	from pos
	next uint32
}

// chainShift makes chains of the branches to 32 words; libc has 7 in each.
const chainShift = 5

// chunk is how many words are sorted out at a time.
const chunk = 1024

// A collector finds the branches of a text. Its buffers hold offsets in a span.
type collector struct {
	*text
	hide               func(vaddr uint64) bool // nil: indirect jumps are of no interest
	classes            *[256]uint8
	branches, indirect [chunk]pos
}

// linkPool keeps the links of finished scans: half a megabyte for each libc.
var linkPool = sync.Pool{New: func() any { return new([]link) }}

// collect records every branch of t that stays inside it, and marks its target.
// hide, when not nil, is told every address that adr names, or adrp with an add
// that follows, and every jump through a register is kept. The text must be
// released.
func (t *text) collect(hide func(vaddr uint64) bool) {
	for i := range t.spans {
		s := &t.spans[i]
		s.targets, s.hidden = make(bitmap, s.words()/64+1), make(bitmap, s.words()/64+1)
		s.heads = make([]uint32, s.words()>>chainShift+1)
	}
	t.links = (*linkPool.Get().(*[]link))[:0]
	c := &collector{text: t, hide: hide, classes: &wordClass}
	if hide == nil {
		c.classes = &guardedClass
	}
	for i := range t.spans {
		c.span(&t.spans[i])
	}
}

// release gives t's links, and nothing else of t, to the next scan.
func (t *text) release() {
	links := t.links
	t.links = nil
	linkPool.Put(&links)
}

func (c *collector) span(s *span) {
	for base := pos(0); base < s.words(); base += chunk {
		code := s.code[base*a64.Size:]
		branches, indirect := c.sort(base, code[:min(len(code), chunk*a64.Size)])
		c.record(s, branches)
		c.note(s, indirect)
	}
}

// sort returns the offsets of the branches and of the indirect words in code,
// which begins at offset base. Every offset is stored; only the right ones count.
func (c *collector) sort(base pos, code []byte) (branches, indirect []pos) {
	var nb, ni uint
	for ; len(code) >= 8; code = code[8:] {
		two := binary.LittleEndian.Uint64(code)
		first, second := uint(c.classes[two>>24&0xff]), uint(c.classes[two>>56])
		c.branches[nb%chunk], c.indirect[ni%chunk] = base, base
		nb, ni = nb+first&1, ni+first>>1
		c.branches[nb%chunk], c.indirect[ni%chunk] = base+1, base+1
		nb, ni = nb+second&1, ni+second>>1
		base += 2
	}
	if len(code) >= a64.Size {
		k := uint(c.classes[code[3]])
		c.branches[nb%chunk], c.indirect[ni%chunk] = base, base
		nb, ni = nb+k&1, ni+k>>1
	}
	return c.branches[:nb], c.indirect[:ni]
}

// record records the direct branches at the given offsets of s.
func (c *collector) record(s *span, branches []pos) {
	links := c.links
	for _, i := range branches {
		w := s.at(i)
		k := branchField[w>>24]
		to, at := i+pos(int32(w<<(k.left&31))>>(k.right&31)), s
		if to >= s.words() {
			p := s.first + to
			if at = c.spanOf(p); at == nil {
				continue
			}
			to = p - at.first
		}
		at.targets.set(to)
		head := &at.heads[to>>chainShift]
		links = append(links, link{s.first + i, *head})
		*head = uint32(len(links))
	}
	c.links = links
}

// note hides the addresses that the words at the given offsets of s compute, and
// keeps the jumps among them. A ret of another register than x30 is a jump, and
// one that no landing pad stops.
func (c *collector) note(s *span, indirect []pos) {
	for _, i := range indirect {
		w := s.at(i)
		if !w.IsBranchRegister() {
			c.address(s, i)
			continue
		}
		switch flow := a64.Decode(w).Flow; {
		case flow == a64.JumpReg && c.hide != nil, flow == a64.Return && w.Operand() != 30 && w != eret:
			c.jumps = append(c.jumps, s.first+i)
		}
	}
}

// eret has no register, but its field is not x30's.
const eret = 0xd69f_03e0

// addReach is how many words after an adrp its add is looked for.
const addReach = 32

// address hides what the adr at offset i of s computes, or the adrp there with
// the adds that follow it.
func (c *collector) address(s *span, i pos) {
	reg, addr, _ := s.at(i).Adr(c.vaddr(s.first + i))
	if s.at(i)>>31 == 0 {
		c.hide(addr)
		return
	}
	if !c.hasCode(addr) {
		return
	}
	for k := i + 1; k < min(i+addReach, s.words()); k++ {
		w := s.at(k)
		if _, rn, imm, ok := w.AddImmediate(); ok && rn == reg {
			c.hide(addr + imm)
		}
		if a64.Decode(w).Def.Has(reg) {
			return
		}
	}
}

// hasCode reports whether the 4 KiB page at addr may hold a word of the text.
func (t *text) hasCode(addr uint64) bool {
	last := &t.spans[len(t.spans)-1]
	return addr+0xfff >= t.low && addr <= t.vaddr(last.first)+uint64(len(last.code))
}

// into yields the branches that land on p. Every branch of the chain is paid for;
// the chain ends early when nothing is left to pay with.
func (v *prover) into(p pos) func(yield func(pos) bool) {
	t := v.t
	return func(yield func(pos) bool) {
		s := t.spanOf(p)
		if s == nil {
			return
		}
		for n := s.heads[(p-s.first)>>chainShift]; n != 0 && v.spend(1); n = t.links[n-1].next {
			from := t.links[n-1].from
			w, _ := t.word(from)
			if to, _ := w.Target(t.vaddr(from)); to == t.vaddr(p) && !yield(from) {
				return
			}
		}
	}
}
