//go:build linux && arm64

// What an exec does to ids that are only shown: a set-user-ID file lends its
// owner's, and the auxiliary vector says so to the C library, which then trusts
// neither LD_PRELOAD nor its like.

package tracer

import (
	"os"
	"syscall"
)

// lent returns what a program's file lends to tk. A file of the tracer's user is
// root's: who unpacked the guest's files could make them nobody else's.
func (t *Tracer) lent(tk *task, f *os.File) lentIDs {
	if t.who.mode != idsShown || tk.noNewPrivs {
		return lentIDs{}
	}
	fi, err := f.Stat()
	if err != nil {
		return lentIDs{}
	}
	st := fi.Sys().(*syscall.Stat_t)
	return t.who.lentBy(st.Mode, st.Uid, st.Gid)
}

// execIDs handles the exec stop of a program whose auxiliary vector is at auxv.
func (t *Tracer) execIDs(tk *task, ex *execution, auxv uint64) {
	tk.proc.auxv, tk.proc.undumpable = auxv, false
	if t.who.mode != idsShown {
		return
	}
	secure := tk.ids.execute(ex.lends)
	var block [512]byte
	vector := block[:vectorLen(block[:readMemory(tk.tid, auxv, block[:])])]
	patchVector(vector, &tk.ids, secure)
	writeMemory(tk.tid, auxv, vector)
}
