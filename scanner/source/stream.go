// An archive as a stream of tar bytes, whatever it is compressed with.
//
// A plain tar stays seekable, because archive/tar then steps over what nobody
// wants: a 2 GB rootfs is walked by reading its headers. A compressed one is
// metered. The bound that matters is not on memory, which the window limits
// hold, but on time: 20 KB of zstd can say 1 GB of zeros.

package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// stream is what archive/tar reads: plain or meter.
type stream struct {
	io.Reader
	pos   func() int64 // where it stands: in the file for a plain tar, else in the unpacked bytes
	close func()
}

// plain is an uncompressed tar; it seeks.
type plain struct {
	*io.SectionReader
	ctx context.Context
}

func (p *plain) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.SectionReader.Read(b)
}

// counter counts the bytes that a decoder was given.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// meter watches a decoder. Its errors carry the offset in the source file.
type meter struct {
	ctx     context.Context
	decoder io.Reader
	in      func() int64 // compressed bytes used so far
	base    int64        // where they begin in the source file
	out     int64
	lim     limits
}

func (m *meter) Read(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.decoder.Read(b)
	m.out += int64(n)
	if m.lim.bomb(m.out, m.in()) {
		err = refuse(Bomb, "%#x bytes from %#x", m.out, m.in())
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, m.damage(err)
}

func (m *meter) damage(err error) error {
	e := &Error{Offset: m.base + m.in(), Reason: reasonOf(err), Err: err}
	var inner *Error
	if errors.As(err, &inner) {
		e.Err = inner.Err
	}
	return e
}

type compression uint8

const (
	uncompressed compression = iota
	gzipped
	xzed
	zstded
)

// compressionOf knows a compression by its magic. A zstd file may begin with a
// skippable frame, 184D2A50 to 184D2A5F.
func compressionOf(magic []byte) compression {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(magic, []byte(xzMagic)):
		return xzed
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstded
	case len(magic) >= 4 && magic[0]&0xf0 == 0x50 && string(magic[1:4]) == "\x2a\x4d\x18":
		return zstded
	}
	return uncompressed
}

// openStream reads the tar that lies, perhaps compressed, in size bytes at off.
func openStream(ctx context.Context, r io.ReaderAt, off, size int64, lim limits) (*stream, error) {
	section := io.NewSectionReader(r, off, size)
	magic, err := peek(section, len(xzMagic))
	if err != nil {
		return nil, err
	}
	c := compressionOf(magic)
	if c == uncompressed {
		p := &plain{SectionReader: section, ctx: ctx}
		pos := func() int64 { n, _ := p.Seek(0, io.SeekCurrent); return off + n }
		return &stream{Reader: p, pos: pos, close: func() {}}, nil
	}
	count := &counter{r: section}
	buffered := bufio.NewReaderSize(count, 64<<10)
	m := &meter{ctx: ctx, base: off, lim: lim}
	m.in = func() int64 { return count.n - int64(buffered.Buffered()) }
	closer, err := m.open(c, buffered)
	if err != nil {
		return nil, m.damage(err)
	}
	return &stream{Reader: m, pos: func() int64 { return m.out }, close: closer}, nil
}

func (m *meter) open(c compression, r *bufio.Reader) (closer func(), err error) {
	closer = func() {}
	switch c {
	case gzipped:
		m.decoder, err = gzip.NewReader(r)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	case xzed:
		m.decoder = newXZReader(r, int64(m.lim.window))
	case zstded:
		var d *zstd.Decoder
		d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(m.lim.window))
		if err == nil {
			m.decoder, closer = d, d.Close
		}
	}
	return closer, err
}

// peek is the first n bytes, or fewer when there are no more.
func peek(r io.ReaderAt, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := r.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}
