package a64

import "testing"

// FuzzDecode holds Decode to what its callers rely on for any word at all: no
// panic, and a flow whose registers make sense.
func FuzzDecode(f *testing.F) {
	for _, r := range assembledRows() {
		f.Add(uint32(r.word))
	}
	for _, r := range unknownRows {
		f.Add(uint32(r.word))
	}
	f.Fuzz(func(t *testing.T, bits uint32) {
		w := Word(bits)
		e := Decode(w)
		checkFlow(t, w, e)
		checkReaders(t, w, e)
	})
}

// checkFlow checks each flow against the sets that it allows.
func checkFlow(t *testing.T, w Word, e Effect) {
	t.Helper()
	ok := true
	switch e.Flow {
	case Unknown:
		ok = e == Effect{}
	case Jump, Trap:
		ok = e.Use == 0 && e.Def == 0
	case Cond, JumpReg, Return:
		ok = e.Def == 0
	case Call:
		ok = e.Use == 0 && e.Def == X(30)
	case CallReg:
		ok = e.Def == X(30)
	case Svc:
		ok = e.Use == svcUse && e.Def == X(0)
	case Next:
	default:
		ok = false
	}
	if !ok {
		t.Errorf("Decode(%08x) = %s", uint32(w), show(e))
	}
	if _, direct := w.Target(0); direct != (e.Flow == Jump || e.Flow == Call || e.Flow == Cond) || direct != w.IsBranch() {
		t.Errorf("Decode(%08x) = %s, but Target() = %t, IsBranch() = %t", uint32(w), show(e), direct, w.IsBranch())
	}
}

// checkReaders checks that what a reader takes a word for is what it does.
func checkReaders(t *testing.T, w Word, e Effect) {
	t.Helper()
	check := func(name string, ok bool, want Effect) {
		if ok && e != want {
			t.Errorf("Decode(%08x) = %s, but %s says %s", uint32(w), show(e), name, show(want))
		}
	}
	rd, _, ok := w.Movz()
	check("Movz", ok, next(0, X(rd)))
	rd, rm, ok := w.Move()
	check("Move", ok, next(X(rm), X(rd)))
	rd, _, ok = w.Adr(0)
	check("Adr", ok, next(0, X(rd)))
	rd, rn, _, ok := w.AddImmediate()
	check("AddImmediate", ok, next(X(rn), X(rd)))
	rn, _, ok = w.CompareImmediate()
	check("CompareImmediate", ok, next(X(rn), NZCV))
	rt, _, ok := w.Tbnz()
	check("Tbnz", ok, Effect{Use: X(rt), Flow: Cond})
	rd, rn, m, ok := w.AddRegister()
	check("AddRegister", ok, next(X(rn)|X(m.Reg), X(rd)))
	l, ok := w.IndexedLoad()
	check("IndexedLoad", ok, next(X(l.Base)|X(l.Index), X(l.Reg)))
	for n := range uint32(32) {
		if w.Loads(n) && !e.Def.Has(n) {
			t.Errorf("Decode(%08x) = %s, but Loads(%d)", uint32(w), show(e), n)
		}
	}
	if e.Flow != Unknown && w.IsLiteralLoad() {
		check("IsLiteralLoad", true, next(0, e.Def))
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	rows := assembledRows()
	var sink Effect
	if got := testing.AllocsPerRun(10, func() {
		for i := range rows {
			sink = Decode(rows[i].word)
		}
	}); got != 0 {
		t.Errorf("Decode of %d words allocates %v times, want 0 (last: %s)", len(rows), got, show(sink))
	}
}
