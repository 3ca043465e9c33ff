// From bytes to a table. The length is checked against the counts before the
// checksum is: a truncated download then says so, instead of "bad checksum".

package cachefmt

import "iter"

// A View is a table that is read in place. Open makes one, which keeps every rule
// of the format; the zero View is none.
type View struct {
	b []byte // a whole, checked encoding
}

// Open checks b, allocating nothing unless it refuses. The View refers to b,
// which must not change.
func Open(b []byte) (View, error) {
	if err := checkFrame(b); err != nil {
		return View{}, err
	}
	v := View{b}
	if err := v.checkHeader(); err != nil {
		return View{}, err
	}
	if err := checkBody(v); err != nil {
		return View{}, err
	}
	return v, nil
}

// Decode reads the table that b holds, all of b. The table does not refer to b.
func Decode(b []byte) (*Table, error) {
	v, err := Open(b)
	if err != nil {
		return nil, err
	}
	return v.Table(), nil
}

// Key returns the key, in memory of its own.
func (v View) Key() Key { return Key{ID: string(v.id()), Hashed: v.hashed()} }

// Recogniser is the version of the recogniser that found the sites.
func (v View) Recogniser() uint16 { return le.Uint16(v.b[hdrRecogniser:]) }

// Window is how many words it looked back for a number.
func (v View) Window() int { return v.window() }

// Len is the number of entries.
func (v View) Len() int { return v.entries() }

// Entry returns entry i.
func (v View) Entry(i int) Entry { return v.entryAt(i) }

// Exec yields the executable ranges in order.
func (v View) Exec() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for i := range v.ranges() {
			if !yield(v.rangeAt(i)) {
				return
			}
		}
	}
}

// All yields the entries in order.
func (v View) All() iter.Seq2[int, Entry] {
	return func(yield func(int, Entry) bool) {
		for i := range v.entries() {
			if !yield(i, v.entryAt(i)) {
				return
			}
		}
	}
}

// Table copies the view into a table. No ranges and no entries are nil slices.
func (v View) Table() *Table {
	t := &Table{Key: v.Key(), Recogniser: v.Recogniser(), Window: v.window()}
	if n := v.ranges(); n > 0 {
		t.Exec = make([]Range, n)
	}
	for i := range t.Exec {
		t.Exec[i] = v.rangeAt(i)
	}
	if n := v.entries(); n > 0 {
		t.Entries = make([]Entry, n)
	}
	for i := range t.Entries {
		t.Entries[i] = v.entryAt(i)
	}
	return t
}

func (v View) window() int         { return int(le.Uint16(v.b[hdrWindow:])) }
func (v View) ranges() int         { return int(le.Uint32(v.b[hdrExec:])) }
func (v View) rangeAt(i int) Range { return getRange(v.b[rangeOffset(i):]) }
func (v View) entries() int        { return int(le.Uint32(v.b[hdrEntries:])) }
func (v View) entryAt(i int) Entry { return getEntry(v.b[entryOffset(v.ranges(), i):]) }
func (v View) reservedAt(i int) uint16 {
	return le.Uint16(v.b[entryOffset(v.ranges(), i)+entReserved:])
}
func (v View) hashed() bool { return le.Uint16(v.b[hdrFlags:])&flagHashed != 0 }
func (v View) keySize() int { return int(le.Uint16(v.b[hdrKeySize:])) }
func (v View) id() []byte   { return v.b[hdrKey : hdrKey+v.keySize()] }

// checkFrame checks what must hold before any other field is worth reading:
// magic, version, length and checksum.
func checkFrame(b []byte) error {
	if len(b) < hdrVersion {
		return broken(ErrShort, len(b), "no room for the magic")
	}
	if string(b[:hdrVersion]) != magic {
		return broken(ErrMagic, 0, "% x", b[:hdrVersion])
	}
	if len(b) < hdrRecogniser {
		return broken(ErrShort, len(b), "no room for the format version")
	}
	if n := le.Uint32(b[hdrVersion:]); n != FormatVersion {
		return broken(ErrVersion, hdrVersion, "%d, want %d", n, FormatVersion)
	}
	if len(b) < minSize {
		return broken(ErrShort, len(b), "an empty table has %d bytes", minSize)
	}
	if err := checkCounts(uint64(le.Uint32(b[hdrExec:])), uint64(le.Uint32(b[hdrEntries:]))); err != nil {
		return err
	}
	return checkSum(b)
}

// checkSum checks the length that the counts ask for, and the checksum.
func checkSum(b []byte) error {
	end := View{b}.crcOffset()
	if len(b) < end+crcSize {
		return broken(ErrShort, len(b), "the counts ask for %d bytes", end+crcSize)
	}
	if len(b) > end+crcSize {
		return broken(ErrLong, end+crcSize, "%d bytes more", len(b)-end-crcSize)
	}
	if got, want := le.Uint32(b[end:]), checksum(b[:end]); got != want {
		return broken(ErrCRC, end, "0x%08x, want 0x%08x", got, want)
	}
	return nil
}

func (v View) crcOffset() int { return entryOffset(v.ranges(), v.entries()) }

// checkHeader checks the header fields that checkFrame left.
func (v View) checkHeader() error {
	if f := le.Uint16(v.b[hdrFlags:]); f&^flagHashed != 0 {
		return broken(ErrReserved, hdrFlags, "flags 0x%x", f)
	}
	if r := le.Uint32(v.b[hdrReserved:]); r != 0 {
		return broken(ErrReserved, hdrReserved, "0x%x", r)
	}
	if err := checkWindow(v.window()); err != nil {
		return err
	}
	return v.checkKey()
}

// checkKey checks the key's size, and that its padding is zero.
func (v View) checkKey() error {
	if err := checkKeySize(v.keySize(), v.hashed()); err != nil {
		return err
	}
	for i := hdrKey + v.keySize(); i < headerSize; i++ {
		if v.b[i] != 0 {
			return broken(ErrReserved, i, "0x%02x behind the key", v.b[i])
		}
	}
	return nil
}
