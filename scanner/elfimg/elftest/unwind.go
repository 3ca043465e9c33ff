// .gcc_except_table, .eh_frame and .eh_frame_hdr.

package elftest

import (
	"cmp"
	"slices"
)

// Frame is one entry of .eh_frame.
type Frame struct {
	Start, Size uint64
	Pads        []uint64 // one call site each; 0: a site without a pad
}

// Unwind says how the entries can be found.
type Unwind byte

const (
	Sorted   Unwind = iota // through the header's table
	NoTable                // the header has no table
	NoHeader               // by section name alone
)

func (b *builder) unwind() {
	if len(b.s.Frames) == 0 {
		return
	}
	lsda := b.exceptTable()
	var entries []uint64
	eh := b.add(".eh_frame", progbits, alloc, 8, func(at uint64) []byte {
		out, es := ehFrame(at, b.s.Frames, lsda)
		entries = es
		return out
	}).vaddr
	if b.s.Unwind == NoHeader {
		return
	}
	h := b.add(".eh_frame_hdr", progbits, alloc, 4, func(at uint64) []byte {
		return b.ehHeader(at, eh, entries)
	})
	b.covered(0x6474e550, h)
}

// exceptTable returns the address of each frame's LSDA, 0 for frames without.
func (b *builder) exceptTable() []uint64 {
	lsda := make([]uint64, len(b.s.Frames))
	b.add(".gcc_except_table", progbits, alloc, 1, func(at uint64) (out []byte) {
		for i, f := range b.s.Frames {
			if len(f.Pads) == 0 {
				continue
			}
			lsda[i] = at + uint64(len(out))
			sites := callSites(f, b.s.CallSites)
			out = append(out, 0xff, 0xff, b.s.CallSites)
			out = append(uleb(out, uint64(len(sites))), sites...)
		}
		return out
	})
	return lsda
}

func callSites(f Frame, enc byte) (out []byte) {
	put := func(v uint64) {
		if enc == 1 {
			out = uleb(out, v)
		} else {
			out = le.AppendUint32(out, uint32(v))
		}
	}
	for i, pad := range f.Pads {
		put(uint64(4 * i))
		put(4)
		if pad != 0 {
			pad -= f.Start
		}
		put(pad)
		out = append(out, 0)
	}
	return out
}

func uleb(out []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v))
}

// ehFrame has two CIEs, "zR" for frames without an LSDA and "zPLR" for the rest.
func ehFrame(at uint64, frames []Frame, lsda []uint64) (out []byte, entries []uint64) {
	plain := record(nil, append(words([]uint32{0}), "\x01zR\x00\x04\x78\x1e\x01\x1b\x0c\x1f\x00"...))
	out = record(plain, append(words([]uint32{0}), "\x01zPLR\x00\x04\x78\x1e\x07\x1b\x00\x00\x00\x00\x1b\x1b\x0c\x1f\x00"...))
	for i, f := range frames {
		entries = append(entries, at+uint64(len(out)))
		here := uint64(len(out)) + 4
		back := here
		if lsda[i] != 0 {
			back -= uint64(len(plain))
		}
		body := words([]uint32{uint32(back), uint32(f.Start - at - here - 4), uint32(f.Size)})
		if lsda[i] == 0 {
			body = append(body, 0)
		} else {
			body = append(body, 4)
			body = append(body, words([]uint32{uint32(lsda[i] - at - here - 13)})...)
		}
		out = record(out, body)
	}
	return append(out, 0, 0, 0, 0), entries
}

// record appends body with its length, padded to 4 bytes with DW_CFA_nop.
func record(out, body []byte) []byte {
	body = append(body, make([]byte, -len(body)&3)...)
	return append(append(out, words([]uint32{uint32(len(body))})...), body...)
}

func (b *builder) ehHeader(at, eh uint64, entries []uint64) []byte {
	if b.s.Unwind == NoTable {
		return append([]byte{1, 0x1b, 0xff, 0xff}, words([]uint32{uint32(eh - at - 4)})...)
	}
	out := append([]byte{1, 0x1b, 0x03, 0x3b}, words([]uint32{uint32(eh - at - 4), uint32(len(entries))})...)
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	start := func(i int) uint64 { return b.s.Frames[i].Start }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(start(i), start(j)) })
	for _, i := range order {
		out = append(out, words([]uint32{uint32(start(i) - at), uint32(entries[i] - at)})...)
	}
	return out
}
