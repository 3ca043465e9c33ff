// Jump tables, the shapes that GCC and clang give to a switch:
//
//	cmp     wN, #last               cmp     wN, #last
//	b.hi    default                 b.hi    default
//	...                             ...
//	ldrb    wI, [xT, wN, uxtw]      ldrsw   xI, [xT, xN, lsl #2]
//	adr     xB, base                adr     xB, base
//	add     xA, xB, wI, sxtb #2     add     xA, xB, xI
//	br      xA                      br      xA
//
// The table's address may come from far away, so it is asked for like a number.

package scanner

import (
	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
)

// A jumpTable is one table and what its entries mean.
type jumpTable struct {
	at, base uint64
	size     uint32 // of an entry in bytes
	signed   bool
	shift    uint32
	cases    uint64 // as many as the compare before it lets through
}

// maxCases bounds a table whose compare is not found; glibc's largest has 123.
const maxCases = 4096

// A jumpKind says what a br does.
type jumpKind uint8

const (
	jumpUnknown jumpKind = iota
	jumpPointer          // a tail call: the target is a pointer from memory
	jumpCases            // a switch
)

// resolveJump tells what the br at vaddr does, and yields every target of a
// switch. Pointers to code come from relocations and adrs, which markHidden and
// collect have seen.
func (v *prover) resolveJump(f elfimg.Frame, vaddr uint64, br a64.Word, yield func(vaddr uint64)) jumpKind {
	reg := br.Operand()
	if reg == 30 { // a return that BTI checks like a jump
		return jumpPointer
	}
	for n := uint64(1); n <= tableReach && vaddr-n*a64.Size >= f.Start; n++ {
		p := v.t.pos(vaddr - n*a64.Size)
		w, _ := v.t.word(p)
		if !a64.Decode(w).Def.Has(reg) {
			continue
		}
		rd, rn, m, isAdd := w.AddRegister()
		_, rm, isMove := w.Move()
		switch {
		case isAdd && rd == reg:
			if t, ok := v.findTable(f, p, rn, m); ok && v.eachCase(f, t, yield) {
				return jumpCases
			}
			return jumpUnknown
		case isMove && (reg == 16 || reg == 17), w.Loads(reg): // GCC moves a pointer to x16 first
			return jumpPointer
		case !isMove:
			return jumpUnknown
		}
		reg = rm
	}
	return jumpUnknown
}

// eachCase yields the targets of a table. One without a compare ends at its
// first entry that leaves the function: that yields too much at times, never too
// little.
func (v *prover) eachCase(f elfimg.Frame, t jumpTable, yield func(uint64)) bool {
	for n := range t.cases {
		b, ok := v.img.ReadAt(t.at+n*uint64(t.size), int(t.size))
		if !ok {
			return false
		}
		target := t.base + uint64(t.entry(b))<<t.shift
		if target < f.Start || target >= f.End {
			return t.cases == maxCases && n > 0
		}
		yield(target)
	}
	return t.cases < maxCases
}

// entry reads one entry of the table.
func (t *jumpTable) entry(b []byte) int64 {
	var u uint64
	for i, c := range b {
		u |= uint64(c) << (8 * i)
	}
	if unused := 64 - 8*t.size; t.signed {
		return int64(u<<unused) >> unused
	}
	return int64(u)
}

// tableReach is how many words before a br its table is loaded, and before that
// its index is compared.
const tableReach = 16

// findTable finds the table of the add at p, of rn and m. Where nothing is
// extended, either operand may be the entry.
func (v *prover) findTable(f elfimg.Frame, p pos, rn uint32, m a64.Addend) (t jumpTable, ok bool) {
	if t, ok = v.readTable(f, p, rn, m); !ok && m.Size == 8 && m.Shift == 0 {
		t, ok = v.readTable(f, p, m.Reg, a64.Addend{Reg: rn, Size: 8})
	}
	return t, ok
}

// readTable finds the load of the addend m that the add at p adds to base.
func (v *prover) readTable(f elfimg.Frame, p pos, base uint32, m a64.Addend) (t jumpTable, ok bool) {
	for at := p; p-at < tableReach && v.t.vaddr(at) > f.Start; {
		at--
		w, _ := v.t.word(at)
		l, isLoad := w.IndexedLoad()
		if !isLoad || l.Reg != m.Reg {
			if a64.Decode(w).Def.Has(m.Reg) {
				return t, false
			}
			continue
		}
		if m.Size != 8 && m.Size != l.Size {
			return t, false
		}
		from, table := v.directValueAt(p, base), v.directValueAt(at, l.Base)
		t = jumpTable{table.n, from.n, l.Size, l.Signed || m.Signed, m.Shift, v.caseCount(f, at, l.Index)}
		return t, from.kind == constant && table.kind == constant
	}
	return t, false
}

// caseCount walks back from the load at p to the compare of its index, which
// must be the only way in.
func (v *prover) caseCount(f elfimg.Frame, p pos, index uint32) uint64 {
	for at := p; p-at < tableReach && v.t.vaddr(at) > f.Start+a64.Size; {
		s := v.t.spanOf(at)
		if s == nil || s.targets.has(at-s.first) {
			break
		}
		at--
		w, _ := v.t.word(at)
		if w.IsBCond(a64.HI) {
			cmp, _ := v.t.word(at - 1)
			if rn, last, ok := cmp.CompareImmediate(); ok && rn == index && last < maxCases-1 {
				return last + 1
			}
			break
		}
		if rd, rm, ok := w.Move(); ok && rd == index {
			index = rm
		} else if e := a64.Decode(w); e.Flow != a64.Next || e.Def.Has(index) {
			break
		}
	}
	return maxCases
}
