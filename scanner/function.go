// Which function a word is in. Frames tell, where an image has them; musl's libc
// has none for its C code, so there a function reaches from one address that is
// called or exported to the next.

package scanner

import (
	"slices"

	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

// function returns the extent of the function at vaddr, which is in the text.
func (v *prover) function(vaddr uint64) elfimg.Frame {
	if vaddr >= v.frame.Start && vaddr < v.frame.End {
		return v.frame
	}
	if f, ok := v.img.FrameAt(vaddr); ok {
		v.frame = f
		return f
	}
	if v.starts == nil {
		v.starts = v.functionStarts()
	}
	s := v.t.spanOf(v.t.pos(vaddr))
	f := elfimg.Frame{Start: v.t.vaddr(s.first), End: v.t.vaddr(s.first + s.words())}
	i, found := slices.BinarySearch(v.starts, vaddr)
	if found {
		i++
	}
	if i > 0 {
		f.Start = max(f.Start, v.starts[i-1])
	}
	if i < len(v.starts) {
		f.End = min(f.End, v.starts[i])
	}
	return f
}

// functionStarts returns every address that is called or has a symbol, ascending.
func (v *prover) functionStarts() []uint64 {
	starts := []uint64{}
	for vaddr := range v.img.Starts {
		starts = append(starts, vaddr&^(a64.Size-1))
	}
	for _, l := range v.t.links {
		w, _ := v.t.word(l.from)
		if w.IsBL() {
			to, _ := w.Target(v.t.vaddr(l.from))
			starts = append(starts, to)
		}
	}
	slices.Sort(starts)
	return slices.Compact(starts)
}
