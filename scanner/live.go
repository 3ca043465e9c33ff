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

import (
	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

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
	paths    []livePath
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
	w.paths = append(w.paths[:0], livePath{p + 1, a64.AllRegs &^ a64.X(0)})
	w.seen, w.live, w.left = w.seen[:0], 0, budget
	for len(w.paths) > 0 {
		path := w.paths[len(w.paths)-1]
		w.paths = w.paths[:len(w.paths)-1]
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
		if w.left--; s == nil || w.left < 0 || !w.spend(1) {
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
		w.paths = append(w.paths, livePath{w.t.pos(target), at.open})
	case a64.Call, a64.CallReg:
		w.call(at)
	case a64.JumpReg:
		w.jump(at)
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

// call reads what any callee may: arguments, and what local callees agree on with
// their callers. Where the function has landing pads, they may be what comes next.
func (w *liveWalk) call(at *livePath) {
	if w.function(w.t.vaddr(at.p)).LSDA != 0 {
		w.live |= at.open
	}
	w.live |= at.open & (arguments | ipaRa)
	at.open &^= arguments | ipaRa | scratch | a64.NZCV
}

// jump follows a br: a switch to its cases, a tail call as a call and a return. A
// pointer may also be to a label of the function itself.
func (w *liveWalk) jump(at *livePath) {
	kind := w.resolveJump(at.p, func(to uint64) bool {
		_, _, ok := w.t.locate(to)
		if ok {
			w.paths = append(w.paths, livePath{w.t.pos(to), at.open})
		}
		return ok
	})
	if kind == jumpPointer && !w.hasPads(w.function(w.t.vaddr(at.p))) {
		w.call(at)
		w.live |= at.open & w.readByCaller()
	} else if kind != jumpCases {
		w.live |= at.open
	}
}

// hasPads reports whether an indirect jump may land inside f.
func (w *liveWalk) hasPads(f elfimg.Frame) bool {
	s, i, ok := w.t.locate(f.Start)
	if !ok {
		return true
	}
	for end := i + pos((f.End-f.Start)/a64.Size); i < min(end, s.words()); i++ {
		if !w.spend(1) || s.hidden.has(i) && !s.entries.has(i) || w.img.Property.BTI && s.at(i).IsJumpPad() {
			return true
		}
	}
	return false
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
	w.spend(len(w.seen) / 8)
	for _, v := range w.seen {
		if v.p == at.p && at.open&^v.open == 0 {
			return true
		}
	}
	w.seen = append(w.seen, at)
	return false
}
