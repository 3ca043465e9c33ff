// From a table to bytes. Encode refuses what Decode would refuse, so that a
// table that was written can always be read.

package cachefmt

import (
	"fmt"
	"slices"
)

// Encode returns the bytes of t, or the rule that t breaks.
func (t *Table) Encode() ([]byte, error) { return t.Append(nil) }

// Append appends the bytes of t to b. It leaves b as it is when t breaks a rule.
func (t *Table) Append(b []byte) ([]byte, error) {
	if err := t.check(); err != nil {
		return b, fmt.Errorf("table %v: %w", t.Key, err)
	}
	return t.appendUnchecked(slices.Grow(b, t.size())), nil
}

// size is the length of t's encoding.
func (t *Table) size() int { return entryOffset(len(t.Exec), len(t.Entries)) + crcSize }

func (t *Table) appendUnchecked(b []byte) []byte {
	start := len(b)
	b = t.appendHeader(b)
	for _, r := range t.Exec {
		b = appendRange(b, r)
	}
	for _, e := range t.Entries {
		b = appendEntry(b, e)
	}
	return le.AppendUint32(b, checksum(b[start:]))
}

func (t *Table) appendHeader(b []byte) []byte {
	b = append(b, magic...)
	b = le.AppendUint32(b, FormatVersion)
	b = le.AppendUint16(b, t.Recogniser)
	b = le.AppendUint16(b, uint16(t.Window))
	b = le.AppendUint16(b, t.Key.flags())
	b = le.AppendUint16(b, uint16(len(t.Key.ID)))
	b = le.AppendUint32(b, uint32(len(t.Exec)))
	b = le.AppendUint32(b, uint32(len(t.Entries)))
	b = le.AppendUint32(b, 0)
	b = append(b, t.Key.ID...)
	return append(b, make([]byte, maxBuildID-len(t.Key.ID))...)
}

func (k Key) flags() uint16 {
	if k.Hashed {
		return flagHashed
	}
	return 0
}
