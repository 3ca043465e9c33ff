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

import "svcrelay/scanner/a64"

// A jumpTable is one table and what its entries mean.
type jumpTable struct {
	at, base uint64
	size     uint32 // of an entry in bytes
	signed   bool
	shift    uint32
	cases    uint64 // as many as the compare before it lets through; 0: no compare
}

// A jumpKind says what a br does.
type jumpKind uint8

const (
	jumpUnknown jumpKind = iota
	jumpPointer          // a tail call: the target is a pointer from memory
	jumpCases            // a switch
)

// resolveJump tells what the jump at p does, and yields every target of a switch;
// a target that yield refuses makes it unknown. A pointer that is loaded from
// anywhere but the stack came from a relocation or an adr, which are marked.
func (v *prover) resolveJump(p pos, yield func(vaddr uint64) bool) jumpKind {
	s := v.t.spanOf(p)
	reg := s.at(p - s.first).Operand()
	if t, ok := v.tableOf(s, p-s.first, reg); ok {
		if v.eachCase(t, yield) {
			return jumpCases
		}
		return jumpUnknown
	}
	if v.directValueAt(p, reg).kind == pointer {
		return jumpPointer
	}
	return jumpUnknown
}

// straightInto reports whether word i of s can only come after the word before it.
func (s *span) straightInto(i pos) bool { return !s.targets.has(i) && !s.entries.has(i) }

// tableOf finds the table of the jump at offset i of s by reg.
func (v *prover) tableOf(s *span, i pos, reg uint32) (t jumpTable, ok bool) {
	for n := 0; n < tableReach && i > 0 && s.straightInto(i); n++ {
		i--
		w := s.at(i)
		e := a64.Decode(w)
		if e.Flow != a64.Next {
			return t, false
		}
		if !e.Def.Has(reg) {
			continue
		}
		rd, rn, m, isAdd := w.AddRegister()
		if !isAdd || rd != reg {
			return t, false
		}
		return v.findTable(s.first+i, rn, m)
	}
	return t, false
}

// eachCase yields the targets of a table. Without the compare before it nobody
// can say where a table ends.
func (v *prover) eachCase(t jumpTable, yield func(uint64) bool) bool {
	for n := range t.cases {
		b, ok := v.img.ReadAt(t.at+n*uint64(t.size), int(t.size))
		if !ok || !v.spend(1) || !yield(t.base+uint64(t.entry(b))<<t.shift) {
			return false
		}
	}
	return t.cases > 0
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
func (v *prover) findTable(p pos, rn uint32, m a64.Addend) (t jumpTable, ok bool) {
	if t, ok = v.readTable(p, rn, m); !ok && m.Size == 8 && m.Shift == 0 {
		t, ok = v.readTable(p, m.Reg, a64.Addend{Reg: rn, Size: 8})
	}
	return t, ok
}

// readTable finds the load of the addend m that the add at p adds to base.
func (v *prover) readTable(p pos, base uint32, m a64.Addend) (t jumpTable, ok bool) {
	s := v.t.spanOf(p)
	for i, n := p-s.first, 0; n < tableReach && i > 0 && s.straightInto(i); n++ {
		i--
		w := s.at(i)
		l, isLoad := w.IndexedLoad()
		if !isLoad || l.Reg != m.Reg {
			if e := a64.Decode(w); e.Flow != a64.Next || e.Def.Has(m.Reg) {
				return t, false
			}
			continue
		}
		if m.Size != 8 && m.Size != l.Size {
			return t, false
		}
		from, table := v.directValueAt(p, base), v.directValueAt(s.first+i, l.Base)
		t = jumpTable{table.n, from.n, l.Size, l.Signed || m.Signed, m.Shift, s.caseCount(i, l.Index)}
		return t, from.kind == constant && table.kind == constant
	}
	return t, false
}

// maxCases bounds what a compare may let through; glibc's largest table has 123.
const maxCases = 4096

// caseCount walks back from the load at offset i of s to the compare of its index,
// which must be the only way in; 0 when there is none.
func (s *span) caseCount(i pos, index uint32) uint64 {
	for n := 0; n < tableReach && i > 1 && s.straightInto(i); n++ {
		i--
		w := s.at(i)
		if w.IsBCond(a64.HI) {
			if rn, last, ok := s.at(i - 1).CompareImmediate(); ok && rn == index && last < maxCases {
				return last + 1
			}
			return 0
		}
		if rd, rm, ok := w.Move(); ok && rd == index {
			index = rm
		} else if e := a64.Decode(w); e.Flow != a64.Next || e.Def.Has(index) {
			return 0
		}
	}
	return 0
}
