// Landing pads: code entered by the unwinder alone, so that no branch and no
// symbol shows it. GCC emits them for glibc's cancellation clean-ups.
//
//	LSDA: enc of base (0xff: the frame's start) | base
//	    | enc of types (0xff: none) | distance to the types
//	    | enc of call sites | their length | { start, length, pad, action } *
//
// A pad of 0 means "none"; action is the only field that is always uleb128.

package elfimg

// LandingPads yields the landing pads of f, repeats included. It reports an
// exception table that is malformed or leaves executable memory, after the pads
// before the fault.
func (m *Image) LandingPads(f Frame, yield func(uint64) bool) error {
	if f.LSDA == 0 {
		return nil
	}
	sites, enc, base, ok := m.callSites(f)
	if !ok {
		return fault("exception table", f.LSDA, ErrUnwind)
	}
	// A call site covers an instruction or more of its frame; the limit keeps
	// frames that share one huge table from costing its length each.
	for left := (f.End-f.Start)/4 + 1; len(sites.b) > 0; left-- {
		sites.value(enc)
		sites.value(enc)
		pad := sites.value(enc)
		sites.uleb()
		if sites.bad || left == 0 {
			return fault("exception table", f.LSDA, ErrUnwind)
		}
		if pad == 0 {
			continue
		}
		if _, ok := m.execAt(base + pad); !ok {
			return fault("exception table", f.LSDA, withValue(ErrOutside, base+pad))
		}
		if !yield(base + pad) {
			return nil
		}
	}
	return nil
}

// callSites finds the call-site table of f's LSDA and the base of its pads.
func (m *Image) callSites(f Frame) (sites cursor, enc byte, base uint64, ok bool) {
	c := cursor{b: m.tail(f.LSDA), at: f.LSDA}
	base = f.Start
	if e := c.u8(); e != encOmit {
		base = c.pointer(e)
	}
	if e := c.u8(); e != encOmit {
		c.uleb()
	}
	enc = c.u8()
	sites = cursor{at: c.at}
	sites.b = c.take(c.uleb())
	return sites, enc, base, !c.bad
}
