// Which names are images.
//
// glibc renamed its files in 2.34: before, libc.so.6 was a symlink to
// libc-2.31.so and threads lived in libpthread-2.31.so, so a scanner that knows
// only the new names finds symlinks and no image in an old archive. And
// "libc.so" is two things: musl's library, or glibc's linker script, a text.

package source

import (
	"path"
	"strings"
)

// interest is how much a name is wanted.
type interest uint8

const (
	unwanted interest = iota
	maybe             // wanted if it is an ELF file, and no word said if it is not
	named             // an image by its name: anything else there is a problem
)

var soNames = map[string]interest{
	"libc.so.6":              named,
	"ld-linux-aarch64.so.1":  named,
	"libpthread.so.0":        named,
	"librt.so.1":             named,
	"ld-musl-aarch64.so.1":   named,
	"libc.musl-aarch64.so.1": named,
	"libc.so":                maybe,
}

// oldStems are the parts before "2.31.so" of the names before glibc 2.34.
var oldStems = []string{"libc-", "ld-", "libpthread-", "librt-"}

// isOldName reports whether base is a name like libc-2.31.so.
func isOldName(base string) bool {
	for _, stem := range oldStems {
		rest, ok := strings.CutPrefix(base, stem)
		version, so := strings.CutSuffix(rest, ".so")
		if ok && so {
			return strings.HasPrefix(version, "2.") && strings.Trim(version, "0123456789.") == ""
		}
	}
	return false
}

// libcInterest is the interest in a guest path without any globs.
func libcInterest(p string) interest {
	base := path.Base(p)
	switch {
	case strings.HasPrefix(p, "usr/lib/debug/"):
		return unwanted
	case isOldName(base):
		return named
	}
	return soNames[base]
}

func hasWildcard(glob string) bool { return strings.ContainsAny(glob, `*?[\`) }

// matcher is the set of globs of one walk.
type matcher struct {
	globs []string
}

func newMatcher(globs []string) (matcher, error) {
	var m matcher
	for _, g := range globs {
		g = strings.TrimLeft(g, "/")
		if _, err := path.Match(g, ""); err != nil || g == "" {
			return m, refuse(BadGlob, "%q", g)
		}
		m.globs = append(m.globs, g)
	}
	return m, nil
}

// interest is the interest in a guest path.
func (m matcher) interest(p string) interest {
	most := libcInterest(p)
	for _, g := range m.globs {
		if most == named {
			break
		}
		if !globMatches(g, p) {
			continue
		}
		most = maybe
		if !hasWildcard(g) {
			most = named
		}
	}
	return most
}

func globMatches(glob, p string) bool {
	whole, _ := path.Match(glob, p)
	base, _ := path.Match(glob, path.Base(p))
	return whole || base
}

// paths are the globs that are guest paths, to be followed through symlinks.
func (m matcher) paths() []string {
	var all []string
	for _, g := range m.globs {
		if p, err := cleanName(g); err == nil && !hasWildcard(g) && strings.Contains(p, "/") {
			all = append(all, p)
		}
	}
	return all
}

const maxName = 4096 // PATH_MAX

// cleanName is the guest path that an archive's member name stands for, ""
// for the root itself.
func cleanName(name string) (string, error) {
	switch {
	case len(name) > maxName:
		return "", refuse(BadName, "%#x bytes long", len(name))
	case strings.HasPrefix(name, "/"):
		return "", refuse(BadName, "absolute")
	case strings.IndexByte(name, 0) >= 0:
		return "", refuse(BadName, "a NUL inside")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", refuse(BadName, `".." inside`)
		}
	}
	if p := path.Clean(name); p != "." {
		return p, nil
	}
	return "", nil
}
