// The executable words of an image, addressed by position. A position is a
// word's distance in words from the lowest executable address, so that 32 bits
// hold it: libc 2.43 has 301,000 of them.

package scanner

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

// ErrSpread is the error of an image whose executable ranges lie so far apart
// that a position does not fit 32 bits.
var ErrSpread = errors.New("executable ranges span more than 16 GiB")

// A pos is a word's distance from text.low, in words.
type pos uint32

// A span is one executable range.
type span struct {
	first   pos
	code    []byte
	targets bitmap   // where direct branches land
	heads   []uint32 // chains of the branches that do, see link
	entries bitmap   // where functions begin
	hidden  bitmap   // where indirect jumps may land
	opaque  bitmap   // functions with a jump that may go anywhere in them; nil: none
}

func (s *span) words() pos { return pos(len(s.code) / a64.Size) }

// text is all executable ranges of an image, ascending.
type text struct {
	low   uint64
	spans []span
	links []link // every direct branch
	jumps []pos  // every br, where indirect jumps are of interest
	big   int    // index of the largest span, which is asked first
}

func newText(img *elfimg.Image) (*text, error) {
	t := &text{}
	if len(img.Exec) == 0 {
		return t, nil
	}
	t.low = img.Exec[0].Vaddr
	last := img.Exec[len(img.Exec)-1]
	if last.Vaddr+last.Size-t.low > 4<<32-4 {
		return nil, ErrSpread
	}
	for _, r := range img.Exec {
		t.spans = append(t.spans, span{first: t.pos(r.Vaddr), code: img.Bytes(r)})
		if r.Size > uint64(len(t.spans[t.big].code)) {
			t.big = len(t.spans) - 1
		}
	}
	return t, nil
}

func (t *text) pos(vaddr uint64) pos { return pos((vaddr - t.low) / a64.Size) }
func (t *text) vaddr(p pos) uint64   { return t.low + uint64(p)*a64.Size }
func (s *span) at(i pos) a64.Word    { return a64.Word(binary.LittleEndian.Uint32(s.code[i*a64.Size:])) }
func (s *span) holds(p pos) bool     { return p-s.first < s.words() }

// spanOf returns the span that holds p, or nil.
func (t *text) spanOf(p pos) *span {
	if len(t.spans) == 0 {
		return nil
	}
	if s := &t.spans[t.big]; s.holds(p) {
		return s
	}
	i, _ := slices.BinarySearchFunc(t.spans, p, func(s span, p pos) int {
		return cmp.Compare(s.first+s.words()-1, p)
	})
	if i < len(t.spans) && t.spans[i].holds(p) {
		return &t.spans[i]
	}
	return nil
}

// locate returns the span and the offset of the word at vaddr; false when it is
// in no span or between two words.
func (t *text) locate(vaddr uint64) (s *span, i pos, ok bool) {
	if vaddr < t.low || vaddr&3 != 0 || (vaddr-t.low)/a64.Size > math.MaxUint32 {
		return nil, 0, false
	}
	p := t.pos(vaddr)
	if s = t.spanOf(p); s == nil {
		return nil, 0, false
	}
	return s, p - s.first, true
}

// wordAt returns the word at vaddr; false as locate.
func (t *text) wordAt(vaddr uint64) (a64.Word, bool) {
	s, i, ok := t.locate(vaddr)
	if !ok {
		return 0, false
	}
	return s.at(i), true
}

// word returns the word at p; false when p is in no span.
func (t *text) word(p pos) (a64.Word, bool) {
	s := t.spanOf(p)
	if s == nil {
		return 0, false
	}
	return s.at(p - s.first), true
}

// bitmap is a set of positions in one span.
type bitmap []uint64

func (b bitmap) set(i pos)      { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) has(i pos) bool { return b[i>>6]>>(i&63)&1 == 1 }
