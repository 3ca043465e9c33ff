// The rules that every table keeps, checked in one place for its bytes (a View)
// and for its value (a Table), so that what Encode refuses and what Decode
// refuses cannot drift apart. Offsets in errors are those of the encoding, also
// for a Table that has none yet.
//
// The surprising rule is the last one, overlap. A hook is usually the word
// before its svc, but that of a cancellation bridge is its entry, many words
// earlier. Because entries are sorted by svc and each must begin behind the end
// of the one before, one pass proves that no two entries share a word.

package cachefmt

import "svcrelay/scanner"

// known are the flags that format version 1 defines.
const known = scanner.Proven | scanner.AsyncCancel | scanner.EdgeInWindow |
	scanner.ViaBridge | scanner.HookIsSvc | scanner.BridgeEntry

// A body is the part of a table behind its header. It is a type parameter, not
// an interface value, so that checking a View allocates nothing.
type body interface {
	window() int
	ranges() int
	rangeAt(i int) Range
	entries() int
	entryAt(i int) Entry
	reservedAt(i int) uint16
}

func (t *Table) window() int           { return t.Window }
func (t *Table) ranges() int           { return len(t.Exec) }
func (t *Table) rangeAt(i int) Range   { return t.Exec[i] }
func (t *Table) entries() int          { return len(t.Entries) }
func (t *Table) entryAt(i int) Entry   { return t.Entries[i] }
func (t *Table) reservedAt(int) uint16 { return 0 }

// check reports the first rule that t breaks.
func (t *Table) check() error {
	if err := checkCounts(uint64(len(t.Exec)), uint64(len(t.Entries))); err != nil {
		return err
	}
	if err := checkWindow(t.Window); err != nil {
		return err
	}
	if err := checkKeySize(len(t.Key.ID), t.Key.Hashed); err != nil {
		return err
	}
	return checkBody(t)
}

func checkCounts(ranges, entries uint64) error {
	if ranges > MaxExec {
		return broken(ErrCount, hdrExec, "%d executable ranges, at most %d", ranges, MaxExec)
	}
	if entries > MaxEntries {
		return broken(ErrCount, hdrEntries, "%d entries, at most %d", entries, MaxEntries)
	}
	return nil
}

func checkWindow(n int) error {
	if n < 1 || n > MaxWindow {
		return broken(ErrWindow, hdrWindow, "%d words, want 1 to %d", n, MaxWindow)
	}
	return nil
}

func checkKeySize(n int, hashed bool) error {
	if !keyFits(n, hashed) {
		return broken(ErrKey, hdrKeySize, "%d bytes, hashed %t", n, hashed)
	}
	return nil
}

func checkBody[B body](b B) error {
	if err := checkRanges(b); err != nil {
		return err
	}
	return checkEntries(b)
}

func checkRanges[B body](b B) error {
	var prev Range
	for i := range b.ranges() {
		r, at := b.rangeAt(i), rangeOffset(i)
		switch {
		case r.Offset%wordSize != 0 || r.Size%wordSize != 0:
			return broken(ErrMisaligned, at, "range %d: 0x%x + 0x%x", i, r.Offset, r.Size)
		case r.Size == 0 || r.End() > 1<<32:
			return broken(ErrOutOfRange, at, "range %d: 0x%x + 0x%x", i, r.Offset, r.Size)
		case i > 0 && r.Offset < prev.Offset:
			return broken(ErrUnsorted, at, "range %d: 0x%x after 0x%x", i, r.Offset, prev.Offset)
		case i > 0 && r.Offset == prev.Offset:
			return broken(ErrDuplicate, at, "range %d: 0x%x", i, r.Offset)
		case uint64(r.Offset) < prev.End():
			return broken(ErrOverlap, at, "range %d: 0x%x before 0x%x", i, r.Offset, prev.End())
		}
		prev = r
	}
	return nil
}

func checkEntries[B body](b B) error {
	ranges, window := b.ranges(), b.window()
	var home Range // the range that holds the svc
	var next int   // the range behind it
	var prev uint32
	var end uint64 // behind the extent of the entry before
	for i := range b.entries() {
		e := b.entryAt(i)
		at := position{entry: i, offset: entryOffset(ranges, i)}
		if r := b.reservedAt(i); r != 0 {
			return at.broken(ErrReserved, entReserved, "0x%x", r)
		}
		if err := checkMeaning(e, window, at); err != nil {
			return err
		}
		if err := checkOrder(e.Svc, prev, at); err != nil {
			return err
		}
		for next < ranges && !home.holds(e.Svc) && b.rangeAt(next).Offset <= e.Svc {
			home = b.rangeAt(next)
			next++
		}
		if err := checkPlace(e, home, at); err != nil {
			return err
		}
		from, to := e.extent()
		if from < end {
			return at.broken(ErrOverlap, entHook, "hook 0x%x before 0x%x, the end of entry %d", e.Hook, end, i-1)
		}
		prev, end = e.Svc, to
	}
	return nil
}

