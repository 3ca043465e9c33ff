// A second opinion on every word: its effect as derived from the text that
// objdump prints, with no look at the encoding. Nearly all of A64 follows one
// sentence, "the first operand is written and the others are read"; the lists
// below are the exceptions to it.

package a64

import (
	"strconv"
	"strings"
)

var (
	// Nothing but flags, memory or the system is written.
	readsAll = names(`cmp cmn tst ccmp ccmn cmpp rmif setf8 setf16 msr sys dc ic at tlbi brb cfp dvp cpp
		wfet wfit prfm prfum rprfm stgm stzgm
		cbz cbnz tbz tbnz br blr braa brab braaz brabz blraa blrab blraaz blrabz ret`)
	// The first operand is read before it is written.
	readsFirst = names(`movk bfi bfxil bfm bfc ldg
		pacia pacib pacda pacdb paciza pacizb pacdza pacdzb
		autia autib autda autdb autiza autizb autdza autdzb xpaci xpacd`)
	readsFlags = names(`adc adcs sbc sbcs ngc ngcs csel csinc csinv csneg cset csetm cinc cinv cneg ccmp ccmn
		rmif setf8 setf16 cfinv xaflag axflag fccmp fccmpe fcsel`)
	writesFlags = names(`adds subs ands bics cmp cmn tst negs adcs sbcs ngcs ccmp ccmn subps cmpp
		rmif setf8 setf16 cfinv xaflag axflag fcmp fcmpe fccmp fccmpe fjcvtzs`)
	onX30 = names(`xpaclri paciaz paciasp pacibz pacibsp autiaz autiasp autibz autibsp`)
	onX17 = names(`pacia1716 pacib1716 autia1716 autib1716`)

	flows = map[string]Flow{
		"b": Jump, "bl": Call, "cbz": Cond, "cbnz": Cond, "tbz": Cond, "tbnz": Cond,
		"br": JumpReg, "braa": JumpReg, "brab": JumpReg, "braaz": JumpReg, "brabz": JumpReg,
		"blr": CallReg, "blraa": CallReg, "blrab": CallReg, "blraaz": CallReg, "blrabz": CallReg,
		"ret": Return, "retaa": Return, "retab": Return, "eret": Return, "eretaa": Return, "eretab": Return,
		"svc": Svc, "hvc": Trap, "smc": Trap, "brk": Trap, "hlt": Trap,
	}
)

// names reads a list of mnemonics.
func names(list string) map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(list) {
		m[name] = true
	}
	return m
}

// registers returns the general registers that text names.
func registers(text string) (all Regs) {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return !isAlphanumeric(r) }) {
		if name[0] != 'x' && name[0] != 'w' {
			continue
		}
		if n, err := strconv.ParseUint(name[1:], 10, 5); err == nil {
			all |= X(uint32(n))
		}
	}
	return all
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
}

// operandsOf splits at the commas outside of brackets.
func operandsOf(text string) (ops []string) {
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			depth--
		case r == ',' && depth == 0:
			ops, start = append(ops, strings.TrimSpace(text[start:i])), i+1
		}
	}
	if last := strings.TrimSpace(text[start:]); last != "" {
		ops = append(ops, last)
	}
	return ops
}

// model returns the effect of the word that objdump prints as text.
func model(text string) Effect {
	name, rest, _ := strings.Cut(text, " ")
	if strings.HasPrefix(name, "b.") || strings.HasPrefix(name, "bc.") {
		return Effect{Use: NZCV, Flow: Cond}
	}
	use, def := modelRegisters(name, rest)
	flagsRead, flagsWritten := modelFlags(name, rest)
	e := Effect{Use: use | flagsRead, Def: def | flagsWritten, Flow: Next}
	if flow, ok := flows[name]; ok {
		e.Flow = flow
	}
	switch e.Flow {
	case Call, CallReg:
		e.Def = X(30)
	case Svc:
		e = Effect{Use: registers("x0 x1 x2 x3 x4 x5 x8"), Def: X(0), Flow: Svc}
	}
	return e
}

