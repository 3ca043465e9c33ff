// The compiled filter, and what a kernel would refuse about it.
//
// Of classic BPF the kernel takes some forty instructions in a seccomp filter.
// Six are all that is written here, the six that its search for constant ALLOWs
// understands; at any other it gives up and runs the filter at every call.

package policy

import (
	"fmt"
	"strconv"
	"strings"

	"svcrelay/runtime/sysno"
)

// Instruction is the kernel's struct sock_filter, in its layout.
type Instruction struct {
	Op     uint16
	Jt, Jf uint8
	K      uint32
}

// Program is a compiled filter: an array for struct sock_fprog.
type Program []Instruction

// The six instructions, by their codes.
const (
	insLoad = 0x20 // BPF_LD  | BPF_W | BPF_ABS
	insAnd  = 0x54 // BPF_ALU | BPF_AND | BPF_K
	insJump = 0x05 // BPF_JMP | BPF_JA
	insEq   = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	insGt   = 0x25
	insGe   = 0x35
	insSet  = 0x45
	insRet  = 0x06 // BPF_RET | BPF_K
)

// dataSize is that of struct seccomp_data.
const dataSize = 64

// check refuses what the kernel refuses, and instructions that are not ours.
func (p Program) check() error {
	if len(p) == 0 || len(p) > maxProgram {
		return fmt.Errorf("program: %d instructions, the kernel takes 1 to %d", len(p), maxProgram)
	}
	for i, ins := range p {
		if err := ins.check(len(p) - i - 1); err != nil {
			return fmt.Errorf("program: instruction %d: %w", i, err)
		}
	}
	return nil
}

// check looks at one instruction, which rest others follow. That none runs off
// the end follows: the last one can be nothing but a return.
func (ins Instruction) check(rest int) error {
	var far uint64 // instructions skipped
	switch ins.Op {
	case insRet:
		return nil
	case insLoad:
		if ins.K%4 != 0 || ins.K >= dataSize {
			return fmt.Errorf("load of offset %#x", ins.K)
		}
	case insJump:
		far = uint64(ins.K)
	case insEq, insGt, insGe, insSet:
		far = uint64(max(ins.Jt, ins.Jf))
	case insAnd:
	default:
		return fmt.Errorf("code %#x", ins.Op)
	}
	if far >= uint64(rest) {
		return fmt.Errorf("reaches %d instructions on, of %d", far+1, rest)
	}
	return nil
}

// String disassembles the program, one instruction a line.
func (p Program) String() string {
	var b strings.Builder
	for i, ins := range p {
		fmt.Fprintf(&b, "%4d  %s\n", i, ins.text(i, p.word(i)))
	}
	return b.String()
}

// word returns the offset of the word that the accumulator holds at i, as the
// code right before it shows, or -1: only the text needs it.
func (p Program) word(i int) int {
	for i--; i >= 0; i-- {
		if p[i].Op == insLoad {
			return int(p[i].K)
		}
	}
	return -1
}

var jumpWords = map[uint16]string{insEq: "==", insGt: ">", insGe: ">=", insSet: "&"}

func (ins Instruction) text(at, word int) string {
	switch ins.Op {
	case insLoad:
		return "load " + wordName(ins.K)
	case insAnd:
		return fmt.Sprintf("and %#x", ins.K)
	case insJump:
		return fmt.Sprintf("goto %d", at+1+int(ins.K))
	case insRet:
		return "return " + Action(ins.K).String()
	}
	k := fmt.Sprintf("%#x", ins.K)
	if word == offNr {
		k = numberName(int32(ins.K))
	}
	return fmt.Sprintf("if %s %s goto %d else %d", jumpWords[ins.Op], k, at+1+int(ins.Jt), at+1+int(ins.Jf))
}

// numberName names a number if it has a row.
func numberName(nr int32) string {
	if c, ok := sysno.ByNumber(int(nr)); ok {
		return fmt.Sprintf("%d %s", nr, c.Name)
	}
	return strconv.Itoa(int(nr))
}

// wordName names a word of struct seccomp_data.
func wordName(offset uint32) string {
	switch {
	case offset == offNr:
		return "nr"
	case offset == offArch:
		return "arch"
	}
	name := "ip"
	if offset >= offArgs {
		name = fmt.Sprintf("arg%d", (offset-offArgs)/8)
	}
	if offset%8 == 0 {
		return name + ".low"
	}
	return name + ".high"
}
