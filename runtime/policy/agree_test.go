package policy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestModelAndProgramAgree: every number of interest with arguments of no
// interest, then each call's arguments around the borders of its tests.
func TestModelAndProgramAgree(t *testing.T) {
	for name, f := range filters(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, f)
			for nr := int32(-1); nr <= 1024; nr++ {
				m.agree(t, Data{Nr: nr, Arch: Arch})
				m.agree(t, Data{Nr: nr, Arch: Arch, IP: math.MaxUint64, Args: [6]uint64{1, 2, 3, 4, 5, 6}})
			}
			for nr := range f.rules {
				m.agreeAround(t, int32(nr-1))
			}
		})
	}
}

// agreeAround walks a call through the values that its tests tell apart: one
// field after the other, on top of arguments that pass or fail the other tests.
func (m machine) agreeAround(t *testing.T, nr int32) {
	tests := m.filter.rule(int64(nr)).tests()
	for _, base := range bases(nr, tests) {
		for _, test := range tests {
			for _, v := range test.interesting() {
				m.agree(t, base.with(test.Field, v))
			}
		}
	}
}

// bases gives calls for which more and more of the tests hold.
func bases(nr int32, tests []Test) []Data {
	d := Data{Nr: nr, Arch: Arch}
	out := []Data{d}
	for _, test := range tests {
		d = d.with(test.Field, test.witness())
		out = append(out, d, Data{Nr: nr, Arch: Arch}.with(test.Field, test.witness()))
	}
	return out
}

// witness returns a value for which the test holds.
func (t Test) witness() uint64 {
	switch t.op {
	case opEqual:
		return t.b
	default:
		return t.a
	}
}

func (d Data) with(f Field, v uint64) Data {
	if f == IP {
		d.IP = v
	} else {
		d.Args[f] = v
	}
	return d
}

// Every form that a test can take, alone and behind another one of the same field.
func TestForms(t *testing.T) {
	const bit, lo, hi, max = 1 << 40, 0x1234_5678, 0x9abc_def0 << 32, math.MaxUint64
	forms := []Test{
		Equal(2, 0), Equal(2, lo), Equal(2, hi), Equal(2, hi|lo), Equal(2, max), Word(2, 0), Word(2, lo), Word(2, 0xffff_ffff),
		Masked(2, 0, 0), Masked(2, 0, 1), Masked(2, bit, bit), Masked(2, bit, 0), Masked(2, 4, 4), Masked(2, 4, 0), Masked(2, 4|bit, 4), Masked(2, 12, 8),
		Masked(2, 0xff<<32|12, 3<<32|8), Masked(2, lo, lo+1), Masked(2, hi, hi|lo), Any(2, 0), Any(2, 4), Any(2, bit), Any(2, max), Any(2, hi), Any(2, lo),
		Within(2, 0, max), Within(2, 0, 0), Within(2, max, max), Within(2, lo, lo), Within(2, lo, lo+2), Within(2, 1, 0), Within(2, hi, lo), Within(2, lo, hi),
		Within(2, lo, 0xffff_ffff), Within(2, lo, 1<<32), Within(2, 1<<32, hi|0xffff_ffff), Within(2, 0xffff_ffff<<32, max), Within(2, 0xffff_ffff<<32|5, max), Within(2, bit, bit|lo),
	}
	for _, a := range forms {
		for _, b := range forms {
			m := newMachine(t, New(-1, func(int) Rule {
				return Rule{[]Case{{[]Test{a, b}, Always(Trap)}, {[]Test{a}, only(Always(Errno(1)), b)}, {[]Test{b}, Always(Errno(2))}}, Allow}
			}, Trap, Trap))
			for _, v := range append(a.interesting(), b.interesting()...) {
				m.agree(t, Data{Nr: -1, Arch: Arch}.with(2, v))
			}
		}
	}
}

func TestRandomNumbersAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, f := range filters(t) {
		m := newMachine(t, f)
		for range 20_000 {
			d := Data{Nr: int32(rnd.Uint32()), Arch: Arch, IP: rnd.Uint64()}
			if got := f.Decide(d); d.Nr != -1 && (d.Nr < 0 || int(d.Nr) >= len(f.rules)) && got != f.above {
				t.Fatalf("%s: Decide(%d) = %v, want %v", name, d.Nr, got, f.above)
			}
			m.agree(t, d)
		}
		for _, nr := range []int32{math.MinInt32, math.MinInt32 + 1, -2, -1, 0, math.MaxInt32} {
			m.agree(t, Data{Nr: nr, Arch: Arch})
		}
	}
}

func TestForeignArchitectures(t *testing.T) {
	const arm, x86 = 0x4000_0028, 0xc000_003e
	for name, f := range filters(t) {
		m := newMachine(t, f)
		for _, arch := range []uint32{0, arm, x86, Arch - 1, Arch + 1, Arch ^ 1<<31, math.MaxUint32} {
			for nr := int32(-1); nr <= 600; nr++ {
				d := Data{Nr: nr, Arch: arch, IP: gateStart + 4}
				m.agree(t, d)
				if got := f.Decide(d); got != KillProcess && got != Trap {
					t.Errorf("%s: Decide(%d of arch %#x) = %v", name, nr, arch, got)
				}
			}
		}
	}
}

func TestConstantAllowIsCached(t *testing.T) {
	for name, f := range filters(t) {
		m := newMachine(t, f)
		allowed := 0
		for nr := int32(-1); nr <= 1024; nr++ {
			want, constant := f.constant(nr)
			if got := m.prog.cached(nr); got != (constant && want == Allow) {
				t.Errorf("%s: number %d: cached %t, but constant %t, %v", name, nr, got, constant, want)
			}
			if !constant {
				continue
			}
			allowed++
			got, ran := m.prog.trace(Data{Nr: nr, Arch: Arch})
			if got != want {
				t.Errorf("%s: number %d: %v, want %v", name, nr, got, want)
			}
			for _, ins := range ran {
				if ins.Op == insLoad && ins.K != offNr && ins.K != offArch {
					t.Errorf("%s: number %d: always %v, yet %s is loaded", name, nr, want, wordName(ins.K))
				}
			}
		}
		if allowed < 700 {
			t.Errorf("%s: %d constant numbers", name, allowed)
		}
	}
}
