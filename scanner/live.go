// Which registers may be read after an svc before they are written: a relay needs
// scratch registers, and this tells which are free. None of the accepted sites of
// glibc 2.31 to 2.43 keeps the flags, x16 or x17.
//
// The answer never says dead where code reads: paths are followed through
// branches and switches, a call reads what its callee may take as arguments, and
// unknown words, indirect jumps and an exhausted budget read everything. A return
// reads what AAPCS64 preserves; in a function that is not exported also x0-x15
// and x18, since GCC's -fipa-ra lets a local caller rely on them.

package scanner

import "svcrelay/scanner/a64"

const (
	arguments a64.Regs = 1<<9 - 1                 // x0-x8
	scratch   a64.Regs = 1<<16 | 1<<17            // ip0, ip1: any call may write them
	preserved a64.Regs = 0x7ff8_0000 &^ (1 << 30) // x19-x29
	ipaRa     a64.Regs = 1<<16 - 1 | 1<<18        // x0-x15, x18
	linkReg   a64.Regs = 1 << 30                  // x30
)

// How many words are read for one svc. An accepted site's mask is exact but for
// hostile code; a refused one is nobody's, and may name more than is true.
const (
	acceptedBudget = 4096
	refusedBudget  = 32
)

// A liveWalk follows all paths from one word.
type liveWalk struct {
	*prover
	left     int
	exported bool
	live     a64.Regs
	work     []livePath
	seen     []livePath
}

// A livePath is a position and the registers nobody touched on the way to it.
type livePath struct {
	p    pos
	open a64.Regs
}

// liveAfter returns what may be read after the word at p; x0 is the result and
// counts as written by it. It reads at most budget words.
func (w *liveWalk) liveAfter(p pos, budget int) a64.Regs {
	w.work = append(w.work[:0], livePath{p + 1, a64.AllRegs &^ a64.X(0)})
	w.seen, w.live, w.left = w.seen[:0], 0, budget
	for len(w.work) > 0 {
		path := w.work[len(w.work)-1]
		w.work = w.work[:len(w.work)-1]
		w.follow(path)
	}
	return w.live
}

// follow reads straight on from a path until nothing is open.
func (w *liveWalk) follow(at livePath) {
	s := w.t.spanOf(at.p)
	for {
		if at.open &^= w.live; at.open == 0 {
			return
		}
		if s == nil || !s.holds(at.p) {
			s = w.t.spanOf(at.p)
		}
		if w.left--; s == nil || w.left < 0 {
			w.live |= at.open
			return
		}
		i := at.p - s.first
		if s.targets.has(i) && w.visited(at) {
			return
		}
		word := s.at(i)
		e := a64.Decode(word)
		w.live |= e.Use & at.open
		at.open &^= e.Use | e.Def
		if e.Flow == a64.Next || e.Flow == a64.Svc {
			at.p++
		} else if !w.branch(word, e.Flow, &at) {
			return
		}
	}
}

// branch moves at past word, which does more than go on; false when the path
// ends.
func (w *liveWalk) branch(word a64.Word, flow a64.Flow, at *livePath) bool {
	target, _ := word.Target(w.t.vaddr(at.p))
	switch flow {
	case a64.Jump:
		at.p = w.t.pos(target)
		return true
	case a64.Cond:
		w.work = append(w.work, livePath{w.t.pos(target), at.open})
	case a64.Call, a64.CallReg:
		w.call(at)
	case a64.JumpReg:
		w.jump(word, at)
		return false
	case a64.Return:
		w.live |= at.open & w.readByCaller()
		return false
	case a64.Trap: // the program ends
		return false
	default: // nobody knows where this goes
		w.live |= at.open
		return false
	}
	at.p++
	return true
}

func (w *liveWalk) call(at *livePath) {
	w.live |= at.open & arguments
	at.open &^= arguments | scratch | a64.NZCV
}

// jump follows a br: a switch to its cases, a tail call as a call and a return.
func (w *liveWalk) jump(word a64.Word, at *livePath) {
	vaddr := w.t.vaddr(at.p)
	f, _ := w.img.FrameAt(vaddr)
	kind := w.resolveJump(f, vaddr, word, func(to uint64) {
		w.work = append(w.work, livePath{w.t.pos(to), at.open})
	})
	switch kind {
	case jumpUnknown:
		w.live |= at.open
	case jumpPointer:
		w.call(at)
		w.live |= at.open & w.readByCaller()
	}
}

func (w *liveWalk) readByCaller() a64.Regs {
	if w.exported {
		return preserved | linkReg
	}
	return preserved | linkReg | ipaRa
}

// visited reports whether an earlier path to here had as much open, and
// remembers this one.
func (w *liveWalk) visited(at livePath) bool {
	for _, v := range w.seen {
		if v.p == at.p && at.open&^v.open == 0 {
			return true
		}
	}
	w.seen = append(w.seen, at)
	return false
}
