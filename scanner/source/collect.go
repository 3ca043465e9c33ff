// What all containers share: reading one image, returning it once, and keeping
// the walk's memory within bounds.
//
// The size in a header is a claim: a 512-byte sparse member of a tar may say
// that it is 8 EiB long, and a buffer is therefore grown as bytes arrive.

package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
)

// limits are the bounds that do not come from Options; tests lower them.
type limits struct {
	bombFloor int64  // a stream may always unpack to this much,
	bombRatio int64  // and beyond it to so many times its size
	window    uint64 // of zstd, dictionary of xz
	names     int64  // bytes of names and links that are remembered
	problems  int    // problems that are reported
	depth     int    // of directories
	steps     int64  // that links are always followed for,
	perName   int64  // and more of them for each name
}

// A rootfs shrinks to about a third, 1/7 at the best; gzip cannot do better than
// 1/1032. zstd and xz ask for up to 128 MiB at their highest levels.
var defaultLimits = limits{
	bombFloor: 512 << 20,
	bombRatio: 200,
	window:    128 << 20,
	names:     128 << 20,
	problems:  10000,
	depth:     256,
	steps:     4 << 20,
	perName:   64,
}

// bomb reports whether out bytes are too many to come from in bytes.
func (l limits) bomb(out, in int64) bool {
	return out > l.bombFloor && (out-l.bombFloor)/l.bombRatio >= in
}

// collector is one walk.
type collector struct {
	ctx   context.Context
	name  string
	opt   Options
	lim   limits
	match matcher
	yield func(Image) error

	hashes   map[[sha256.Size]byte]struct{} // contents that were yielded
	paths    map[string]struct{}            // guest paths that need no second look
	names    int64                          // bytes of names remembered
	seen     int64                          // names met, in all passes
	steps    int64                          // taken to follow links
	problems int
	input    int64 // size of the archive; 0 for a directory
	kept     int64 // bytes of images read from it
}

func newCollector(ctx context.Context, name string, opt Options, lim limits, yield func(Image) error) (*collector, error) {
	if opt.MaxImage <= 0 {
		opt.MaxImage = DefaultMaxImage
	}
	c := &collector{ctx: ctx, name: name, opt: opt, lim: lim, yield: yield,
		hashes: map[[sha256.Size]byte]struct{}{}, paths: map[string]struct{}{}}
	var err error
	if c.match, err = newMatcher(opt.Globs); err != nil {
		return nil, c.fatal("", 0, err)
	}
	return c, nil
}

// visit notes a guest path and reports whether it is new.
func (c *collector) visit(p string) (bool, error) {
	if _, ok := c.paths[p]; ok {
		return false, nil
	}
	c.paths[p] = struct{}{}
	return true, c.remember(len(p))
}

// remember accounts for a name of n bytes that stays in memory.
func (c *collector) remember(n int) error {
	const overhead = 64 // of a map entry, about
	c.names += int64(n) + overhead
	if c.names > c.lim.names {
		return c.fatal("", 0, refuse(TooManyNames, "%#x bytes of them", c.names))
	}
	return nil
}

// problem reports a member that was left out. Its own error ends the walk.
func (c *collector) problem(member string, off int64, err error) error {
	e := c.fatal(member, off, err)
	if c.opt.OnError == nil || c.ctx.Err() != nil || reasonOf(err) == TooManySteps {
		return e
	}
	if c.problems++; c.problems > c.lim.problems {
		return c.fatal(member, off, refuse(TooManyProblems, "more than %d", c.lim.problems))
	}
	c.opt.OnError(e)
	return nil
}

// fatal completes err to the error that Walk returns; nil stays nil.
func (c *collector) fatal(member string, off int64, err error) error {
	if err == nil {
		return nil
	}
	if cancelled := c.ctx.Err(); cancelled != nil {
		return cancelled
	}
	e := &Error{Source: c.name, Member: member, Offset: off, Reason: reasonOf(err), Err: err}
	var inner *Error
	if errors.As(err, &inner) {
		e.Err = inner.Err
		if inner.Offset != 0 {
			e.Offset = inner.Offset
		}
	}
	return e
}

func isELF(head []byte) bool { return string(head) == "\x7fELF" }

// claimed is how much of a size that only an archive's header vouches for is
// allocated before the bytes are there.
const claimed = 4 << 20

// read returns the whole of an image of that size, or why not: NotELF and TooBig
// are found out before more than four bytes are read.
func (c *collector) read(r io.Reader, size int64) ([]byte, error) {
	head := make([]byte, min(size, 4))
	if err := readFull(r, head); err != nil {
		return nil, err
	}
	if !isELF(head) {
		return nil, &Error{Reason: NotELF}
	}
	if size > c.opt.MaxImage {
		return nil, refuse(TooBig, "%#x bytes, the limit is %#x", size, c.opt.MaxImage)
	}
	first := size
	if c.input > 0 {
		first = min(size, claimed)
	}
	return c.readRest(r, append(make([]byte, 0, first), head...), size)
}

func (c *collector) readRest(r io.Reader, data []byte, size int64) ([]byte, error) {
	for int64(len(data)) < size {
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		data = slices.Grow(data, 1)
		n := len(data)
		data = data[:min(int64(cap(data)), size)]
		if err := readFull(r, data[n:]); err != nil {
			return nil, err
		}
	}
	if c.kept += size; c.input > 0 && c.lim.bomb(c.kept, c.input) {
		return nil, refuse(Bomb, "sparse images of %#x bytes", c.kept)
	}
	return data, nil
}

// take yields an image unless its content was yielded before.
func (c *collector) take(p string, data []byte) error {
	sum := sha256.Sum256(data)
	if _, ok := c.hashes[sum]; ok {
		return nil
	}
	c.hashes[sum] = struct{}{}
	if err := c.remember(len(sum)); err != nil {
		return err
	}
	return c.yield(Image{Path: p, Data: data})
}

// readFull is io.ReadFull for a reader that must not end.
func readFull(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
