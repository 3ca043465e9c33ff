// What surrounds the blocks of an xz file: stream headers, block headers, the
// index, the footer and the padding.
//
// Every one of them has a CRC32 of its own, over all its bytes but the magic;
// integers are 7 bits a byte, and a longer spelling than needed is an error.

package source

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// sizes stands for a list of block sizes.
type sizes struct {
	n   uint64
	crc uint32
}

func (s *sizes) add(unpadded, unpacked uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], unpadded)
	binary.LittleEndian.PutUint64(b[8:], unpacked)
	s.n++
	s.crc = crc32.Update(s.crc, crc32.IEEETable, b[:])
}

// take reads n bytes of the container; sizes of headers bound n.
func (x *xzReader) take(n int) ([]byte, error) {
	b := make([]byte, n)
	if err := readFull(taken{x}, b); err != nil {
		return nil, err
	}
	x.crc = crc32.Update(x.crc, crc32.IEEETable, b)
	return b, nil
}

// number reads an integer of 1 to 9 bytes of 7 bits.
func (x *xzReader) number() (uint64, error) {
	var v uint64
	for shift := 0; shift < 63; shift += 7 {
		b, err := x.take(1)
		if err != nil {
			return 0, err
		}
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			if b[0] == 0 && shift > 0 {
				break
			}
			return v, nil
		}
	}
	return 0, refuse(Corrupt, "xz: malformed integer")
}

// checkCRC reads a CRC32 of what was taken since x.crc was zeroed.
func (x *xzReader) checkCRC(what string) error {
	want := x.crc
	b, err := x.take(4)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b) != want {
		return refuse(Corrupt, "xz: %s: wrong CRC32", what)
	}
	return nil
}

// next reads what comes between blocks.
func (x *xzReader) next() error {
	if !x.inStream {
		return x.header()
	}
	x.crc = 0
	b, err := x.take(1)
	if err != nil {
		return err
	}
	if b[0] == 0 {
		return x.index()
	}
	return x.startBlock(x.in-1, (int(b[0])+1)*4)
}

// header reads a stream header, or the end of the file, or four bytes of padding.
func (x *xzReader) header() error {
	if _, err := x.r.Peek(1); err == io.EOF && x.in == 0 {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	magic, err := x.take(4)
	if err != nil {
		return err
	}
	if x.in > 4 && bytes.Equal(magic, make([]byte, 4)) {
		return nil
	}
	rest, err := x.take(2)
	if err != nil {
		return err
	}
	if string(magic)+string(rest) != xzMagic {
		return refuse(Corrupt, "xz: no stream header")
	}
	x.crc = 0
	flags, err := x.take(2)
	if err != nil {
		return err
	}
	if flags[0] != 0 || flags[1] > 0xf {
		return refuse(Unsupported, "xz: stream flags %#x", flags)
	}
	x.flags, x.inStream, x.blocks = [2]byte(flags), true, sizes{}
	return x.checkCRC("stream header")
}

// startBlock reads the rest of a block header of size bytes.
func (x *xzReader) startBlock(start int64, size int) error {
	flags, err := x.take(1)
	if err != nil {
		return err
	}
	b := &xzBlock{start: start, packed: -1, unpacked: -1}
	if flags[0]&0x3f != 0 {
		return refuse(Unsupported, "xz: block flags %#x", flags[0])
	}
	if err := x.declared(flags[0], b); err != nil {
		return err
	}
	filter, err := x.take(3)
	if err != nil {
		return err
	}
	if filter[0] != filterID || filter[1] != 1 {
		return refuse(Unsupported, "xz: filter %#x", filter[0])
	}
	pad := size - 4 - int(x.in-start)
	if pad < 0 {
		return refuse(Corrupt, "xz: block header of %#x bytes", size)
	}
	zeros, err := x.take(pad)
	if err != nil {
		return err
	}
	if err := x.checkCRC("block header"); err != nil {
		return err
	}
	if !bytes.Equal(zeros, make([]byte, pad)) {
		return refuse(Unsupported, "xz: block header with more in it")
	}
	return x.openBlock(b, filter[2])
}

// declared reads the sizes that a block header may hold.
func (x *xzReader) declared(flags byte, b *xzBlock) error {
	for _, f := range []struct {
		bit  byte
		size *int64
	}{{0x40, &b.packed}, {0x80, &b.unpacked}} {
		if flags&f.bit == 0 {
			continue
		}
		n, err := x.number()
		if err != nil {
			return err
		}
		*f.size = int64(n)
	}
	return nil
}

// index reads the index, whose first byte is taken, and the footer.
func (x *xzReader) index() error {
	start := x.in - 1
	n, err := x.number()
	if err != nil {
		return err
	}
	var listed sizes
	for range n {
		unpadded, err := x.number()
		if err != nil {
			return err
		}
		unpacked, err := x.number()
		if err != nil {
			return err
		}
		listed.add(unpadded, unpacked)
	}
	if listed != x.blocks {
		return refuse(Corrupt, "xz: index does not match the blocks")
	}
	if _, err := x.take(int((start - x.in) & 3)); err != nil {
		return err
	}
	if err := x.checkCRC("index"); err != nil {
		return err
	}
	return x.footer(x.in - start)
}

func (x *xzReader) footer(indexSize int64) error {
	b, err := x.take(12)
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(b[4:10]) != binary.LittleEndian.Uint32(b) || string(b[10:]) != xzFooter {
		return refuse(Corrupt, "xz: footer: wrong CRC32")
	}
	if (int64(binary.LittleEndian.Uint32(b[4:]))+1)*4 != indexSize || [2]byte(b[8:10]) != x.flags {
		return refuse(Corrupt, "xz: footer does not match the stream")
	}
	x.inStream = false
	return nil
}
