// Whose ids a guest has. There are three ways: the kernel's own, which a guest
// that was started as root may really change; fixed ones, where a policy traps the
// calls that would change them; and shown ones, which exist in the books alone.
// Only the last make calls slower: what every stat and getuid returns is changed.

package tracer

import "syscall"

type idMode uint8

const (
	idsKernel idMode = iota
	idsFixed
	idsShown
)

// An identity is what the tracer knows of its own user.
type identity struct {
	own ids // those that the tracer and every process of the guest has
}

// modeOf tells how a guest gets its ids, and which are its first.
func modeOf(own ids, want *IDs, filtered bool) (idMode, ids) {
	same := want == nil || own.uid == sameIDs(want.UID) && own.gid == sameIDs(want.GID)
	switch {
	case same && !filtered:
		return idsKernel, own
	case same && (want == nil || want.UID != 0):
		return idsFixed, own
	}
	return idsShown, ids{sameIDs(want.UID), sameIDs(want.GID), replaceGroup(own.groups, own.gid.fs, want.GID)}
}

// showOwner changes the two ids in the part of a stat that holds them.
func (w *identity) showOwner(looker *ids, owner []byte) {
	if le.Uint32(owner) == w.own.uid.fs {
		le.PutUint32(owner, looker.uid.fs)
	}
	if le.Uint32(owner[4:]) == w.own.gid.fs {
		le.PutUint32(owner[4:], looker.gid.fs)
	}
}

// hostOwner changes the two ids of a chown, words in registers, to the kernel's.
func (w *identity) hostOwner(who *ids, owner []uint64) {
	if uint32(owner[0]) == who.uid.fs {
		owner[0] = uint64(w.own.uid.fs)
	}
	if uint32(owner[1]) == who.gid.fs {
		owner[1] = uint64(w.own.gid.fs)
	}
}

func (w *identity) lentBy(mode, uid, gid uint32) lentIDs {
	if uid == w.own.uid.fs {
		uid = 0
	}
	if gid == w.own.gid.fs {
		gid = 0
	}
	const setGID = syscall.S_ISGID | syscall.S_IXGRP // without the second it once meant a lock
	return lentIDs{uid: uid, gid: gid, setUID: mode&syscall.S_ISUID != 0, setGID: mode&setGID == setGID}
}
