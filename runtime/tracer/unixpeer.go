//go:build linux && arm64

// Unix sockets: what comes out. The kernel writes the address into a buffer below
// the guest's stack, whole, and at the end of the call the guest gets as much of
// its own name of it as it has room for. No call tells beforehand whether a socket
// is a Unix one; that another one is not is remembered by its inode, so that a
// program that talks over a network stops once and not twice.

package tracer

import (
	"bytes"
	"strconv"
	"syscall"

	"svcrelay/runtime/sysno"
)

// addressRoom is what stands below the stack: a length, and behind 8 bytes the
// address.
const addressRoom = 8 + sockaddrMax

// takeAddress is for calls that fill an address and its length.
func (t *Tracer) takeAddress(tk *task, arg int) {
	u, x := &t.sockets, &t.regs.X
	size, e := readLength(tk, x[arg+1])
	if x[arg] == 0 || e != 0 || size < 0 || t.isOther(tk, x[0]) {
		cont(tk.tid, 0) // the kernel says what is wrong
		return
	}
	at := t.scratch(tk, addressRoom)
	t.save(tk)
	x[arg], x[arg+1] = at+8, at
	b := u.room(addressRoom)
	le.PutUint32(b, sockaddrMax)
	t.makeWith(tk, at, b, (*Tracer).tookAddress)
}

// tookAddress is the end of such a call.
func (t *Tracer) tookAddress(tk *task) {
	if t.regs.getCall(tk.tid) != nil || int64(t.regs.X[0]) < 0 {
		return
	}
	nr, arg := int32(t.regs.X[8]), 1
	if nr == sysno.Recvfrom {
		arg = 4
	}
	b := t.sockets.room(addressRoom)
	if readMemory(tk.tid, t.regs.X[arg+1], b) != len(b) {
		return
	}
	e := t.tell(tk, b[8:], le.Uint32(b), tk.saved[arg], tk.saved[arg+1])
	if e == 0 {
		return
	}
	if nr == sysno.Accept || nr == sysno.Accept4 { // as if it had never been there
		tk.errand = &errand{nr: sysno.Close, args: [6]uint64{t.regs.X[0]}}
	}
	t.setResult(tk, -int64(e))
}

// tell writes the guest's name for an address, n bytes long by the kernel's count,
// as the kernel would: cut to the room there is, with the whole length.
func (t *Tracer) tell(tk *task, addr []byte, n uint32, to, length uint64) syscall.Errno {
	addr = addr[:min(n, sockaddrMax)]
	if len(addr) >= sunPath && family(addr) != afUnix {
		t.noteOther(tk)
	}
	addr = t.guestAddress(tk, addr)
	room, e := readLength(tk, length)
	switch {
	case e != 0:
		return e
	case room < 0:
		return syscall.EINVAL
	}
	part := addr[:min(int(room), len(addr))]
	if writeMemory(tk.tid, to, part) != len(part) {
		return syscall.EFAULT
	}
	var word [4]byte
	le.PutUint32(word[:], uint32(len(addr)))
	if writeMemory(tk.tid, length, word[:]) != len(word) {
		return syscall.EFAULT
	}
	return 0
}

// readLength reads an int of the guest.
func readLength(tk *task, addr uint64) (int32, syscall.Errno) {
	var word [4]byte
	if readMemory(tk.tid, addr, word[:]) != len(word) {
		return 0, syscall.EFAULT
	}
	return int32(le.Uint32(word[:])), 0
}

// isOther reports whether a socket is known to be of another family.
func (t *Tracer) isOther(tk *task, fd uint64) bool {
	ino := t.socketInode(tk, int32(fd))
	tk.unix.socket = ino
	return ino != 0 && t.sockets.others[ino%uint64(len(t.sockets.others))] == ino
}

// noteOther remembers that the socket of the call at hand is of another family.
func (t *Tracer) noteOther(tk *task) {
	t.sockets.others[tk.unix.socket%uint64(len(t.sockets.others))] = tk.unix.socket
}

// socketInode finds the inode of a socket; 0 when fd is none.
func (t *Tracer) socketInode(tk *task, fd int32) uint64 {
	u := &t.sockets
	u.link = append(u.link[:0], "/proc/"...)
	u.link = strconv.AppendInt(u.link, int64(tk.tid), 10)
	u.link = append(u.link, "/fd/"...)
	u.link = strconv.AppendInt(u.link, int64(fd), 10)
	u.link = append(u.link, 0)
	n, e := (*hostFS)(nil).Readlink(u.link, u.text[:])
	if e != 0 {
		return 0
	}
	digits, ok := bytes.CutPrefix(u.text[:n], []byte("socket:["))
	if !ok {
		return 0
	}
	ino, _ := decimal(bytes.TrimSuffix(digits, []byte("]")))
	return ino
}
