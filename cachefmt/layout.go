// Where each field lies in the bytes of a table. Everything is little-endian
// and naturally aligned, so that a C reader uses plain structs on a mapped
// file. FORMAT.md draws this; testdata/reader.c asserts the same offsets.
//
//	0        32     96          96+8x         96+8x+32n     +4
//	+--------+------+-----------+-------------+-------------+
//	| header | key  | x ranges  | n entries   | CRC32C      |
//	+--------+------+-----------+-------------+-------------+

package cachefmt

import (
	"encoding/binary"
	"hash/crc32"

	"svcrelay/scanner"
	"svcrelay/scanner/a64"
)

// magic is not ASCII and holds CR LF and the DOS end of file, as PNG's: any
// transfer as text damages it.
const magic = "\x89SVCT\r\n\x1a"

// Sizes of the parts.
const (
	headerSize = 96
	rangeSize  = 8
	entrySize  = 32
	crcSize    = 4
	minSize    = headerSize + crcSize
	wordSize   = 4
)

// MaxSize is the size of the largest table.
const MaxSize = minSize + MaxExec*rangeSize + MaxEntries*entrySize

// Offsets in the header.
const (
	hdrVersion    = 8
	hdrRecogniser = 12
	hdrWindow     = 14
	hdrFlags      = 16
	hdrKeySize    = 18
	hdrExec       = 20
	hdrEntries    = 24
	hdrReserved   = 28
	hdrKey        = 32
)

// flagHashed is the only header flag: the key is a hash, not a build-ID.
const flagHashed = 1

// Offsets in an entry.
const (
	entSvc      = 0
	entHook     = 4
	entWord     = 8
	entLive     = 12
	entStart    = 16
	entEnd      = 20
	entNumber   = 24
	entDistance = 26
	entKind     = 27
	entFlags    = 28
	entReserved = 30
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// rangeOffset is where range i is encoded.
func rangeOffset(i int) int { return headerSize + i*rangeSize }

// entryOffset is where entry i of a table with the given number of ranges is
// encoded. With i the number of entries it is where the checksum is.
func entryOffset(ranges, i int) int { return rangeOffset(ranges) + i*entrySize }

func getRange(b []byte) Range {
	return Range{Offset: le.Uint32(b), Size: le.Uint32(b[4:])}
}

func appendRange(b []byte, r Range) []byte {
	return le.AppendUint32(le.AppendUint32(b, r.Offset), r.Size)
}

func getEntry(b []byte) Entry {
	_ = b[entrySize-1]
	return Entry{
		Svc:      le.Uint32(b[entSvc:]),
		Hook:     le.Uint32(b[entHook:]),
		Word:     a64.Word(le.Uint32(b[entWord:])),
		Live:     a64.Regs(le.Uint32(b[entLive:])),
		Start:    le.Uint32(b[entStart:]),
		End:      le.Uint32(b[entEnd:]),
		Number:   le.Uint16(b[entNumber:]),
		Distance: b[entDistance],
		Kind:     scanner.Kind(b[entKind]),
		Flags:    scanner.Flags(le.Uint16(b[entFlags:])),
	}
}

func appendEntry(b []byte, e Entry) []byte {
	for _, v := range [...]uint32{e.Svc, e.Hook, uint32(e.Word), uint32(e.Live), e.Start, e.End} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint16(b, e.Number)
	b = append(b, e.Distance, byte(e.Kind))
	b = le.AppendUint16(b, uint16(e.Flags))
	return le.AppendUint16(b, 0)
}
