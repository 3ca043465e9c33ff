//go:build linux && arm64

// What a process tells the kernel about itself, and is to hear from it again. Two
// of these are the tracer's in truth: a process that may not be dumped could not be
// read any more, and no_new_privs is what lets an ordinary user put a filter on.

package tracer

import "svcrelay/runtime/sysno"

var selfCalls = map[int]handler{
	sysno.Prctl: (*Tracer).prctl,
	// The kernel bounds stack and arguments of the guest's programs as of any
	// other: a new limit holds from the next exec on, loader or not.
	sysno.Setrlimit: pass,
	sysno.Prlimit64: pass,
}

// Options of prctl (uapi/linux/prctl.h).
const (
	prGetDumpable   = 3
	prSetDumpable   = 4
	prGetNoNewPrivs = 39
	prGetAuxv       = 0x41555856
)

func (t *Tracer) prctl(tk *task, _ int) {
	x := t.regs.X[:5]
	switch option := uint32(x[0]); {
	case option == prSetDumpable && x[1] == 0:
		tk.proc.undumpable = true
		t.finish(tk, 0)
	case option == prSetDumpable && x[1] == 1:
		tk.proc.undumpable = false
		cont(tk.tid, 0)
	case option == prGetDumpable && tk.proc.undumpable:
		t.finish(tk, 0)
	case option == prSetNoNewPrivs && x[1] == 1 && x[2]|x[3]|x[4] == 0:
		tk.noNewPrivs = true
		cont(tk.tid, 0)
	case option == prGetNoNewPrivs && x[1]|x[2]|x[3]|x[4] == 0:
		if tk.noNewPrivs {
			t.finish(tk, 1)
			return
		}
		t.finish(tk, 0)
	case option == prGetAuxv:
		copy(tk.saved[:], t.regs.X[:6])
		tk.end = endGetAuxv
		toExit(tk.tid, 0)
	default:
		cont(tk.tid, 0)
	}
}

// endGetAuxv writes the vector that the program was started with over that of the
// loader, which is the one that the kernel keeps.
func endGetAuxv(t *Tracer, tk *task) {
	if t.ended(tk) <= 0 {
		return
	}
	n := readMemory(tk.tid, tk.proc.auxv, t.out[:min(tk.saved[2], uint64(t.ended(tk)))])
	n = vectorLen(t.out[:n])
	writeMemory(tk.tid, tk.saved[1], t.out[:n])
}
