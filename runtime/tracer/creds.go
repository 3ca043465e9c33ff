//go:build linux && arm64

// Ids that a Unix socket carries. The kernel knows the tracer's alone: what the
// guest tells of itself becomes those, and what it hears of a process of the guest
// becomes that process's own, as they are now.

package tracer

import "svcrelay/runtime/sysno"

var credCalls = map[int]handler{
	sysno.Getsockopt: (*Tracer).peerCreds, // the filter sends SO_PEERCRED alone
}

func (t *Tracer) peerCreds(tk *task, _ int) {
	copy(tk.saved[:], t.regs.X[:6])
	tk.end = endPeerCreds
	toExit(tk.tid, 0)
}

// endPeerCreds changes what the kernel wrote, which may be less than all of it.
func endPeerCreds(t *Tracer, tk *task) {
	var size [4]byte
	var cred [sizeofUcred]byte
	if t.ended(tk) != 0 || readMemory(tk.tid, tk.saved[4], size[:]) != len(size) {
		return
	}
	n := min(int(le.Uint32(size[:])), sizeofUcred)
	if readMemory(tk.tid, tk.saved[3], cred[:n]) != n {
		return
	}
	t.guestCred(&cred, true)
	writeMemory(tk.tid, tk.saved[3], cred[:n])
}

// guestCred changes the ids of a struct ucred to those that its process shows.
// A socket's peer is known by its effective ids, the sender of a message by its
// real ones.
func (t *Tracer) guestCred(cred *[sizeofUcred]byte, effective bool) {
	who := &t.who.first
	if tk := t.books.byTid[int(le.Uint32(cred[:]))]; tk != nil {
		who = &tk.ids
	}
	uid, gid := who.uid.real, who.gid.real
	if effective {
		uid, gid = who.uid.effective, who.gid.effective
	}
	if le.Uint32(cred[4:]) == t.who.own.uid.fs {
		le.PutUint32(cred[4:], uid)
	}
	if le.Uint32(cred[8:]) == t.who.own.gid.fs {
		le.PutUint32(cred[8:], gid)
	}
}
