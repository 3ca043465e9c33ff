// Following links without the kernel.
//
// An absolute symlink of a rootfs is meant for its guest, and the kernel would
// take it to the host's root. So links are followed here, one component at a
// time, over whatever can say what a path is: a directory or the list of an
// archive's links. ".." above the root, which a chroot would clamp, is refused:
// no distribution ships one, and it is the usual shape of an escape.
//
// A chain of links is cheap to write and dear to follow: 40 of them with 4 KB
// each fit into 950 bytes of zstd, and thousands of names may begin with one. So
// what is followed is counted, for each path and for the whole walk.

package source

import (
	"bytes"
	"strings"
)

const (
	maxLinks      = 40   // what Linux follows
	maxComponents = 4096 // twice what a path of PATH_MAX has
)

// link is what a path that is a link leads to.
type link struct {
	target string
	hard   bool // target is a path from the root, as in a tar
}

// A lookup says whether a path without links before its last component is itself
// a link; nil: it is not. The path is valid during the call.
type lookup func(path []byte) (*link, error)

// resolve is the path without links that p leads to.
func (c *collector) resolve(p string, look lookup) (string, error) {
	var done []byte
	for rest, links, components := p, 0, 0; rest != ""; components++ {
		if components == maxComponents {
			return "", refuse(TooFar, "more than %d by way of %q", maxComponents, p)
		}
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if len(done) == 0 {
				return "", refuse(LinkEscapes, "by way of %q", p)
			}
			done = parent(done)
			continue
		}
		dir := done
		if len(done) > 0 {
			done = append(done, '/')
		}
		done = append(done, part...)
		l, err := look(done)
		if err == nil {
			err = c.step(len(done))
		}
		if err != nil {
			return "", err
		}
		if l == nil {
			continue
		}
		if links++; links > maxLinks {
			return "", refuse(LinkLoop, "at %q", done)
		}
		done = dir
		if l.hard || strings.HasPrefix(l.target, "/") {
			done = nil
		}
		rest = l.target + "/" + rest
		if err := c.step(len(rest)); err != nil {
			return "", err
		}
	}
	return string(done), nil
}

// step accounts for a path of n bytes that was looked up or copied. Its error
// ends the walk.
func (c *collector) step(n int) error {
	const bytesPerStep = 16
	c.steps += 1 + int64(n)/bytesPerStep
	if c.steps > c.lim.steps+c.seen*c.lim.perName {
		return refuse(TooManySteps, "%#x of them for %#x names", c.steps, c.seen)
	}
	return c.ctx.Err()
}

// parent is the directory of a clean path, empty for the root.
func parent(p []byte) []byte { return p[:max(0, bytes.LastIndexByte(p, '/'))] }
