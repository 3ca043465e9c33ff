//go:build linux && arm64

// sendmsg and recvmsg: the address lies in a struct msghdr. The kernel gets a copy
// of that with another address; what it writes into the copy is written into the
// guest's at the end. Data and control messages go to and from the guest's own
// memory. A message without an address, as on every stream, is not touched.
//
//	0 name   8 namelen   16 iov   24 iovlen   32 control   40 controllen   48 flags

package tracer

import "syscall"

const (
	headerSize    = 56 // struct msghdr
	atNamelen     = 8
	atControllen  = 40
	atFlags       = 48
	messageRoom   = headerSize + 8 + sockaddrMax // a header and an address
	messageInRoom = headerSize + 8
)

// room returns n bytes, zeroed, for what goes below the stack.
func (u *unixSockets) room(n int) []byte {
	if cap(u.block) < n {
		u.block = make([]byte, n)
	}
	u.block = u.block[:n]
	clear(u.block)
	return u.block
}

// sendmsg gives the kernel the host path of the address in a message.
func (t *Tracer) sendmsg(tk *task) {
	header := t.sockets.room(messageRoom)[:headerSize]
	ok := readMemory(tk.tid, t.regs.X[1], header) == headerSize
	if ok && (le.Uint64(header) == 0 || t.isOther(tk, t.regs.X[0])) {
		cont(tk.tid, 0)
		return
	}
	t.save(tk)
	if t.regs.X[1], ok = t.giveMessage(tk, ok); !ok {
		t.refuseCall(tk, syscall.EFAULT)
		return
	}
	t.makeGiven(tk, (*Tracer).gaveMessage)
}

// giveMessage lets the kernel read the message whose header stands in the block,
// if it could be read, and returns where.
func (t *Tracer) giveMessage(tk *task, readable bool) (uint64, bool) {
	if !readable {
		return unmapped, true
	}
	b := t.sockets.block
	name, size := le.Uint64(b), int32(le.Uint32(b[atNamelen:]))
	tk.unix.errno, tk.unix.family = 0, 0
	if name == 0 || size <= 0 {
		at, _, ok := t.say(tk, t.regs.SP-stackGap, b)
		return at, ok
	}
	addr, ok := t.hostAddress(tk, name, min(int(size), sockaddrMax), false)
	copy(b[messageInRoom:], addr)
	if ok {
		le.PutUint32(b[atNamelen:], uint32(len(addr)))
	}
	at, mem := t.room(tk, t.regs.SP-stackGap, len(b))
	le.PutUint64(b, unmapped)
	if ok {
		le.PutUint64(b, at+messageInRoom)
	}
	if mem != nil {
		copy(mem, b)
		return at, true
	}
	return at, writeMemory(tk.tid, at, b) == len(b)
}

// gaveMessage is the end of a sendmsg.
func (t *Tracer) gaveMessage(tk *task) {
	t.sockets.aliases.giveBack(tk)
	if t.regs.getCall(tk.tid) == nil {
		t.explain(tk)
	}
}

// recvmsg has the kernel write the sender's address elsewhere.
func (t *Tracer) recvmsg(tk *task) {
	u, x := &t.sockets, &t.regs.X
	b := u.room(messageRoom)
	header := b[:headerSize]
	if readMemory(tk.tid, x[1], header) != headerSize || !wantsName(header) || t.isOther(tk, t.regs.X[0]) {
		cont(tk.tid, 0)
		return
	}
	at := t.scratch(tk, messageRoom)
	tk.unix.name = le.Uint64(header)
	takeName(header, at+messageInRoom)
	t.save(tk)
	x[1] = at
	t.makeWith(tk, at, b, (*Tracer).receivedMessage)
}

// wantsName reports whether a message has room for an address. The kernel refuses
// a negative length.
func wantsName(header []byte) bool {
	return le.Uint64(header) != 0 && int32(le.Uint32(header[atNamelen:])) >= 0
}

// takeName lets a header name room for every address.
func takeName(header []byte, at uint64) {
	le.PutUint64(header, at)
	le.PutUint32(header[atNamelen:], sockaddrMax)
}

// receivedMessage is the end of a recvmsg.
func (t *Tracer) receivedMessage(tk *task) {
	if t.regs.getCall(tk.tid) != nil || int64(t.regs.X[0]) < 0 {
		return
	}
	b := t.sockets.room(messageRoom)
	if readMemory(tk.tid, t.regs.X[1], b) != len(b) {
		return
	}
	if e := t.tellMessage(tk, b[:headerSize], b[messageInRoom:], tk.saved[1], tk.unix.name); e != 0 {
		t.setResult(tk, -int64(e))
	}
}

// tellMessage writes what the kernel wrote into a copy of a header to the guest's
// own, and the address to name unless that is null.
func (t *Tracer) tellMessage(tk *task, header, addr []byte, to, name uint64) syscall.Errno {
	if name != 0 {
		if e := t.tell(tk, addr, le.Uint32(header[atNamelen:]), name, to+atNamelen); e != 0 {
			return e
		}
	}
	part := header[atControllen : atFlags+4]
	if writeMemory(tk.tid, to+atControllen, part) != len(part) {
		return syscall.EFAULT
	}
	return 0
}
