// Cancellation bridges. From glibc 2.41 on, open, openat, connect and some 50
// more wrappers pass their number in a register to one shared function:
//
//	__syscall_cancel_arch:
//	        bti     c                 <- the hook
//	start:  ldr     w0, [x0]
//	        tbnz    w0, #3, cancel
//	        mov     x8, x1            the number
//	        mov     x0, x2 ... mov x5, x7
//	        svc     #0                <- must stay: the handler compares the pc
//	end:    ret                          with [start, end)
//
// A relay inside [start, end) loses cancels and one instead of the svc hangs
// the thread for ever (both measured), so the hook is the entry. 2.41 and 2.43
// reach it through __internal_syscall_cancel, which has an svc of its own;
// 2.44 calls it from every wrapper.

package scanner

import "svcrelay/scanner/a64"

// bridgeMoves are the register moves of a bridge, as rd<<8|rm.
var bridgeMoves = [...]uint32{8<<8 | 1, 0<<8 | 2, 1<<8 | 3, 2<<8 | 4, 3<<8 | 5, 4<<8 | 6, 5<<8 | 7}

const (
	bridgeChecks = 2                                    // the load and the test
	bridgeHead   = bridgeChecks + pos(len(bridgeMoves)) // words from start to the svc
)

// A bridge is one function of that shape, by offsets of its span.
type bridge struct {
	entry, start, svc pos
	slot              bool // entry is a bti that a branch may replace
}

// bridgeAt recognises the bridge whose svc is at offset i of s.
func bridgeAt(s *span, i pos) (b bridge, ok bool) {
	if i < bridgeHead || i+1 >= s.words() || s.at(i) != a64.SVC0 || s.at(i+1) != a64.RET {
		return b, false
	}
	b.svc, b.start = i, i-bridgeHead
	if s.at(b.start) != 0xb940_0000 { // ldr w0, [x0]
		return b, false
	}
	if rt, bit, isTbnz := s.at(b.start + 1).Tbnz(); !isTbnz || rt != 0 || bit != 3 {
		return b, false
	}
	for k, want := range bridgeMoves {
		if rd, rm, isMove := s.at(b.start + bridgeChecks + pos(k)).Move(); !isMove || rd<<8|rm != want {
			return b, false
		}
	}
	b.entry = b.start
	if b.start > 0 && s.at(b.start-1) == a64.BTIc {
		b.entry, b.slot = b.start-1, true
	}
	return b, true
}

// straight reports whether no branch lands behind first, up to last.
func (s *span) straight(first, last pos) bool {
	for k := first + 1; k <= last; k++ {
		if s.targets.has(k) {
			return false
		}
	}
	return true
}

// A wrapper is a function that leads to a bridge and takes the number in reg.
type wrapper struct {
	entry pos
	reg   uint32
	first bool // the bridge itself
	slot  bool // its bridge has a hook
}

// The registers that carry the number into a bridge, as its second argument, and
// into glibc's wrappers of it, as their seventh.
const (
	bridgeNumberReg  = 1
	wrapperNumberReg = 6
)

// addBridge lists the bridge and the calls that lead to it.
func (s *scan) addBridge(b bridge, sp *span) {
	site := Site{
		Vaddr: s.t.vaddr(sp.first + b.svc), Kind: Bridge, Number: NoNumber, Flags: BridgeEntry,
		Start: s.t.vaddr(sp.first + b.start), End: s.t.vaddr(sp.first+b.svc) + a64.Size,
		Reason: BridgeFixed,
	}
	if b.slot {
		site.Verdict, site.Reason, site.HookReason = Accept, ReasonNone, HookEntry
		site.Hook, site.HookWord = s.t.vaddr(sp.first+b.entry), sp.at(b.entry)
	}
	s.sites = append(s.sites, site)
	s.addWrapper(wrapper{sp.first + b.entry, bridgeNumberReg, true, b.slot})
}

// joinWrappers follows every bridge back to its callers and finds the svcs that
// the functions between have of their own.
func (s *scan) joinWrappers() {
	for n := 0; n < len(s.wrappers); n++ {
		w := s.wrappers[n]
		for from := range s.into(w.entry) {
			s.caller(w, from)
		}
	}
	for i := range s.sites {
		if site := &s.sites[i]; site.Kind == Svc && site.Number == NoNumber {
			s.joinSvc(site)
		}
	}
}

// maxWrappers bounds the bridges and the functions they are followed through;
// glibc has three.
const maxWrappers = 64

// joinSvc makes site a bridge when its number is the one its wrapper was given.
func (s *scan) joinSvc(site *Site) {
	p := s.t.pos(site.Vaddr)
	f, ok := s.img.FrameAt(site.Vaddr)
	if !ok {
		return
	}
	for _, w := range s.wrappers {
		if w.first || s.t.vaddr(w.entry) != f.Start {
			continue
		}
		if s.valueAt(p, numberReg) == (value{argument, uint64(w.reg)}) {
			sp := s.t.spanOf(p)
			site.Kind, site.Reason = Bridge, ReasonNone
			s.accept(sp, p-sp.first, site)
			return
		}
	}
}

// caller decides what the branch at from, which lands on w, is: a call with a
// constant number, or one more wrapper that passes its own argument on.
func (s *scan) caller(w wrapper, from pos) {
	site := Site{Vaddr: s.t.vaddr(from), Kind: Call, Number: NoNumber, Reason: CallNumberUnknown}
	if br, _ := s.t.word(from); !br.IsB() && !br.IsBL() { // cannot be retargeted as far
		s.addCall(site, w)
		return
	}
	switch v := s.valueAt(from, w.reg); v.kind {
	case constant:
		site.Number, site.Reason = int(int32(v.n)), ReasonNone
		if !s.relayed(site.Number) {
			site.Reason = NumberNotRelayed
		}
	case argument:
		if v.n != wrapperNumberReg {
			break
		}
		if f, ok := s.img.FrameAt(site.Vaddr); ok {
			s.addWrapper(wrapper{s.t.pos(f.Start), uint32(v.n), false, w.slot})
			if !w.first || w.slot {
				return
			}
			site.Reason = ReasonNone // no hook but this branch: the number tells at run time
		}
	}
	s.addCall(site, w)
}

func (s *scan) addWrapper(w wrapper) {
	for _, have := range s.wrappers {
		if have.entry == w.entry && have.reg == w.reg {
			return
		}
	}
	if len(s.wrappers) < maxWrappers {
		s.wrappers = append(s.wrappers, w)
	}
}

// addCall lists one call. Its hook is the branch itself, which need not be
// retargeted where the bridge's own hook serves it.
func (s *scan) addCall(site Site, w wrapper) {
	if w.slot || !w.first {
		site.Flags |= ViaBridge
	}
	if site.Number != NoNumber {
		site.Flags |= Proven
	}
	if site.Reason == ReasonNone {
		site.Verdict, site.HookReason = Accept, HookCall
		site.Hook = site.Vaddr
		site.HookWord, _ = s.t.word(s.t.pos(site.Vaddr))
	}
	s.calls = append(s.calls, site)
}
