package policy

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/net/bpf"

	"svcrelay/runtime/sysno"
)

// The gate as the design has it, and one that crosses a 4 GiB border.
const gateStart, gateEnd = 0xf_fff0_0000, 0xf_fff1_0000

// bytes lays a Data out for x/net/bpf, whose loads are big-endian: what counts is
// the value of each aligned word, the lower half of a field first.
func (d Data) bytes() []byte {
	b := make([]byte, 0, dataSize)
	for _, v := range []uint32{uint32(d.Nr), d.Arch, low(d.IP), high(d.IP)} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	for _, a := range d.Args {
		b = binary.BigEndian.AppendUint32(b, low(a))
		b = binary.BigEndian.AppendUint32(b, high(a))
	}
	return b
}

// machine is a compiled filter in the VM of x/net/bpf.
type machine struct {
	filter Filter
	prog   Program
	vm     *bpf.VM
}

func newMachine(t testing.TB, f Filter) machine {
	t.Helper()
	p, err := f.Compile()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]bpf.RawInstruction, len(p))
	for i, ins := range p {
		raw[i] = bpf.RawInstruction(ins)
	}
	ins, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("x/net/bpf does not understand the program")
	}
	vm, err := bpf.NewVM(ins)
	if err != nil {
		t.Fatal(err)
	}
	return machine{f, p, vm}
}

func (m machine) run(t testing.TB, d Data) Action {
	t.Helper()
	got, err := m.vm.Run(d.bytes())
	if err != nil {
		t.Fatal(err)
	}
	return Action(got)
}

// agree compares the VM with the model, and with the trace of the same program.
func (m machine) agree(t testing.TB, d Data) {
	t.Helper()
	want := m.filter.Decide(d)
	if got := m.run(t, d); got != want {
		t.Fatalf("%s %+v: the program says %v, the model %v", sysno.Name(int(d.Nr)), d, got, want)
	}
	if got, _ := m.prog.trace(d); got != want {
		t.Fatalf("%s %+v: the trace ends in %v, the model says %v", sysno.Name(int(d.Nr)), d, got, want)
	}
}

// trace runs the program and returns its instructions in the order they ran.
func (p Program) trace(d Data) (Action, []Instruction) {
	var ran []Instruction
	var acc uint32
	words := d.bytes()
	for i := 0; ; i++ {
		ins := p[i]
		ran = append(ran, ins)
		yes := false
		switch ins.Op {
		case insRet:
			return Action(ins.K), ran
		case insLoad:
			acc = binary.BigEndian.Uint32(words[ins.K:])
			continue
		case insAnd:
			acc &= ins.K
			continue
		case insJump:
			i += int(ins.K)
			continue
		case insEq:
			yes = acc == ins.K
		case insGt:
			yes = acc > ins.K
		case insGe:
			yes = acc >= ins.K
		case insSet:
			yes = acc&ins.K != 0
		default:
			panic(fmt.Sprintf("code %#x", ins.Op))
		}
		if yes {
			i += int(ins.Jt)
		} else {
			i += int(ins.Jf)
		}
	}
}

// cached is the kernel's seccomp_is_const_allow, statement by statement: whether
// the filter is skipped for a number from the time it is installed.
func (p Program) cached(nr int32) bool {
	var acc uint32
	for pc := 0; pc < len(p); pc++ {
		ins := p[pc]
		yes := false
		switch ins.Op {
		case 0x20: // BPF_LD | BPF_W | BPF_ABS
			switch ins.K {
			case 0:
				acc = uint32(nr)
			case 4:
				acc = Arch
			default:
				return false
			}
			continue
		case 0x06: // BPF_RET | BPF_K
			return ins.K == 0x7fff0000
		case 0x05: // BPF_JMP | BPF_JA
			pc += int(ins.K)
			continue
		case 0x54: // BPF_ALU | BPF_AND | BPF_K
			acc &= ins.K
			continue
		case 0x15:
			yes = acc == ins.K
		case 0x35:
			yes = acc >= ins.K
		case 0x25:
			yes = acc > ins.K
		case 0x45:
			yes = acc&ins.K != 0
		default:
			return false
		}
		if yes {
			pc += int(ins.Jt)
		} else {
			pc += int(ins.Jf)
		}
	}
	return false
}

// constant returns what a filter says of a number, if that depends on nothing else.
func (f Filter) constant(nr int32) (Action, bool) {
	r := f.rule(int64(nr))
	return r.Else, len(r.Cases) == 0
}

// tests collects every test of a rule.
func (r Rule) tests() []Test {
	var out []Test
	for _, c := range r.Cases {
		out = append(append(out, c.When...), c.Then.tests()...)
	}
	return out
}

// interesting gives the values of a field around the borders of a test.
func (t Test) interesting() []uint64 {
	var out []uint64
	for _, v := range []uint64{t.a, t.b, ^t.a, t.b | ^t.a, t.a & -t.a} {
		out = append(out, v, v-1, v+1, v^1<<32, v^1<<63, v|0xffff_ffff<<32, v&0xffff_ffff, v<<32, v^0xffff_ffff)
	}
	return out
}

// filters are the ones that the tests below look at.
func filters(t testing.TB) map[string]Filter {
	t.Helper()
	out := map[string]Filter{}
	for name, o := range map[string]Options{
		"plain":   {},
		"gate":    {GateStart: gateStart, GateEnd: gateEnd},
		"all":     {Ids: true, Uname: true, Waits: true, GateStart: gateStart, GateEnd: gateEnd},
		"blocked": {GateStart: gateStart, GateEnd: gateEnd, Blocked: AndroidBlocked(31, false)},
		"border":  {Ids: true, GateStart: 0xf_ffff_0000, GateEnd: 0x10_0001_0000},
		"ends":    {GateStart: 0xf_ffff_0000, GateEnd: 0x10_0000_0000},
	} {
		f, err := Guest(o)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = f
	}
	for level := sysno.AndroidMin; level <= sysno.AndroidMax; level++ {
		for _, latest := range []bool{false, true} {
			f, err := AndroidApp(level, latest)
			if err != nil {
				t.Fatal(err)
			}
			out[fmt.Sprintf("android %d %t", level, latest)] = f
		}
	}
	return out
}
