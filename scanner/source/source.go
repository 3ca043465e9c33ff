// Package source opens what users have and hands out the images in it: one ELF
// file, a rootfs directory, a tar (plain, gzip, xz or zstd; an Arch
// .pkg.tar.zst is one of these) or a .deb. What a source is, is read from its
// bytes; its name says nothing.
//
// An image is returned when its base name is one that glibc or musl installs
// its C library, its dynamic linker, or the old split libpthread and librt
// under, in whatever directory it lies: a rootfs with flatpak runtimes holds
// several. Options.Globs ask for more. Which machine an image is
// for is not looked at. usr/lib/debug, whose files have the names but not the
// code, is left out unless Options ask for it; a directory's own proc, sys and
// dev are never walked.
//
// It promises: an archive is streamed, and besides its names only the image
// being yielded is in memory; each content is returned once, at the first path
// it was met under, regular files in the order of the source (sorted, in a
// directory) before the targets of symlinks; no path is ever followed out of
// a rootfs, whoever changes it meanwhile; nothing but a regular file is opened,
// and an open never waits.
//
// It refuses, with one line that names the source, the member, the offset and
// an enumerated Reason: names with ".." and absolute names in archives, links
// that climb above the root, loop or cost too much to follow, devices and pipes in the place of images,
// images beyond Options.MaxImage, windows beyond 128 MiB, streams that unpack to
// far more than a rootfs would, and every truncated or damaged container.
package source

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// DefaultMaxImage is the MaxImage of Options that leave it zero.
const DefaultMaxImage = 256 << 20

// An Image is one ELF file of a source. Data belongs to who receives it.
type Image struct {
	Path string // guest path in the source, without a leading slash; of a plain file, its base name
	Data []byte
}

// Options say which images are wanted and where problems go.
type Options struct {
	// Globs ask for more images, in the syntax of path.Match, each matched on the
	// guest path (a leading slash is ignored) and on the base name. A glob without
	// wildcards that has a slash is a guest path and is followed through symlinks.
	Globs []string
	// Libraries walks of a directory only lib, lib64, usr/lib and usr/lib64: a
	// running system has other people's trees beside its own.
	Libraries bool
	// MaxImage is the size of the biggest image that is read; 0: DefaultMaxImage.
	MaxImage int64
	// OnError receives the problems (always an *Error) that concern one member and
	// leave the rest readable. When it is nil, the first one ends the walk.
	OnError func(error)
}

// Kind is what a source turned out to be.
type Kind uint8

const (
	File Kind = iota + 1 // one ELF file
	Dir                  // a directory
	Tar                  // a tar, compressed or not
	Deb                  // a .deb
)

// String names the kind as it is printed.
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Dir:
		return "directory"
	case Tar:
		return "tar"
	case Deb:
		return "deb"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Detect says what name is, from its first bytes. It reads no further than the
// first header of a tar, compressed or not.
func Detect(name string) (Kind, error) {
	f, size, err := openSource(name)
	if err != nil {
		return 0, err
	}
	if f == nil {
		return Dir, nil
	}
	defer f.Close()
	c := collector{ctx: context.Background(), name: name}
	l, err := sniff(c.ctx, f, size, defaultLimits)
	return l.kind, c.fatal("", 0, err)
}

// Walk yields the wanted images of the source name. It returns nil when the
// source was read to its end, even if it held none; an *Error when the source
// cannot be read further, the images yielded before remaining valid only as far
// as the caller trusts a damaged source; ctx's error; or, unchanged, what yield
// returned. Problems of single members go to opt.OnError.
func Walk(ctx context.Context, name string, opt Options, yield func(Image) error) error {
	return walk(ctx, name, opt, defaultLimits, yield)
}

func walk(ctx context.Context, name string, opt Options, lim limits, yield func(Image) error) error {
	c, err := newCollector(ctx, name, opt, lim, yield)
	if err != nil {
		return err
	}
	f, size, err := openSource(name)
	if err != nil {
		return err
	}
	if f == nil {
		return walkDir(c, name)
	}
	defer f.Close()
	return walkFile(c, f, size)
}

// walkFile walks a source that is one file; size is all that is read of it.
func walkFile(c *collector, r io.ReaderAt, size int64) error {
	l, err := sniff(c.ctx, r, size, c.lim)
	if err != nil {
		return c.fatal("", 0, err)
	}
	if l.kind == File {
		data, err := c.read(io.NewSectionReader(r, 0, size), size)
		if err != nil {
			return c.fatal("", 0, err)
		}
		return c.take(filepath.Base(c.name), data)
	}
	c.input = size
	return walkTar(c, func() (*stream, error) {
		return openStream(c.ctx, r, l.off, l.size, c.lim)
	})
}

// openSource opens a source that is a regular file. A directory gives a nil file.
func openSource(name string) (*os.File, int64, error) {
	fail := func(reason Reason, err error) (*os.File, int64, error) {
		return nil, 0, &Error{Source: name, Reason: reason, Err: err}
	}
	fi, err := os.Stat(name)
	if err != nil {
		return fail(Unreadable, err)
	}
	if fi.IsDir() {
		return nil, 0, nil
	}
	if !fi.Mode().IsRegular() {
		return fail(NotRegular, fmt.Errorf("it is %s", modeName(fi.Mode())))
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fail(Unreadable, err)
	}
	size, err := sameRegular(f, fi)
	if err != nil {
		f.Close()
		return fail(reasonOf(err), err)
	}
	return f, size, nil
}