// checkMeaning checks the fields that need no other entry and no range.
func checkMeaning(e Entry, window int, at position) error {
	switch {
	case e.Kind < scanner.Svc || e.Kind > scanner.Call:
		return at.broken(ErrKind, entKind, "%d", e.Kind)
	case !flagsFit(e.Kind, e.Flags):
		return at.broken(ErrFlags, entFlags, "0x%x for kind %d", e.Flags, e.Kind)
	case !numberFits(e.Kind, e.Number):
		return at.broken(ErrNumber, entNumber, "%d for kind %d", e.Number, e.Kind)
	case !distanceFits(e.Kind, int(e.Distance), window):
		return at.broken(ErrDistance, entDistance, "%d for kind %d, window %d", e.Distance, e.Kind, window)
	}
	return checkAligned(e, at)
}

// flagsFit refuses unknown flags and those of another kind.
func flagsFit(k scanner.Kind, f scanner.Flags) bool {
	allowed := known
	if k != scanner.Call {
		allowed &^= scanner.ViaBridge
	}
	if k != scanner.Bridge {
		allowed &^= scanner.BridgeEntry
	}
	if k == scanner.Call || f&scanner.BridgeEntry != 0 {
		allowed &^= scanner.HookIsSvc
	}
	return f&^allowed == 0
}

// numberFits: an svc's number is known, a bridge's is not before run time, and a
// call may pass on one that its own caller gave.
func numberFits(k scanner.Kind, n uint16) bool {
	if n == NoNumber {
		return k != scanner.Svc
	}
	return n <= MaxNumber && k != scanner.Bridge
}

// distanceFits: an svc's number comes from its window, a bridge's from a caller.
func distanceFits(k scanner.Kind, n, window int) bool {
	switch k {
	case scanner.Svc:
		return n >= 1 && n <= window
	case scanner.Bridge:
		return n == 0
	}
	return true
}

func checkAligned(e Entry, at position) error {
	for _, f := range [...]struct {
		value uint32
		field int
	}{{e.Svc, entSvc}, {e.Hook, entHook}, {e.Start, entStart}, {e.End, entEnd}} {
		if f.value%wordSize != 0 {
			return at.broken(ErrMisaligned, f.field, "0x%x", f.value)
		}
	}
	return nil
}

func checkOrder(svc, prev uint32, at position) error {
	switch {
	case at.entry == 0 || svc > prev:
		return nil
	case svc == prev:
		return at.broken(ErrDuplicate, entSvc, "svc 0x%x", svc)
	}
	return at.broken(ErrUnsorted, entSvc, "svc 0x%x after 0x%x", svc, prev)
}

// checkPlace checks where svc, hook and bridge range lie, in the executable
// range and among themselves.
func checkPlace(e Entry, home Range, at position) error {
	switch {
	case !home.holds(e.Svc):
		return at.broken(ErrOutOfRange, entSvc, "svc 0x%x in no executable range", e.Svc)
	case !home.holds(e.Hook):
		return at.broken(ErrOutOfRange, entHook, "hook 0x%x not in the range of svc 0x%x", e.Hook, e.Svc)
	case !hookFits(e):
		return at.broken(ErrHook, entHook, "hook 0x%x of svc 0x%x", e.Hook, e.Svc)
	case !bridgeFits(e):
		return at.broken(ErrBridge, entStart, "0x%x to 0x%x for svc 0x%x", e.Start, e.End, e.Svc)
	case uint64(e.End) > home.End():
		return at.broken(ErrOutOfRange, entEnd, "bridge end 0x%x not in the range of svc 0x%x", e.End, e.Svc)
	}
	return nil
}

// hookFits: the word before the svc, unless the kind or a flag says otherwise.
func hookFits(e Entry) bool {
	switch {
	case e.Kind == scanner.Call || e.Flags&scanner.HookIsSvc != 0:
		return e.Hook == e.Svc
	case e.Flags&scanner.BridgeEntry != 0:
		return e.Hook < e.Start
	}
	return uint64(e.Hook)+wordSize == uint64(e.Svc)
}

// bridgeFits: a cancellation bridge has a range around its svc, others none.
func bridgeFits(e Entry) bool {
	if e.Flags&scanner.BridgeEntry == 0 {
		return e.Start == 0 && e.End == 0
	}
	return e.Start <= e.Svc && e.Svc < e.End
}
