//go:build linux && arm64

// sendmmsg and recvmmsg: arrays of messages. The kernel writes into both. What
// recvmmsg gets is a copy, and at its end the messages that it counted were written
// to; a copy for sendmmsg would be the guest's to change, so it is made as one
// sendmsg after the other.
//
//	struct mmsghdr: a header, at 56 the length of the message that the kernel writes

package tracer

import (
	"syscall"

	"svcrelay/runtime/sysno"
)

const (
	entrySize   = 64   // struct mmsghdr
	atLen       = 56   // what the kernel sent or received
	maxEntries  = 1024 // UIO_MAXIOV: the kernel takes no more of a longer array
	addressStep = sockaddrMax
)

// entries reads the array of messages of a call into the block, with step bytes
// more for each, and tells how many there are: fewer than the guest says when
// memory ends before.
func (t *Tracer) entries(tk *task) (b []byte, n int) {
	n = int(min(uint32(t.regs.X[2]), maxEntries))
	b = t.sockets.room(n * (entrySize + addressStep))
	n = readMemory(tk.tid, t.regs.X[1], b[:n*entrySize]) / entrySize
	return b[:n*(entrySize+addressStep)], n
}

// addressAt is where in the block of n messages the address of one is.
func addressAt(i, n int) int { return n*entrySize + i*addressStep }

// sendmmsg sends the first message in the place of all.
func (t *Tracer) sendmmsg(tk *task) {
	if t.regs.X[2] == 0 || t.isOther(tk, t.regs.X[0]) || !t.anyName(tk) {
		cont(tk.tid, 0)
		return
	}
	t.save(tk)
	tk.unix.sent = 0
	at, ok := t.giveEntry(tk)
	if !ok {
		t.refuseCall(tk, syscall.EFAULT)
		return
	}
	t.regs.X[1], t.regs.X[2] = at, t.regs.X[3]
	if setNumber(tk.tid, sysno.Sendmsg) == nil {
		t.makeGiven(tk, (*Tracer).sentFirst)
	}
}

// anyName reports whether a message of an array has an address.
func (t *Tracer) anyName(tk *task) bool {
	b, n := t.entries(tk)
	for i := range n {
		if le.Uint64(b[i*entrySize:]) != 0 {
			return true
		}
	}
	return false
}

// giveEntry lets the kernel read the next message of the array.
func (t *Tracer) giveEntry(tk *task) (uint64, bool) {
	header := t.sockets.room(messageRoom)[:headerSize]
	ok := readMemory(tk.tid, nextEntry(tk), header) == headerSize
	return t.giveMessage(tk, ok)
}

func nextEntry(tk *task) uint64 { return tk.saved[1] + uint64(tk.unix.sent)*entrySize }

// sentFirst is the end of the sendmsg that sendmmsg was made.
func (t *Tracer) sentFirst(tk *task) {
	if t.regs.getCall(tk.tid) == nil {
		t.sentEntry(tk, int64(t.regs.X[0]))
	} else {
		t.sockets.aliases.giveBack(tk)
	}
}

// sentEntry takes the result of one message. The result of the call is how many
// were sent; only when there is none does an error show.
func (t *Tracer) sentEntry(tk *task, result int64) {
	u := &tk.unix
	t.sockets.aliases.giveBack(tk)
	t.regs.X[0] = uint64(result)
	if result < 0 && u.sent == 0 {
		t.explain(tk)
		return
	}
	if result >= 0 {
		result = tellSent(tk, nextEntry(tk), result)
	}
	if result >= 0 {
		u.sent++
		if u.sent < int(min(uint32(tk.saved[2]), maxEntries)) {
			tk.errand = &errand{nr: sysno.Sendmsg, args: [6]uint64{tk.saved[0], 0, tk.saved[3]}, start: startEntry, end: (*Tracer).sentEntry}
		}
	}
	t.setResult(tk, someOr(int64(u.sent), syscall.Errno(-min(result, 0))))
}

// tellSent writes how much of a message was sent into the guest's entry, and
// returns that or an error.
func tellSent(tk *task, entry uint64, n int64) int64 {
	var word [4]byte
	le.PutUint32(word[:], uint32(n))
	if writeMemory(tk.tid, entry+atLen, word[:]) != len(word) {
		return -int64(syscall.EFAULT)
	}
	return n
}

// startEntry puts the next message into an errand.
func startEntry(t *Tracer, tk *task, e *errand) bool {
	at, ok := t.giveEntry(tk)
	e.args[1] = at
	return ok
}

// tellLen writes the length of an entry into the guest's own.
func tellLen(tk *task, entry []byte, to uint64) bool {
	return writeMemory(tk.tid, to+atLen, entry[atLen:][:4]) == 4
}

// someOr is what a call on an array returns: how many there were before the error.
func someOr(n int64, e syscall.Errno) int64 {
	if n > 0 {
		return n
	}
	return -int64(e)
}

// recvmmsg has the kernel write the senders' addresses elsewhere.
func (t *Tracer) recvmmsg(tk *task) {
	if t.isOther(tk, t.regs.X[0]) {
		cont(tk.tid, 0)
		return
	}
	b, n := t.entries(tk)
	if !wantsNames(b, n) {
		cont(tk.tid, 0)
		return
	}
	at := t.scratch(tk, len(b))
	for i := range n {
		if header := b[i*entrySize:][:headerSize]; wantsName(header) {
			takeName(header, at+uint64(addressAt(i, n)))
		}
	}
	t.save(tk)
	t.regs.X[1], t.regs.X[2] = at, uint64(n)
	t.makeWith(tk, at, b, (*Tracer).receivedMessages)
}

func wantsNames(b []byte, n int) bool {
	for i := range n {
		if wantsName(b[i*entrySize:]) {
			return true
		}
	}
	return false
}

// receivedMessages is the end of a recvmmsg.
func (t *Tracer) receivedMessages(tk *task) {
	if t.regs.getCall(tk.tid) != nil || int64(t.regs.X[0]) <= 0 {
		return
	}
	n := int(min(uint32(t.regs.X[2]), maxEntries))
	b := t.sockets.room(n * (entrySize + addressStep))
	if readMemory(tk.tid, t.regs.X[1], b) != len(b) {
		return
	}
	for i := range min(n, int(t.regs.X[0])) {
		entry, to := b[i*entrySize:][:entrySize], tk.saved[1]+uint64(i*entrySize)
		e := t.tellEntry(tk, entry, b[addressAt(i, n):][:sockaddrMax], to)
		if e != 0 {
			t.setResult(tk, someOr(int64(i), e))
			return
		}
	}
}

// tellEntry is tellMessage of one message of an array.
func (t *Tracer) tellEntry(tk *task, entry, addr []byte, to uint64) syscall.Errno {
	var name [8]byte
	if le.Uint64(entry) != 0 && readMemory(tk.tid, to, name[:]) != len(name) {
		return syscall.EFAULT
	}
	if e := t.tellMessage(tk, entry[:headerSize], addr, to, le.Uint64(name[:])); e != 0 {
		return e
	}
	if !tellLen(tk, entry, to) {
		return syscall.EFAULT
	}
	return 0
}
