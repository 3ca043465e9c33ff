// The xz container around LZMA2.
//
// github.com/ulikunitz/xz/lzma decodes LZMA2, but its container reader takes the
// dictionary's size from the file: 24 bytes of xz make it allocate 4 GiB, and
// nothing in its configuration says no. It also keeps a record for every block.
// Here a dictionary is bounded and no bigger than its block, and the index is
// compared by a running checksum, as the kernel's decoder does it. One LZMA2
// filter per block is decoded; others (BCJ, delta) are valid and Unsupported.

package source

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/ulikunitz/xz/lzma"
)

const (
	xzMagic  = "\xfd7zXZ\x00"
	xzFooter = "YZ"
	filterID = 0x21 // LZMA2
)

// xzReader decodes a sequence of xz streams with padding between them.
type xzReader struct {
	r       *bufio.Reader
	maxDict int64
	err     error

	in    int64  // bytes taken from r
	out   int64  // bytes decoded
	dicts int64  // bytes of dictionaries allocated
	crc   uint32 // of the bytes taken since it was last zeroed

	inStream bool
	flags    [2]byte
	blocks   sizes // as decoded
	block    *xzBlock
}

// xzBlock is the block being decoded.
type xzBlock struct {
	lzma2            io.Reader
	check            hash.Hash // nil: none
	start            int64     // of its header, in bytes taken
	data             int64     // of its content
	packed, unpacked int64     // declared, or -1
	out              int64
}

func newXZReader(r *bufio.Reader, maxDict int64) *xzReader {
	return &xzReader{r: r, maxDict: maxDict}
}

func (x *xzReader) Read(p []byte) (int, error) {
	for x.err == nil {
		if x.block == nil {
			x.err = x.next()
			continue
		}
		n, err := x.block.read(p)
		x.out += int64(n)
		if err == io.EOF {
			err = x.endBlock()
		}
		x.err = err
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, x.err
}

func (b *xzBlock) read(p []byte) (int, error) {
	n, err := b.lzma2.Read(p)
	b.out += int64(n)
	if b.check != nil {
		b.check.Write(p[:n])
	}
	return n, err
}

// taken reads for the LZMA2 decoder, and counts.
type taken struct{ x *xzReader }

func (t taken) Read(p []byte) (int, error) {
	n, err := t.x.r.Read(p)
	t.x.in += int64(n)
	return n, err
}

func (x *xzReader) openBlock(b *xzBlock, property byte) error {
	dict, err := lzma.DecodeDictCap(property)
	if err != nil {
		return refuse(Corrupt, "xz: dictionary property %#x", property)
	}
	if dict > x.maxDict {
		return refuse(WindowTooBig, "xz: a dictionary of %#x bytes, the limit is %#x", dict, x.maxDict)
	}
	if b.unpacked >= 0 {
		dict = min(dict, b.unpacked)
	}
	dict = max(dict, lzma.MinDictCap)
	// Blocks of no content would have a dictionary zeroed for every 16 bytes.
	// Zeroing 256 bytes for one that is decoded does not slow LZMA down.
	if x.dicts += dict; x.dicts > 64*x.maxDict+256*x.out {
		return refuse(Bomb, "xz: dictionaries of %#x bytes for %#x of content", x.dicts, x.out)
	}
	if b.check, err = newCheck(x.flags[1]); err != nil {
		return err
	}
	b.data = x.in
	b.lzma2, err = lzma.Reader2Config{DictCap: int(dict)}.NewReader2(taken{x})
	x.block = b
	return err
}

// newCheck is the hash of a stream's check type; nil for none.
func newCheck(id byte) (hash.Hash, error) {
	switch id {
	case 0:
		return nil, nil
	case 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, refuse(Unsupported, "xz: check type %#x", id)
}

// sum is the check as it is stored: the CRCs are little-endian.
func (b *xzBlock) sum(id byte) []byte {
	if b.check == nil {
		return nil
	}
	s := b.check.Sum(nil)
	if id != 10 {
		slices.Reverse(s)
	}
	return s
}

func (x *xzReader) endBlock() error {
	b := x.block
	x.block = nil
	packed := x.in - b.data
	if b.packed >= 0 && b.packed != packed || b.unpacked >= 0 && b.unpacked != b.out {
		return refuse(Corrupt, "xz: block has other sizes than it declares")
	}
	want := b.sum(x.flags[1])
	x.blocks.add(uint64(x.in-b.start)+uint64(len(want)), uint64(b.out))
	pad, err := x.take(int(-packed & 3))
	if err != nil {
		return err
	}
	got, err := x.take(len(want))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) || !bytes.Equal(pad, make([]byte, len(pad))) {
		return refuse(Corrupt, "xz: block: wrong check")
	}
	return nil
}
