package policy

import (
	"testing"

	"golang.org/x/net/bpf"
)

// filler writes n instructions that are no ends and that nothing reaches.
func filler(w *writer, n int) {
	for range n {
		w.put(bpf.LoadConstant{})
	}
}

// Of two targets side by side the second is out of reach at 255 instructions; its
// stand-in then pushes out the first.
func TestBranchReach(t *testing.T) {
	for _, row := range []struct{ distance, standIns int }{{0, 0}, {253, 0}, {254, 0}, {255, 2}, {256, 2}, {1000, 2}} {
		for _, target := range []bpf.Instruction{bpf.RetConstant{Val: 1}, load(8)} {
			w := newWriter()
			w.put(bpf.RetConstant{})
			no, yes := w.put(load(4)), w.put(target)
			filler(w, row.distance)
			before := len(w.rev)
			l := w.branch(bpf.JumpEqual, 7, yes, no)
			if got := len(w.rev) - before - 1; got != row.standIns {
				t.Errorf("distance %d: %d stand-ins, want %d", row.distance, got, row.standIns)
			}
			w.leads(t, l, yes, no)
		}
	}
}

// leads checks where a branch goes, long jumps and copies of ends included.
func (w *writer) leads(t *testing.T, branch, yes, no label) {
	t.Helper()
	p := w.program()
	at := len(p) - 1 - int(branch)
	j := p[at].(bpf.JumpIf)
	if got := follow(p, at+1+int(j.SkipTrue)); got != w.rev[yes] {
		t.Errorf("branch at %d: leads to %v, want %v", at, got, w.rev[yes])
	}
	if got := follow(p, at+1+int(j.SkipFalse)); got != w.rev[no] {
		t.Errorf("branch at %d: else leads to %v, want %v", at, got, w.rev[no])
	}
}

// follow goes through one long jump: no stand-in leads to another one.
func follow(p []bpf.Instruction, i int) bpf.Instruction {
	if j, ok := p[i].(bpf.Jump); ok {
		i += 1 + int(j.Skip)
	}
	return p[i]
}

// One target near, one at the border: the stand-in for one must not lose the other.
func TestBranchReachOfOne(t *testing.T) {
	for distance := 250; distance < 260; distance++ {
		w := newWriter()
		far := w.put(bpf.RetConstant{Val: 2})
		mid := w.put(bpf.LoadAbsolute{Off: 0, Size: 4})
		filler(w, distance)
		near := w.put(bpf.LoadAbsolute{Off: 8, Size: 4})
		for _, targets := range [][2]label{{far, mid}, {mid, far}, {near, mid}, {mid, near}, {far, near}} {
			w.leads(t, w.branch(bpf.JumpGreaterThan, uint32(distance), targets[0], targets[1]), targets[0], targets[1])
		}
	}
}

func TestFallGoesOnAtItsTarget(t *testing.T) {
	w := newWriter()
	end := w.ret(Allow)
	if l := w.fall(load(8), end); w.skip(l) != 0 || w.program()[1] != w.rev[end] || len(w.rev) != 2 {
		t.Errorf("right in front: %v", w.program())
	}
	body := w.branch(bpf.JumpEqual, 1, end, w.ret(Trap))
	for n := range uint32(3) {
		filler(w, 1)
		l := w.fall(load(12+4*n), body)
		p := w.program()
		if at := len(p) - 1 - int(l); follow(p, at+1) != w.rev[body] {
			t.Errorf("not right in front: %v leads to %v", p[at], follow(p, at+1))
		}
	}
}

// A stand-in serves many branches, until it is out of reach itself.
func TestStandInsAreShared(t *testing.T) {
	w := newWriter()
	far, end := w.put(load(4)), w.ret(Trap)
	filler(w, 300)
	for i, row := range []struct{ filler, written int }{{0, 3}, {0, 1}, {100, 1}, {300, 3}, {0, 1}} {
		filler(w, row.filler)
		before := len(w.rev)
		w.leads(t, w.branch(bpf.JumpEqual, uint32(i), far, end), far, end)
		if got := len(w.rev) - before; got != row.written {
			t.Errorf("branch %d: %d instructions written, want %d", i, got, row.written)
		}
	}
}

// Equal code is written once, and a branch that decides nothing not at all.
func TestCodeIsShared(t *testing.T) {
	w := newWriter()
	a, b := w.ret(Allow), w.ret(Trap)
	first := w.fall(load(8), w.branch(bpf.JumpEqual, 1, a, b))
	n := len(w.rev)
	if again := w.fall(load(8), w.branch(bpf.JumpEqual, 1, a, b)); again != first || w.ret(Allow) != a || len(w.rev) != n {
		t.Errorf("written again at %d, first at %d; %d instructions, were %d", again, first, len(w.rev), n)
	}
	if l := w.branch(bpf.JumpEqual, 1, a, a); l != a || len(w.rev) != n {
		t.Errorf("a branch of one way is at %d, want %d", l, a)
	}
	if l := w.branch(bpf.JumpEqual, 2, a, b); l == first || len(w.rev) != n+1 {
		t.Errorf("another branch is at %d", l)
	}
}
