// Reading DWARF's exception-handling numbers from untrusted bytes.
//
// A cursor remembers the address of its first byte, since half of the encodings
// are relative to where they stand, and turns bad for good at the first fault:
// callers read a whole record and ask once.

package elfimg

const (
	encAbsptr  = 0x00
	encUleb128 = 0x01
	encUdata2  = 0x02
	encUdata4  = 0x03
	encUdata8  = 0x04
	encSleb128 = 0x09
	encSdata2  = 0x0a
	encSdata4  = 0x0b
	encSdata8  = 0x0c
	encPcrel   = 0x10
	encDatarel = 0x30
	encOmit    = 0xff

	maxLEB = 10 // bytes of a 64-bit LEB128
)

type cursor struct {
	b    []byte
	at   uint64 // address of b[0]
	data uint64 // base of datarel
	bad  bool
}

// take returns the next n bytes, or nil and a bad cursor.
func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n]
	c.b, c.at = c.b[n:], c.at+n
	return b
}

func (c *cursor) u8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return le.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

// leb returns the bits of a LEB128 number and how many they are.
func (c *cursor) leb() (v uint64, bits uint) {
	for range maxLEB {
		b := c.u8()
		v |= uint64(b&0x7f) << bits
		bits += 7
		if b&0x80 == 0 {
			return v, bits
		}
	}
	c.bad = true
	return 0, 0
}

func (c *cursor) uleb() uint64 { v, _ := c.leb(); return v }

func (c *cursor) sleb() uint64 {
	v, bits := c.leb()
	if bits < 64 && bits > 0 && v>>(bits-1) != 0 {
		v |= ^uint64(0) << bits
	}
	return v
}

// value reads a number in enc's format, whatever it is relative to.
func (c *cursor) value(enc byte) uint64 {
	switch enc & 0x0f {
	case encAbsptr, encUdata8, encSdata8:
		return c.u64()
	case encUleb128:
		return c.uleb()
	case encUdata2:
		return uint64(c.u16())
	case encUdata4:
		return uint64(c.u32())
	case encSleb128:
		return c.sleb()
	case encSdata2:
		return uint64(int64(int16(c.u16())))
	case encSdata4:
		return uint64(int64(int32(c.u32())))
	}
	c.bad = true
	return 0
}

// pointer reads an address. Indirect ones (0x80) would need the loader's work.
func (c *cursor) pointer(enc byte) uint64 {
	at := c.at
	v := c.value(enc)
	switch enc & 0xf0 {
	case 0:
		return v
	case encPcrel:
		return at + v
	case encDatarel:
		return c.data + v
	}
	c.bad = true
	return 0
}

// lsda reads a pointer of which a stored 0 means "none", even where it is relative.
func (c *cursor) lsda(enc byte) uint64 {
	peek := *c
	if peek.value(enc) == 0 {
		*c = peek
		return 0
	}
	return c.pointer(enc)
}

// record splits off a length-prefixed body; false at a terminator or a length
// that the bytes do not hold.
func (c *cursor) record() (cursor, bool) {
	n := uint64(c.u32())
	if n == 0xffffffff {
		n = c.u64()
	}
	body := cursor{at: c.at, data: c.data}
	body.b = c.take(n)
	return body, !c.bad && n > 0
}
