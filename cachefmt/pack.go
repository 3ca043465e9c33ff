// A pack is many tables in one zstd stream: what a rootfs ships. Tables are alike:
// those of libc and ld.so of glibc 2.31, 2.36, 2.41 and 2.43 have 10.1 KB, 4.5 KB
// when each is compressed, 3.1 KB as a pack. A reader needs no memory beyond one
// table and zstd's window.
//
// Unpacked it is
//
//	0       8         12      16
//	+-------+---------+-------+-------------------------+----
//	| magic | version | count | size (u32) | table ...  | ... in order of Key.Compare
//	+-------+---------+-------+-------------------------+----
//
// with nothing behind the last table. It has no checksum of its own: each table
// has one, and so has the zstd frame.

package cachefmt

import (
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// The pack's format and limits. A table is about 3 KB, and there are a few
// thousand arm64 builds of glibc; the limits only bound hostile input.
const (
	PackVersion   = 1
	MaxPackTables = 1 << 16
	MaxPackSize   = 256 << 20 // unpacked

	packMagic      = "\x89SVCP\r\n\x1a"
	packVersionAt  = 8
	packCountAt    = 12
	packHeaderSize = 16
	packSizeSize   = 4

	zstdWindow    = 1 << 20 // what WritePack uses
	maxZstdWindow = 8 << 20 // what a PackReader accepts: the limit every zstd decoder must support
)

// WritePack writes tables, in any order, as a pack. Equal sets of tables give
// equal bytes. Two tables with one key are refused, with ErrDuplicate.
func WritePack(w io.Writer, tables []*Table) error {
	sorted := slices.Clone(tables)
	slices.SortFunc(sorted, func(a, b *Table) int { return a.Key.Compare(b.Key) })
	if err := checkPack(sorted); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	z, err := zstd.NewWriter(w,
		zstd.WithEncoderConcurrency(1), // with more, the bytes depend on the machine
		zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithWindowSize(zstdWindow),
		zstd.WithEncoderCRC(true))
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if err := writeTables(z, sorted); err != nil {
		z.Close() // the first error is the one to report
		return fmt.Errorf("pack: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// checkPack refuses what a PackReader would refuse. Preconditions: sorted.
func checkPack(sorted []*Table) error {
	if len(sorted) > MaxPackTables {
		return broken(ErrCount, packCountAt, "%d tables, at most %d", len(sorted), MaxPackTables)
	}
	size := packHeaderSize
	for i, t := range sorted {
		if i > 0 && t.Key == sorted[i-1].Key {
			return broken(ErrDuplicate, size, "table %d: %v", i, t.Key)
		}
		size += packSizeSize + t.size()
		if size > MaxPackSize {
			return broken(ErrLong, size, "table %d: more than 0x%x bytes", i, MaxPackSize)
		}
	}
	return nil
}

func writeTables(w io.Writer, sorted []*Table) error {
	b := append([]byte(nil), packMagic...)
	b = le.AppendUint32(b, PackVersion)
	b = le.AppendUint32(b, uint32(len(sorted)))
	for _, t := range sorted {
		b = le.AppendUint32(b, uint32(t.size()))
		var err error
		if b, err = t.Append(b); err != nil {
			return err
		}
		if _, err = w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write(b) // the header of an empty pack
	return err
}
