// Reading a pack, table by table, from a stream that may be hostile. zstd can
// turn a few bytes into gigabytes and ask for a window as large: the reader takes
// at most MaxPackSize bytes of it, one table at a time, with a small window.

package cachefmt

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// A PackReader yields the tables of a pack in order. It reads no further than
// the table asked for; only the end of the pack proves that nothing follows it.
type PackReader struct {
	z      *zstd.Decoder
	offset int64  // unpacked bytes read so far
	count  int    // tables in the pack
	next   int    // table to read next
	last   Key    // of the table before
	buf    []byte // reused
	err    error  // why there is no next table
}

// NewPackReader reads the header of the pack in r. Close the reader after use.
func NewPackReader(r io.Reader) (*PackReader, error) {
	z, err := zstd.NewReader(r,
		zstd.WithDecoderConcurrency(1), // no goroutines
		zstd.WithDecoderMaxWindow(maxZstdWindow),
		zstd.WithDecoderMaxMemory(maxZstdWindow),
		zstd.WithDecodeBuffersBelow(0)) // never all at once
	if err != nil {
		return nil, fmt.Errorf("pack: %w", zstdError(err, 0))
	}
	p := &PackReader{z: z}
	if err := p.readHeader(); err != nil {
		p.Close()
		return nil, fmt.Errorf("pack: %w", err)
	}
	return p, nil
}

// Len is the number of tables that the pack announces.
func (p *PackReader) Len() int { return p.count }

// Close frees the decoder. It does not close the underlying reader.
func (p *PackReader) Close() {
	p.z.Close()
	p.err = errClosed
}

var errClosed = errors.New("pack: reader is closed")

// Next returns the next table, or io.EOF behind the last one once the stream is
// known to end there. After an error it returns the same error again.
func (p *PackReader) Next() (*Table, error) {
	if p.err != nil {
		return nil, p.err
	}
	t, err := p.read()
	if err != nil {
		p.err = err
		if err != io.EOF {
			p.err = fmt.Errorf("pack: table %d: %w", p.next, err)
		}
		return nil, p.err
	}
	p.next++
	return t, nil
}

// All yields the remaining tables, and at last the error that ended it, if any.
func (p *PackReader) All() iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		for {
			t, err := p.Next()
			if err == io.EOF || !yield(t, err) || err != nil {
				return
			}
		}
	}
}

func (p *PackReader) readHeader() error {
	b, err := p.take(packHeaderSize)
	if err != nil {
		return err
	}
	if string(b[:packVersionAt]) != packMagic {
		return broken(ErrMagic, 0, "% x", b[:packVersionAt])
	}
	if n := le.Uint32(b[packVersionAt:]); n != PackVersion {
		return broken(ErrVersion, packVersionAt, "%d, want %d", n, PackVersion)
	}
	n := le.Uint32(b[packCountAt:])
	if n > MaxPackTables {
		return broken(ErrCount, packCountAt, "%d tables, at most %d", n, MaxPackTables)
	}
	p.count = int(n)
	return nil
}

func (p *PackReader) read() (*Table, error) {
	if p.next == p.count {
		return nil, p.readEnd()
	}
	b, err := p.readSized()
	if err != nil {
		return nil, err
	}
	start := p.offset - int64(len(b))
	t, err := Decode(b)
	if err != nil {
		return nil, inPack(err, start)
	}
	if p.next > 0 {
		if err := follows(t.Key, p.last, start); err != nil {
			return nil, err
		}
	}
	p.last = t.Key
	return t, nil
}

// readSized reads a size and as many bytes, valid until the next call.
func (p *PackReader) readSized() ([]byte, error) {
	b, err := p.take(packSizeSize)
	if err != nil {
		return nil, err
	}
	n := le.Uint32(b)
	at := p.offset - packSizeSize
	switch {
	case n < minSize:
		return nil, &FormatError{ErrShort, at, fmt.Sprintf("size 0x%x, an empty table has 0x%x", n, minSize)}
	case n > MaxSize:
		return nil, &FormatError{ErrLong, at, fmt.Sprintf("size 0x%x, at most 0x%x", n, MaxSize)}
	}
	return p.take(int(n))
}

// readEnd returns io.EOF when the stream ends here.
func (p *PackReader) readEnd() error {
	var b [1]byte
	_, err := io.ReadFull(p.z, b[:])
	switch {
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return zstdError(err, p.offset)
	}
	return &FormatError{ErrLong, p.offset, fmt.Sprintf("bytes behind %d tables", p.count)}
}

// take reads n bytes into the reader's buffer.
func (p *PackReader) take(n int) ([]byte, error) {
	if p.offset+int64(n) > MaxPackSize {
		return nil, &FormatError{ErrLong, p.offset, fmt.Sprintf("more than 0x%x bytes", MaxPackSize)}
	}
	if cap(p.buf) < n {
		p.buf = make([]byte, n)
	}
	b := p.buf[:n]
	got, err := io.ReadFull(p.z, b)
	p.offset += int64(got)
	if err != nil {
		return nil, zstdError(err, p.offset)
	}
	return b, nil
}

// zstdError says whether the stream ended early or is damaged.
func zstdError(err error, offset int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FormatError{ErrShort, offset, "the stream ends"}
	}
	return &FormatError{ErrZstd, offset, err.Error()}
}

// inPack moves a table's error to where the table lies in the pack.
func inPack(err error, start int64) error {
	var f *FormatError
	if errors.As(err, &f) {
		return &FormatError{f.Err, start + f.Offset, f.Detail}
	}
	return err
}

func follows(k, last Key, at int64) error {
	switch c := last.Compare(k); {
	case c == 0:
		return &FormatError{ErrDuplicate, at, k.String()}
	case c > 0:
		return &FormatError{ErrUnsorted, at, fmt.Sprintf("%v after %v", k, last)}
	}
	return nil
}