func modelFlags(name, rest string) (use, def Regs) {
	isCopy := strings.HasSuffix(rest, "!") && strings.HasPrefix(name, "cpy") || strings.HasPrefix(name, "set") && strings.Contains(rest, "]!")
	stage := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "cpy"), "set"), "g")
	prologue := strings.HasPrefix(strings.TrimPrefix(stage, "f"), "p")
	return flagsIf(readsFlags[name] || isCopy && !prologue || name == "mrs" && strings.HasSuffix(rest, ", nzcv")),
		flagsIf(writesFlags[name] || isCopy && prologue || name == "mrs" && strings.Contains(rest, ", rndr") ||
			name == "msr" && strings.HasPrefix(rest, "nzcv"))
}

func modelRegisters(name, rest string) (use, def Regs) {
	ops := operandsOf(rest)
	for i, op := range ops {
		if strings.HasPrefix(op, "[") {
			return modelAccess(name, ops[:i], op, ops[i+1:])
		}
	}
	switch {
	case onX30[name]:
		return X(30), X(30)
	case onX17[name]:
		return X(16) | X(17), X(17)
	case name == "hint" && rest == "#0x28": // chkfeat
		return X(16), X(16)
	case name == "ret" && rest == "", name == "retaa", name == "retab":
		return X(30), 0
	case readsAll[name]:
		return registers(rest), 0
	case len(ops) == 0:
		return 0, 0
	}
	use, def = registers(strings.Join(ops[1:], " ")), registers(ops[0])
	if readsFirst[name] {
		use |= def
	}
	return use, def
}

// modelAccess is the effect of a word with a memory operand: its address is
// read, and its base is written when a "!" or another operand follows.
func modelAccess(name string, before []string, memory string, after []string) (use, def Regs) {
	first, all := Regs(0), registers(strings.Join(before, " "))
	if len(before) > 0 {
		first = registers(before[0])
	}
	use = registers(memory + " " + strings.Join(after, " "))
	base, _, _ := strings.Cut(memory, ",")
	switch {
	case strings.HasPrefix(name, "cpy"), strings.HasPrefix(name, "set"):
		return use, registersWrittenBack(append(after, memory))
	case strings.HasSuffix(memory, "!"), len(after) > 0:
		def = registers(base)
	}
	switch {
	case readsAll[name]: // prefetches
		return use | all, def
	case strings.HasPrefix(name, "casp"):
		return use | all, def | registers(before[0]+" "+before[1])
	case strings.HasPrefix(name, "cas"):
		return use | all, def | first
	case strings.HasPrefix(name, "stx"), strings.HasPrefix(name, "stlx"):
		return use | registers(strings.Join(before[1:], " ")), def | first
	case strings.HasPrefix(name, "st"):
		return use | all, def
	case isAtomic(name):
		return use | first, def | registers(before[1])
	case readsFirst[name]: // ldg
		return use | all, def | all
	}
	return use, def | all
}

func registersWrittenBack(ops []string) (all Regs) {
	for _, op := range ops {
		if strings.HasSuffix(op, "!") {
			all |= registers(op)
		}
	}
	return all
}

func isAtomic(name string) bool {
	for _, p := range strings.Fields("swp ldadd ldclr ldeor ldset ldsmax ldsmin ldumax ldumin") {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// refused reports whether a64 leaves the word of a listing alone on purpose.
func refused(l listing) bool {
	name, rest, _ := strings.Cut(l.text, " ")
	switch op0 := l.word >> 25 & 0xf; {
	case op0 < 4: // udf, SME, SVE
		return true
	case name == "msr" && strings.HasPrefix(rest, "svcr"):
		return true
	}
	return refusedNames[name]
}

var refusedNames = names(`smstart smstop ld64b st64b st64bv st64bv0 tstart tcommit tcancel ttest
	drps dcps1 dcps2 dcps3`)

// undefined reports whether objdump does not know the word.
func (l listing) undefined() bool { return strings.HasPrefix(l.text, ".inst") }
