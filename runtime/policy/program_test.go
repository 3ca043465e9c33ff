package policy

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/sysno"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenDump(t *testing.T) {
	app, err := AndroidApp(33, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Filter{
		"guest.txt":     mustGuest(t, Options{GateStart: gateStart, GateEnd: gateEnd}),
		"guest-ids.txt": mustGuest(t, Options{Ids: true, Uname: true, Waits: true, GateStart: gateStart, GateEnd: gateEnd}),
		"android33.txt": app,
	} {
		p, err := f.Compile()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(p.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), p.String()); d != "" {
			t.Errorf("%s (-want +got), go test -update writes it anew:\n%s", name, d)
		}
	}
}

func TestProgramsAreTheSameEachTime(t *testing.T) {
	o := Options{Ids: true, GateStart: gateStart, GateEnd: gateEnd}
	first, err := mustGuest(t, o).Compile()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := mustGuest(t, o).Compile()
		if err != nil || cmp.Diff(first, again) != "" {
			t.Fatalf("compiled again: %v\n%s", err, cmp.Diff(first, again))
		}
	}
}

func TestProgramCheck(t *testing.T) {
	ret := Instruction{Op: insRet}
	fill := func(n int) Program {
		p := make(Program, n)
		for i := range p {
			p[i] = ret
		}
		return p
	}
	for _, row := range []struct {
		p    Program
		want string
	}{
		{Program{ret}, ""}, {nil, "0 instructions"}, {fill(4095), ""}, {fill(4096), ""}, {fill(4097), "4097 instructions"},
		{Program{{Op: insLoad, K: 60}, ret}, ""}, {Program{{Op: insLoad, K: 64}, ret}, "load of offset 0x40"}, {Program{{Op: insLoad, K: 62}, ret}, "load of offset 0x3e"},
		{Program{{Op: insLoad, K: 0xffff_fffc}, ret}, "load of offset"}, {Program{{Op: insLoad}}, "reaches 1"}, {Program{{Op: insAnd}}, "reaches 1"},
		{Program{{Op: insJump, K: 0}, ret}, ""}, {Program{{Op: insJump, K: 1}, ret}, "reaches 2"}, {Program{{Op: insJump, K: math.MaxUint32}, ret}, "reaches"},
		{Program{{Op: insEq, Jt: 1}, ret, ret}, ""}, {Program{{Op: insEq, Jt: 2}, ret, ret}, "reaches 3"}, {Program{{Op: insGt, Jf: 2}, ret, ret}, "reaches 3"},
		{Program{{Op: insGe, Jf: 2}, ret, ret}, "reaches 3"}, {Program{{Op: insSet, Jt: 2}, ret, ret}, "reaches 3"}, {append(Program{{Op: insSet, Jt: 255}}, fill(256)...), ""},
		{append(Program{{Op: insSet, Jt: 255}}, fill(255)...), "reaches 256"},
		// What a kernel takes, or x/net/bpf can write, but no filter of ours holds: LD IMM, LD H, LDX, ALU ADD, RET A, ST, TAX, JMP X, MOD.
		{Program{{Op: 0x00}, ret}, "code 0x0"}, {Program{{Op: 0x28}, ret}, "code 0x28"}, {Program{{Op: 0x81}, ret}, "code 0x81"}, {Program{{Op: 0x04}, ret}, "code 0x4"},
		{Program{{Op: 0x16}}, "code 0x16"}, {Program{{Op: 0x02}, ret}, "code 0x2"}, {Program{{Op: 0x07}, ret}, "code 0x7"}, {Program{{Op: 0x1d}, ret}, "code 0x1d"}, {Program{{Op: 0x94, K: 1}, ret}, "code 0x94"},
	} {
		err := row.p.check()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("check of %d instructions, first %+v = %v, want %q", len(row.p), row.p[:min(1, len(row.p))], err, row.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	one := func(r Rule) Filter { return New(0, func(int) Rule { return r }, Allow, Trap) }
	deep := Rule{[]Case{{nil, Rule{[]Case{{[]Test{Word(7, 1)}, Always(Allow)}}, Trap}}}, Trap}
	for name, row := range map[string]struct {
		f    Filter
		want string
	}{
		"no rules": {Filter{}, "no rule"}, "nothing, not even -1": {New(-2, func(int) Rule { return Always(Allow) }, Allow, Trap), "no rule"},
		"field 7": {one(only(Always(Trap), Word(7, 1))), "number -1: test of field 7"}, "field 255": {one(only(Always(Trap), Any(255, 1))), "test of field 255"},
		"field 7 in a case": {one(deep), "test of field 7"}, "long": {long(5000), "the kernel takes 1 to 4096"},
	} {
		if p, err := row.f.Compile(); err == nil || !strings.Contains(err.Error(), row.want) || p != nil {
			t.Errorf("%s: Compile = %d instructions, %v, want none and %q", name, len(p), err, row.want)
		}
	}
	for _, f := range []Field{0, 5, IP} {
		if _, err := one(only(Always(Trap), Word(f, 1))).Compile(); err != nil {
			t.Errorf("field %d: %v", f, err)
		}
	}
	if _, err := New(-1, func(int) Rule { return Always(Allow) }, Trap, Trap).Compile(); err != nil {
		t.Errorf("a rule for -1 alone: %v", err)
	}
}

// long is a filter of one rule with n cases, two instructions each.
func long(n int) Filter {
	r := Always(Allow)
	for i := range n {
		r.Cases = append(r.Cases, Case{[]Test{Word(0, uint32(i))}, Always(Errno(uint16(i)))})
	}
	return New(-1, func(int) Rule { return r }, Trap, Trap)
}

// The longest filter of its kind that a kernel takes still says what the model says.
func TestCompileAtTheLimit(t *testing.T) {
	cases := sort.Search(5000, func(n int) bool { _, err := long(n + 1).Compile(); return err != nil })
	m := newMachine(t, long(cases))
	if n := len(m.prog); n > maxProgram || n < maxProgram-8 {
		t.Errorf("%d cases make %d instructions, want nearly %d", cases, n, maxProgram)
	}
	for _, arg := range []int{0, 1, 250, cases / 2, cases - 1, cases} {
		m.agree(t, Data{Nr: -1, Arch: Arch, Args: [6]uint64{uint64(arg)}})
	}
}

func TestActions(t *testing.T) {
	for _, row := range []struct {
		a    Action
		raw  uint32
		text string
	}{
		{Allow, 0x7fff0000, "allow"}, {KillProcess, 0x80000000, "kill-process"}, {Trap, 0x30000, "trap"}, {Errno(0), 0x50000, "errno 0"}, {Errno(38), 0x50026, "errno 38"},
		{Errno(4095), 0x50fff, "errno 4095"}, {Errno(4096), 0x50fff, "errno 4095"}, {Trace(uint16(sysno.ClassExec)), 0x7ff00000 | uint32(sysno.ClassExec), "trace exec"},
		{Trace(uint16(Stop(sysno.ClassTranslate) | StopExit)), 0x7ff00100 | uint32(sysno.ClassTranslate), "trace translate exit"}, {Action(0x12345678), 0x12345678, "0x12345678"},
	} {
		if uint32(row.a) != row.raw || row.a.String() != row.text {
			t.Errorf("action %#x %q, want %#x %q", uint32(row.a), row.a, row.raw, row.text)
		}
	}
	if data, ok := Trace(0xffff).Traced(); !ok || data != 0xffff {
		t.Errorf("Trace(0xffff).Traced() = %#x, %t", data, ok)
	}
	for _, a := range []Action{Allow, Trap, KillProcess, Errno(1)} {
		if _, ok := a.Traced(); ok {
			t.Errorf("%v.Traced() = true", a)
		}
		if _, ok := a.Errno(); ok != (a == Errno(1)) {
			t.Errorf("%v.Errno() = %t", a, ok)
		}
	}
	if e, ok := Errno(38).Errno(); !ok || e != 38 {
		t.Errorf("Errno(38).Errno() = %d, %t", e, ok)
	}
	if s := Stop(sysno.ClassInspect) | StopExit; s.Class() != sysno.ClassInspect || !s.Exit() || Stop(sysno.ClassInspect).Exit() {
		t.Errorf("%#x: class %v, exit %t", uint16(s), s.Class(), s.Exit())
	}
}
