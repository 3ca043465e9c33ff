// Every direct branch of an image, in one pass: where it comes from and where
// it lands. Libc 2.43 has some 70,000 of them in 301,000 words; the proof that
// no path reaches an svc with another number starts here.
package scanner

import (
	"encoding/binary"

	"svcrelay/scanner/a64"
)

// Classes of words by their top byte alone; b.cond and bc.cond share theirs with
// nothing else.
const (
	classNone = iota
	class26   // b, bl: offset in bits 25:0
	class19   // b.cond, cbz, cbnz: bits 23:5
	class14   // tbz, tbnz: bits 18:5
	classAddress
)

// A classTable tells the class of a word's top byte.
type classTable [256]uint8

// branchClasses knows branches, addressClasses also adr, adrp and x-form adds.
var branchClasses, addressClasses = classTables()

func classTables() (branches, addresses classTable) {
	for b := range branches {
		w := a64.Word(b) << 24
		switch {
		case w.IsB(), w.IsBL():
			branches[b] = class26
		case !w.IsBranch():
		case b&0x7e == 0x36:
			branches[b] = class14
		default:
			branches[b] = class19
		}
		if addresses[b] = branches[b]; b&0x1f == 0x10 || b == 0x91 {
			addresses[b] = classAddress
		}
	}
	return branches, addresses
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

// A collector finds the branches of a text.
type collector struct {
	*text
	classes *classTable
	hide    func(vaddr uint64) bool
	page    [32]uint64 // what adrp left in each register, code pages only
}

// collect records every branch of t that stays inside it, and marks its target.
// hide, when not nil, is told every address that the code computes.
func (t *text) collect(hide func(vaddr uint64) bool) {
	c := collector{text: t, classes: &branchClasses, hide: hide}
	if hide != nil {
		c.classes = &addressClasses
	}
	words := pos(0)
	for i := range t.spans {
		s := &t.spans[i]
		s.targets = make(bitmap, s.words()/64+1)
		s.heads = make([]uint32, s.words()>>chainShift+1)
		words += s.words()
	}
	t.links = make([]link, 0, words/4)
	for i := range t.spans {
		c.span(&t.spans[i])
	}
}

// span goes two words at a time: three in four words are of no class.
func (c *collector) span(s *span) {
	code := s.code
	i := s.first
	for ; len(code) >= 8; i, code = i+2, code[8:] {
		two := binary.LittleEndian.Uint64(code)
		if k := c.classes[two>>24&0xff]; k != classNone {
			c.word(s, i, a64.Word(two), k)
		}
		if k := c.classes[two>>56]; k != classNone {
			c.word(s, i+1, a64.Word(two>>32), k)
		}
	}
	if len(code) >= a64.Size {
		w := a64.Word(binary.LittleEndian.Uint32(code))
		if k := c.classes[w>>24]; k != classNone {
			c.word(s, i, w, k)
		}
	}
}

// word records the word w at p of s, which is of class k.
func (c *collector) word(s *span, p pos, w a64.Word, k uint8) {
	to := p
	switch k {
	case class26:
		to += pos(int32(w<<6) >> 6)
	case class19:
		to += pos(int32(w<<8) >> 13)
	case class14:
		to += pos(int32(w<<13) >> 18)
	default:
		c.address(p, w)
		return
	}
	i := to - s.first
	if i >= s.words() {
		if s = c.spanOf(to); s == nil {
			return
		}
		i = to - s.first
	}
	s.targets.set(i)
	head := &s.heads[i>>chainShift]
	c.links = append(c.links, link{p, *head})
	*head = uint32(len(c.links))
}

// address hides what adr, and adrp with an add, compute. The page of each
// register is kept across branches, which only hides too much.
func (c *collector) address(p pos, w a64.Word) {
	if rd, rn, imm, ok := w.AddImmediate(); ok {
		if page := c.page[rn]; page != 0 {
			c.hide(page + imm)
		}
		c.page[rd] = 0
		return
	}
	rd, addr, ok := w.Adr(c.vaddr(p))
	switch {
	case !ok:
	case w>>31 == 0:
		c.hide(addr)
	case c.hasCode(addr):
		c.page[rd] = addr
	default:
		c.page[rd] = 0
	}
}

// hasCode reports whether the 4 KiB page at addr may hold a word of the text.
func (t *text) hasCode(addr uint64) bool {
	last := &t.spans[len(t.spans)-1]
	return addr+0xfff >= t.low && addr <= t.vaddr(last.first)+uint64(len(last.code))
}

// into yields the branches that land on p.
func (t *text) into(p pos) func(yield func(pos) bool) {
	return func(yield func(pos) bool) {
		s := t.spanOf(p)
		if s == nil {
			return
		}
		for n := s.heads[(p-s.first)>>chainShift]; n != 0; n = t.links[n-1].next {
			from := t.links[n-1].from
			w, _ := t.word(from)
			if to, _ := w.Target(t.vaddr(from)); to == t.vaddr(p) && !yield(from) {
				return
			}
		}
	}
}
