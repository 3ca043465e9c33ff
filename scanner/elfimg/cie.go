// Common entries (CIE): how the entries that share one are encoded.
//
//	CIE: length | 0 | version | letters | code align | data align | return register | augmentation data
//
// glibc's are version 1, "zR" or, where a frame has an exception table, "zPLR".

package elfimg

import "bytes"

// cie is what a common entry says about the encodings of those that share it.
type cie struct {
	start, lsda byte
	augmented   bool
}

// cieMemo remembers the last CIE: neighbours share theirs.
type cieMemo struct {
	at uint64
	cie
	ok bool
}

func (m *Image) cie(vaddr uint64) (cie, bool) {
	c := cursor{b: m.tail(vaddr), at: vaddr}
	body, ok := c.record()
	if !ok || body.u32() != 0 {
		return cie{}, false
	}
	version := body.u8()
	letters := body.letters()
	body.uleb() // code alignment
	body.uleb() // data alignment: sleb128, same length
	if version == 1 {
		body.u8() // return address register
	} else {
		body.uleb()
	}
	d := body.augmentation(letters)
	return d, !body.bad && (version == 1 || version == 3)
}

// letters returns the augmentation string without its NUL; real ones have at
// most five letters.
func (c *cursor) letters() []byte {
	n := bytes.IndexByte(c.b[:min(len(c.b), 16)], 0)
	if n < 0 {
		c.bad = true
		return nil
	}
	return c.take(uint64(n) + 1)[:n]
}

// augmentation reads the data that each letter announces. B (pointers signed
// with key B), S (signal frame) and G (tagged stack) announce none; with an
// unknown letter the rest cannot be told.
func (c *cursor) augmentation(letters []byte) cie {
	d := cie{start: encAbsptr, lsda: encOmit}
	if len(letters) == 0 {
		return d
	}
	d.augmented = letters[0] == 'z'
	c.bad = c.bad || !d.augmented
	c.uleb()
	for _, l := range letters[1:] {
		switch l {
		case 'R':
			d.start = c.u8()
		case 'L':
			d.lsda = c.u8()
		case 'P':
			c.value(c.u8())
		case 'B', 'S', 'G':
		default:
			c.bad = true
		}
	}
	return d
}
