// The window: the words before an svc that tell its number. "Writes x8" is
// decided by decoding each word, since an allow-list of harmless moves loses
// readlinkat and getcwd in ld.so (add x19, sp, #48; mov x29, sp) and faccessat2
// in libc (a stack guard load).

package scanner

import "svcrelay/scanner/a64"

// DefaultWindow is how many words before an svc are read. In glibc 2.31 to 2.44
// it finds every number that a relay handles.
const DefaultWindow = 8

// numberReg is the register that carries the syscall number.
const numberReg = 8

// window is what the words before one svc tell.
type window struct {
	number   int
	distance int // of the word that decided; 0 when none did
	reason   Reason
}

// readWindow reads up to limit words before the svc at offset i of s.
func readWindow(s *span, i pos, limit int) window {
	for d := 1; d <= limit; d++ {
		if pos(d) > i {
			return window{NoNumber, 0, WindowStart}
		}
		w := s.at(i - pos(d))
		switch e := a64.Decode(w); {
		case e.Flow == a64.Unknown:
			return window{NoNumber, 0, WindowUnknown}
		case e.Flow != a64.Next && e.Flow != a64.Svc:
			return window{NoNumber, 0, WindowBranch}
		case e.Def.Has(numberReg):
			return numberWrite(w, d)
		}
	}
	return window{NoNumber, 0, NumberTooFar}
}

// numberWrite classifies w, which writes x8 at distance d. The distance stands
// only beside a number.
func numberWrite(w a64.Word, d int) window {
	if rd, n, ok := w.Movz(); ok && rd == numberReg {
		return window{n, d, ReasonNone}
	}
	if rd, _, ok := w.Move(); ok && rd == numberReg {
		return window{NoNumber, 0, NumberInRegister}
	}
	if w.Loads(numberReg) {
		return window{NoNumber, 0, NumberFromMemory}
	}
	return window{NoNumber, 0, NumberComputed}
}
