// A suite's package index, streamed: 60 MB of text that nobody needs at once.
// Names in it become names on disk and in URLs, so their shape is checked here
// and an entry of the wrong shape is an error, not a file somewhere else.

package debian

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"regexp"
	"strings"
)

// A Package is one entry of an index.
type Package struct {
	Name, Version, Arch string
	// Depends, PreDepends: every group must be met by one of its names. Version
	// bounds are dropped: one suite's index is consistent with itself.
	Depends, PreDepends [][]string
	Provides            []string
	Filename            string // slash-separated, below the archive's base
	Sum                 Sum
}

var (
	nameShape    = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]*$`)
	versionShape = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+:~-]*$`)
	archShape    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	pathShape    = regexp.MustCompile(`^[0-9A-Za-z._/+~:%-]+\.deb$`)
)

// isArchivePath reports whether name stays below the archive's base.
func isArchivePath(name string) bool { return pathShape.MatchString(name) && fs.ValidPath(name) }

// LocalName is the package's usual file name, a colon escaped the way apt does.
func (p Package) LocalName() string {
	return p.Name + "_" + strings.ReplaceAll(p.Version, ":", "%3a") + "_" + p.Arch + ".deb"
}

// readPackages yields the entries of an uncompressed index. After an error it
// yields nothing more.
func readPackages(r io.Reader) iter.Seq2[Package, error] {
	return func(yield func(Package, error) bool) {
		for f, err := range paragraphs(r) {
			var p Package
			if err == nil {
				p, err = packageOf(f)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

func packageOf(f fields) (Package, error) {
	p := Package{
		Name:       f["package"],
		Version:    f["version"],
		Arch:       f["architecture"],
		Depends:    relations(f["depends"]),
		PreDepends: relations(f["pre-depends"]),
		Filename:   f["filename"],
	}
	for _, group := range relations(f["provides"]) {
		p.Provides = append(p.Provides, group...)
	}
	if !nameShape.MatchString(p.Name) {
		return p, fmt.Errorf("package %.80q: not a package's name", p.Name)
	}
	if !versionShape.MatchString(p.Version) {
		return p, fmt.Errorf("package %s: version %.80q refused", p.Name, p.Version)
	}
	if !archShape.MatchString(p.Arch) {
		return p, fmt.Errorf("package %s: architecture %.80q refused", p.Name, p.Arch)
	}
	if !isArchivePath(p.Filename) {
		return p, fmt.Errorf("package %s: file name %.80q refused", p.Name, p.Filename)
	}
	var err error
	if p.Sum, err = parseSum(f["size"], f["sha256"]); err != nil {
		return p, fmt.Errorf("package %s: %w", p.Name, err)
	}
	return p, nil
}

// relations splits "a (>= 1), b:any | c" into [[a] [b c]].
func relations(value string) [][]string {
	var groups [][]string
	for _, group := range strings.Split(value, ",") {
		var names []string
		for _, alt := range strings.Split(group, "|") {
			if w := strings.FieldsFunc(alt, isAfterName); len(w) > 0 {
				names = append(names, w[0])
			}
		}
		if names != nil {
			groups = append(groups, names)
		}
	}
	return groups
}

// isAfterName reports whether r ends a package's name in a relation.
func isAfterName(r rune) bool { return strings.ContainsRune(" \t\n:([<", r) }
