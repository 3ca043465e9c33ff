//go:build linux && arm64

// Credentials in messages, under ids that are only shown: the kernel takes none
// but a sender's own, as it knows them, so those go in, in the guest's memory and
// for the length of the call; and what comes out are the sender's as it shows
// them. A root may claim any: it shows its own all the same. Arrays of messages
// (sendmmsg, recvmmsg) are left alone: nobody sends credentials with them.

package tracer

import "svcrelay/runtime/sysno"

// withCreds puts the credentials around the handlers of messages.
func withCreds(table *[sysno.Max + 1]handler) {
	send, receive := table[sysno.Sendmsg], table[sysno.Recvmsg]
	table[sysno.Sendmsg] = func(t *Tracer, tk *task, nr int) {
		if t.who.mode != idsShown || !t.sendCreds(tk, send) {
			send(t, tk, nr)
		}
	}
	table[sysno.Recvmsg] = func(t *Tracer, tk *task, nr int) {
		if t.who.mode != idsShown || !t.receiveCreds(tk, receive) {
			receive(t, tk, nr)
		}
	}
}

// msgHead is what is read of struct msghdr: the address, the data, the control
// messages and their length.
type msgHead [48]byte

func (h *msgHead) hasName() bool      { return le.Uint64(h[:]) != 0 }
func (h *msgHead) control() uint64    { return le.Uint64(h[32:]) }
func (h *msgHead) controlLen() uint64 { return le.Uint64(h[40:]) }

// maxControl is more than any program sends with credentials; the kernel itself
// takes little more (net.core.optmem_max).
const maxControl = 4096

// readControl reads a message's control messages, nil when there are none.
func (t *Tracer) readControl(tk *task, addr uint64, head *msgHead) []byte {
	if readMemory(tk.tid, addr, head[:]) != len(head) || head.control() == 0 {
		return nil
	}
	control := t.in[:min(head.controlLen(), maxControl)]
	return control[:readMemory(tk.tid, head.control(), control)]
}

// A lentCred is a struct ucred of the guest's that holds the kernel's ids for now.
type lentCred struct {
	addr uint64
	own  [sizeofUcred]byte
}

// sendCreds handles a message with credentials; false means that it has none.
func (t *Tracer) sendCreds(tk *task, send handler) bool {
	var head msgHead
	var lent []lentCred
	control := t.readControl(tk, t.regs.X[1], &head)
	eachCred(control, func(at int, cred *[sizeofUcred]byte) {
		l := lentCred{head.control() + uint64(at), *cred}
		if t.hostCred(tk, cred) && writeMemory(tk.tid, l.addr, cred[:]) == len(cred) {
			lent = append(lent, l)
		}
	})
	if lent == nil {
		return false
	}
	giveBack := func(_ *Tracer, tk *task) {
		for _, l := range lent {
			writeMemory(tk.tid, l.addr, l.own[:])
		}
	}
	if !t.around(tk, send, sysno.Sendmsg, head.hasName(), giveBack) {
		giveBack(t, tk)
	}
	return true
}

// around has a call made, by its handler when it has an address, and end called at
// its end; false tells that the handler does not wait for that.
func (t *Tracer) around(tk *task, h handler, nr int, address bool, end func(*Tracer, *task)) bool {
	if !address {
		tk.end = end
		toExit(tk.tid, 0)
		return true
	}
	h(t, tk, nr)
	inner := tk.end
	if inner == nil {
		return false
	}
	tk.end = func(t *Tracer, tk *task) {
		inner(t, tk)
		end(t, tk)
	}
	return true
}

// hostCred makes ids that tk may claim to have the kernel's; false leaves the
// kernel to refuse the others.
func (t *Tracer) hostCred(tk *task, cred *[sizeofUcred]byte) bool {
	uid, gid := le.Uint32(cred[4:]), le.Uint32(cred[8:])
	root := tk.ids.uid.effective == 0
	if uid == noID || gid == noID || !root && !(tk.ids.uid.has(uid) && tk.ids.gid.has(gid)) {
		return false
	}
	le.PutUint32(cred[4:], t.who.own.uid.real)
	le.PutUint32(cred[8:], t.who.own.gid.real)
	return true
}

// receiveCreds handles a message with room for credentials.
func (t *Tracer) receiveCreds(tk *task, receive handler) bool {
	var head msgHead
	addr := t.regs.X[1]
	if readMemory(tk.tid, addr, head[:]) != len(head) || head.control() == 0 || head.controlLen() < controlHead+sizeofUcred {
		return false
	}
	t.around(tk, receive, sysno.Recvmsg, head.hasName(), func(t *Tracer, tk *task) {
		var head msgHead
		if t.ended(tk) < 0 {
			return
		}
		control := t.readControl(tk, addr, &head)
		eachCred(control, func(at int, cred *[sizeofUcred]byte) {
			t.guestCred(cred, false)
			writeMemory(tk.tid, head.control()+uint64(at), cred[:])
		})
	})
	return true
}
