//go:build linux && arm64

// Requests of ioctl that Android's SELinux policy refuses on terminals and files,
// among them the ones that C libraries from glibc 2.42 on use for every terminal.
// The kernel is asked first. What it refuses is asked in other words, by the guest
// itself: a terminal cannot be opened a second time by who does not own it.

package tracer

import (
	"strconv"
	"syscall"
)

// Requests (asm-generic/ioctls.h, linux/fs.h).
const (
	tcgets   = 0x5401
	tcsets   = 0x5402
	tcsetsw  = 0x5403
	tcsetsf  = 0x5404
	tcflsh   = 0x540b
	tcgets2  = 0x802c542a
	tcsets2  = 0x402c542b
	tcsetsw2 = 0x402c542c
	tcsetsf2 = 0x402c542d
	ficlone  = 0x40049409
)

// ioctlWords says how a task makes the request that it repeats.
type ioctlWords uint8

const (
	ownWords ioctlWords = iota
	flushFirst
	otherWords
)

func (t *Tracer) ioctl(tk *task, _ int) {
	copy(tk.saved[:], t.regs.X[:6])
	request, words := uint32(tk.saved[1]), tk.words
	tk.words = ownWords
	switch {
	case words == flushFirst && (request == tcsetsf || request == tcsetsf2):
		t.otherRequest(tk, tcflsh, syscall.TCIFLUSH, endFlush)
	case words == ownWords || request == ficlone:
		tk.end = endIoctl
		toExit(tk.tid, 0)
	case request == tcgets2:
		t.otherRequest(tk, tcgets, tk.saved[2], endGetTermios)
	case request == tcsetsf:
		t.otherRequest(tk, tcsetsw, tk.saved[2], nil)
	case request == tcsets2:
		t.setTermios(tk, tcsets)
	default:
		t.setTermios(tk, tcsetsw)
	}
}

// endIoctl handles the end of a request as the guest made it.
func endIoctl(t *Tracer, tk *task) {
	request, result := uint32(tk.saved[1]), t.ended(tk)
	switch {
	case result != -int64(syscall.EACCES) && result != -int64(syscall.ENOTTY):
	case request == ficlone && result == -int64(syscall.EACCES): // programs copy the bytes then
		t.setEnded(tk, -int64(syscall.EOPNOTSUPP))
	case request == ficlone:
	case !isTerminal(tk.tid, int32(tk.saved[0])):
		t.setEnded(tk, -int64(syscall.ENOTTY))
	case request == tcsetsf || request == tcsetsf2: // throw away what was typed, then wait and set
		t.repeat(tk, flushFirst)
	default:
		t.repeat(tk, otherWords)
	}
}

func endFlush(t *Tracer, tk *task) { t.repeat(tk, otherWords) }

// repeat has tk make the call that ended once more. A signal may come between, and
// its handler make requests of its own: one of them is in other words then, and
// this one is asked in its own first.
func (t *Tracer) repeat(tk *task, words ioctlWords) {
	if t.regs.get(tk.tid) != nil {
		return
	}
	copy(t.regs.X[:6], tk.saved[:])
	t.regs.PC -= 4
	tk.words, tk.restore = words, false
	t.regs.set(tk.tid)
}

// otherRequest makes the entered request another one.
func (t *Tracer) otherRequest(tk *task, request, arg uint64, end func(*Tracer, *task)) {
	t.regs.X[1], t.regs.X[2] = request, arg
	tk.restore, tk.end = true, end
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}

// setTermios makes a request that takes a termios2 one that takes a termios.
func (t *Tracer) setTermios(tk *task, request uint64) {
	var tio [sizeofTermios2]byte
	if readMemory(tk.tid, tk.saved[2], tio[:]) != len(tio) {
		t.fail(tk, syscall.EFAULT)
		return
	}
	dropSpeeds(&tio)
	at, _, ok := t.say(tk, t.regs.SP-stackGap, tio[:sizeofTermios])
	if !ok {
		t.fail(tk, syscall.EFAULT)
		return
	}
	t.otherRequest(tk, request, at, nil)
}

// endGetTermios handles the end of a TCGETS that stands for a TCGETS2.
func endGetTermios(t *Tracer, tk *task) {
	var tio [sizeofTermios2]byte
	if t.ended(tk) != 0 {
		return
	}
	if readMemory(tk.tid, tk.saved[2], tio[:sizeofTermios]) != sizeofTermios {
		t.setEnded(tk, -int64(syscall.EFAULT))
		return
	}
	addSpeeds(&tio)
	if writeMemory(tk.tid, tk.saved[2], tio[:]) != len(tio) {
		t.setEnded(tk, -int64(syscall.EFAULT))
	}
}

// isTerminal tells whether a descriptor is one of the kinds of terminals.
func isTerminal(tid int, fd int32) bool {
	var st syscall.Stat_t
	if syscall.Stat("/proc/"+strconv.Itoa(tid)+"/fd/"+strconv.Itoa(int(fd)), &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		return false
	}
	switch major := st.Rdev >> 8 & 0xfff; major {
	case 4, 5, 204, 229: // consoles and serial lines
		return true
	default:
		return major >= 136 && major <= 143 // pseudo terminals
	}
}
