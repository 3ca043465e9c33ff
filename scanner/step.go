// One step of a backward walk: what the word before says about a register.

package scanner

import "svcrelay/scanner/a64"

type stepKind uint8

const (
	stepOn   stepKind = iota // the word leaves the register alone
	stepCopy                 // the register is a copy of another one
	stepAdd                  // the register is another one plus a constant
	stepStop                 // the walk ends with a value
)

type step struct {
	to    stepKind
	reg   uint32
	add   uint64
	value value
}

// stepBack says what reg, read after w at vaddr, was before it.
func (v *prover) stepBack(w a64.Word, vaddr uint64, reg uint32) step {
	e := a64.Decode(w)
	switch e.Flow {
	case a64.Jump, a64.JumpReg, a64.Return:
		return step{to: stepStop} // nothing falls through
	case a64.Unknown, a64.Trap:
		return step{to: stepStop, value: value{kind: unknown}}
	case a64.Call, a64.CallReg:
		if target, ok := w.Target(vaddr); ok && v.neverReturns(target) {
			return step{to: stepStop}
		}
		if callClobbers.Has(reg) {
			return step{to: stepStop, value: value{kind: unknown}}
		}
	}
	if !e.Def.Has(reg) {
		return step{to: stepOn}
	}
	return definition(w, vaddr, reg)
}

// callClobbers is what AAPCS64 lets a callee change: x0-x18 and x30.
const callClobbers a64.Regs = 1<<19 - 1 | 1<<30

// definition reads w, which writes reg, as a constant or a copy.
func definition(w a64.Word, vaddr uint64, reg uint32) step {
	if rd, n, ok := w.Movz(); ok && rd == reg {
		return step{to: stepStop, value: value{constant, uint64(n)}}
	}
	if rd, rm, ok := w.Move(); ok && rd == reg && rm != 31 {
		return step{to: stepCopy, reg: rm}
	}
	if rd, addr, ok := w.Adr(vaddr); ok && rd == reg {
		return step{to: stepStop, value: value{constant, addr}}
	}
	if rd, rn, imm, ok := w.AddImmediate(); ok && rd == reg && rn != 31 {
		return step{to: stepAdd, reg: rn, add: imm}
	}
	if w.Loads(reg) && !w.FromStack() {
		return step{to: stepStop, value: value{kind: pointer}}
	}
	return step{to: stepStop, value: value{kind: unknown}}
}

// neverReturns reports whether the function at vaddr has no way out: no return, no
// jump beyond its end, and nothing behind its last word. glibc 2.41's
// __internal_syscall_cancel calls such a function right before its svc.
func (v *prover) neverReturns(vaddr uint64) bool {
	never, asked := v.noReturn[vaddr]
	if !asked {
		if v.noReturn == nil {
			v.noReturn = map[uint64]bool{}
		}
		v.noReturn[vaddr] = false // while it is asked, and where it calls itself
		never = v.endless(vaddr)
		v.noReturn[vaddr] = never
	}
	return never
}

func (v *prover) endless(vaddr uint64) bool {
	f, ok := v.img.FrameAt(vaddr)
	if !ok || f.Start != vaddr {
		return false
	}
	ends := false // the last word goes nowhere
	for at := f.Start; at < f.End; at += a64.Size {
		w, ok := v.t.wordAt(at)
		if !ok || !v.spend(1) {
			return false
		}
		ends = false
		switch a64.Decode(w).Flow {
		case a64.Unknown, a64.Return, a64.JumpReg:
			return false
		case a64.Jump, a64.Cond:
			if to, _ := w.Target(at); to < f.Start || to >= f.End {
				return false
			}
			ends = w.IsB()
		case a64.Trap:
			ends = true
		case a64.Call:
			to, _ := w.Target(at)
			ends = at+a64.Size == f.End && v.neverReturns(to)
		}
	}
	return ends
}
