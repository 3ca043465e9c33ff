// Following links without the kernel.
//
// An absolute symlink of a rootfs is meant for its guest, and the kernel would
// take it to the host's root. So links are followed here, one component at a
// time, over whatever can say what a path is: a directory or the list of an
// archive's links. ".." above the root, which a chroot would clamp, is refused:
// no distribution ships one, and it is the usual shape of an escape.

package source

import (
	"path"
	"strings"
)

const maxLinks = 40 // what Linux follows

// link is what a path that is a link leads to.
type link struct {
	target string
	hard   bool // target is a path from the root, as in a tar
}

// resolve is the path without links that p leads to. lookup says whether a path
// without links before its last component is itself a link; nil: it is not.
func resolve(p string, lookup func(string) (*link, error)) (string, error) {
	done, rest := "", p
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if done == "" {
				return "", refuse(LinkEscapes, "by way of %q", p)
			}
			done = parent(done)
			continue
		}
		next := path.Join(done, part)
		l, err := lookup(next)
		if err != nil {
			return "", err
		}
		if l == nil {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", refuse(LinkLoop, "at %q", next)
		}
		if l.hard || strings.HasPrefix(l.target, "/") {
			done = ""
		}
		rest = l.target + "/" + rest
	}
	return done, nil
}

// parent is the directory of a clean path, "" for the root.
func parent(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}
