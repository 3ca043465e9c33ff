// Asynchronous cancellation. glibc <= 2.40 brackets a cancellable svc with two
// calls that switch the thread to asynchronous cancellation and back: 50 svcs
// of 2.31's libc and 54 of 2.36's. A relay there can be unwound at any word.

package scanner

import "svcrelay/scanner/a64"

const (
	// asyncReach bounds the words between the svc and the call before it, and
	// asyncHead the words of the callee that show its shape.
	asyncReach = 32
	asyncHead  = 12
)

// asyncCancelled reports whether the last call before the word at offset i of s
// is the one that switches asynchronous cancellation on.
func (s *scan) asyncCancelled(sp *span, i pos) bool {
	for d := pos(1); d <= asyncReach && d <= i; d++ {
		w := sp.at(i - d)
		if w.IsBL() {
			target, _ := w.Target(s.t.vaddr(sp.first + i - d))
			return s.enablesAsync(target)
		}
		if w.IsB() || w.IsBranchRegister() && a64.Decode(w).Flow == a64.Return {
			return false
		}
	}
	return false
}

// enablesAsync recognises __pthread_enable_asynccancel without its name: it
// reads the thread pointer, sets bit 1 of a word and tests the old bit 1.
func (s *scan) enablesAsync(vaddr uint64) bool {
	var thread, set, tested bool
	for d := range uint64(asyncHead) {
		w, ok := s.t.wordAt(vaddr + d*a64.Size)
		if !ok {
			return false
		}
		_, bit, isTbnz := w.Tbnz()
		thread = thread || w&^31 == 0xd53b_d040   // mrs xt, tpidr_el0
		set = set || w&0xffff_fc00 == 0x321f_0000 // orr wd, wn, #2
		tested = tested || isTbnz && bit == 1
	}
	return thread && set && tested
}
