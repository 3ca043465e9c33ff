// Recognising one site again, from the few words around it: how a table is
// checked against an image without a scan. What needs the whole image, the proof
// and whether a branch lands on the svc, is not asked again.

package scanner

import (
	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

// A Recogniser derives sites of one image.
type Recogniser struct {
	t      *text
	window int
}

// NewRecogniser returns a Recogniser for img that reads windows of the given
// number of words, or of DefaultWindow when it is 0. One whose executable ranges
// cannot be addressed (ErrSpread) recognises nothing.
func NewRecogniser(img *elfimg.Image, window int) *Recogniser {
	t, err := newText(img)
	if err != nil {
		t = &text{}
	}
	if window <= 0 {
		window = DefaultWindow
	}
	return &Recogniser{t: t, window: window}
}

// At derives Number, Distance, Hook, HookWord, Start and End of the site of the
// given kind at vaddr; false when the words there are no such site. The hook is
// the word before an svc if that can be displaced; a scan may prefer the svc.
func (r *Recogniser) At(kind Kind, vaddr uint64) (Site, bool) {
	s, i, ok := r.t.locate(vaddr)
	if !ok {
		return Site{}, false
	}
	site := Site{Vaddr: vaddr, Kind: kind, Number: NoNumber}
	switch kind {
	case Svc:
		return r.svc(s, i, site)
	case Bridge:
		return r.bridge(s, i, site)
	case Call:
		return r.call(s, i, site)
	}
	return Site{}, false
}

func (r *Recogniser) svc(s *span, i pos, site Site) (Site, bool) {
	w := readWindow(s, i, r.window)
	if s.at(i) != a64.SVC0 || w.reason != ReasonNone {
		return Site{}, false
	}
	site.Number, site.Distance = w.number, w.distance
	return r.hooked(s, i, site), true
}

// hooked sets the hook of the svc at offset i.
func (r *Recogniser) hooked(s *span, i pos, site Site) Site {
	at := i
	if i > 0 && displaceable(s.at(i-1)) {
		at--
	}
	site.Hook, site.HookWord = r.t.vaddr(s.first+at), s.at(at)
	return site
}

func (r *Recogniser) bridge(s *span, i pos, site Site) (Site, bool) {
	b, ok := bridgeAt(s, i)
	switch {
	case ok && b.slot:
		site.Start, site.End = r.t.vaddr(s.first+b.start), site.Vaddr+a64.Size
		site.Hook, site.HookWord = r.t.vaddr(s.first+b.entry), s.at(b.entry)
		return site, true
	case ok || s.at(i) != a64.SVC0 || !r.nearBridge(s, i):
		return Site{}, false
	}
	return r.hooked(s, i, site), true
}

// bridgeNear is how far from its own svc a wrapper calls the bridge, in words.
const bridgeNear = 32

// nearBridge reports whether the words around offset i call a bridge.
func (r *Recogniser) nearBridge(s *span, i pos) bool {
	for k := i - min(i, bridgeNear); k < min(i+bridgeNear, s.words()); k++ {
		w := s.at(k)
		if target, ok := w.Target(r.t.vaddr(s.first + k)); ok && w.IsBL() && r.isBridge(target) {
			return true
		}
	}
	return false
}

// isBridge reports whether a bridge has its entry at vaddr.
func (r *Recogniser) isBridge(vaddr uint64) bool {
	s, i, ok := r.t.locate(vaddr)
	if !ok {
		return false
	}
	b, ok := bridgeAt(s, i+bridgeHead)
	if !ok {
		b, ok = bridgeAt(s, i+bridgeHead+1)
	}
	return ok && b.entry == i
}

// call recognises a branch to a bridge or to a wrapper of one, and reads its
// number straight backwards.
func (r *Recogniser) call(s *span, i pos, site Site) (Site, bool) {
	w := s.at(i)
	target, ok := w.Target(site.Vaddr)
	if !ok {
		return Site{}, false
	}
	reg := uint32(bridgeNumberReg)
	if !r.isBridge(target) {
		if !r.leadsToBridge(target, wrapperDepth) {
			return Site{}, false
		}
		reg = wrapperNumberReg
	}
	site.Number = r.constantBefore(s, i, reg)
	site.Hook, site.HookWord = site.Vaddr, w
	return site, site.Number != NoNumber || reg == bridgeNumberReg
}

// wrapperDepth is how many functions lie between a caller and the bridge.
const wrapperDepth = 2

// leadsToBridge reports whether the function at vaddr branches to a bridge,
// itself or through depth-1 functions of its kind.
func (r *Recogniser) leadsToBridge(vaddr uint64, depth int) bool {
	for k := range uint64(bridgeNear) {
		at := vaddr + k*a64.Size
		w, ok := r.t.wordAt(at)
		if !ok {
			return false
		}
		target, direct := w.Target(at)
		if !direct || !w.IsBL() && !w.IsB() {
			continue
		}
		if r.isBridge(target) || depth > 1 && r.leadsToBridge(target, depth-1) {
			return true
		}
	}
	return false
}

// constantBefore returns what the nearest write before offset i puts into reg,
// or NoNumber. Branches out are passed; branches in, the scan has looked at.
func (r *Recogniser) constantBefore(s *span, i pos, reg uint32) int {
	for k := i; k > 0 && i-k < callReach; {
		k--
		w := s.at(k)
		e := a64.Decode(w)
		switch {
		case e.Flow != a64.Next && e.Flow != a64.Cond && e.Flow != a64.Svc:
			return NoNumber
		case !e.Def.Has(reg):
			continue
		}
		if rd, n, ok := w.Movz(); ok && rd == reg {
			return n
		}
		rd, rm, ok := w.Move()
		if !ok || rd != reg {
			return NoNumber
		}
		reg = rm
	}
	return NoNumber
}

// callReach is how many words before a call its number may be loaded.
const callReach = 64
