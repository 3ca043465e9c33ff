// Package cachefmt is the table: the accepted sites of one image, keyed by its
// build-ID, as bytes that a C loader maps and reads in place.
//
// It promises that Decode accepts exactly what Encode writes: every table has
// one encoding, every accepted encoding decodes to one table, and Encode of
// that is the same bytes again. It refuses anything else with one of the
// sentinel errors of this package and the offset in hex, without a panic and
// without an allocation that the input can choose. A decoded table is well
// formed, not true: Validate compares it word by word with the image.
//
// A pack is many tables in one compressed stream, under the same rules.
//
// The package touches no files. FORMAT.md is the specification, for readers of other
// languages; testdata/reader.c is written from it alone.
package cachefmt

import (
	"cmp"
	"encoding/hex"
	"slices"

	"svcrelay/scanner"
	"svcrelay/scanner/a64"
)

// What a table may hold. A libc has about 60 accepted sites and three
// executable ranges; the limits only bound the work that hostile input causes.
const (
	FormatVersion = 1
	MaxExec       = 256
	MaxEntries    = 1 << 16
	MaxWindow     = 255
	MaxNumber     = 1023 // Linux has used about 470 numbers
)

// NoNumber is the Number of an entry whose syscall number arrives in a register.
const NoNumber = 0xffff

// A Range is an executable range of an image.
type Range struct {
	Offset uint32 // of the first byte, from the lowest PT_LOAD address
	Size   uint32
}

// End is the offset behind the last byte; it may be 4 GiB.
func (r Range) End() uint64 { return uint64(r.Offset) + uint64(r.Size) }

// holds tells whether the whole word at off lies in r.
func (r Range) holds(off uint32) bool {
	return off >= r.Offset && uint64(off)+wordSize <= r.End()
}

// An Entry is one accepted site. All addresses are offsets from the lowest
// PT_LOAD address of the image, so that one table serves every load address.
type Entry struct {
	Svc        uint32   // the svc, or a Call's branch
	Hook       uint32   // the word to replace
	Word       a64.Word // what the hook must hold
	Live       a64.Regs // registers that may be read after the svc before they are written
	Start, End uint32   // with scanner.BridgeEntry: the cancellation handler's range; else 0
	Number     uint16   // the syscall number, or NoNumber
	Distance   uint8    // words from the number's movz to the svc; 0 when unknown
	Kind       scanner.Kind
	Flags      scanner.Flags
}

// extent is what no other entry may touch: from the hook to behind the svc, and
// for a cancellation bridge to the end of its range.
func (e Entry) extent() (from, to uint64) {
	return uint64(e.Hook), max(uint64(e.Svc)+wordSize, uint64(e.End))
}

// A Table holds the accepted sites of one image.
type Table struct {
	Key        Key
	Recogniser uint16 // version of the recogniser that found the sites
	Window     int    // words it looked back for a number
	Exec       []Range
	Entries    []Entry // sorted by Svc
}

// Find returns the entry of the svc (or of the Call's branch) at an offset.
func (t *Table) Find(svc uint32) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(t.Entries, svc, func(e Entry, svc uint32) int {
		return cmp.Compare(e.Svc, svc)
	})
	if !ok {
		return Entry{}, false
	}
	return t.Entries[i], true
}

// Key sizes: lld's --build-id=fast has 8 bytes, GNU ld's default 20. Shorter
// ones identify nothing, longer ones do not fit.
const (
	minBuildID  = 8
	maxBuildID  = 64
	hashKeySize = 32
)

// A Key names the image that a table is for. Keys are comparable.
type Key struct {
	ID     string // raw bytes
	Hashed bool   // ID is not a build-ID but the SHA-256 of the executable ranges
}

// String is "build-id" or "sha256", a colon, and the ID in hex.
func (k Key) String() string {
	if k.Hashed {
		return "sha256:" + hex.EncodeToString([]byte(k.ID))
	}
	return "build-id:" + hex.EncodeToString([]byte(k.ID))
}

// Path is the slash-separated name of the table's file below a directory of
// tables: ab/cdef….svct for a build-ID, exec/abcdef….svct for a hash.
// Preconditions: the key is that of a checked table, so at least 8 bytes long.
func (k Key) Path() string {
	id := hex.EncodeToString([]byte(k.ID))
	if k.Hashed {
		return "exec/" + id + ".svct"
	}
	return id[:2] + "/" + id[2:] + ".svct"
}

// Compare orders keys as a pack does: build-IDs before hashes, then by bytes.
func (k Key) Compare(other Key) int {
	if k.Hashed != other.Hashed {
		if k.Hashed {
			return 1
		}
		return -1
	}
	return cmp.Compare(k.ID, other.ID)
}

// valid tells whether a table may carry k.
func (k Key) valid() bool { return keyFits(len(k.ID), k.Hashed) }

// keyFits tells whether a key may have size bytes.
func keyFits(size int, hashed bool) bool {
	if hashed {
		return size == hashKeySize
	}
	return size >= minBuildID && size <= maxBuildID
}
