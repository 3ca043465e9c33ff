// Golden text: what each known build covers, kept in a repository and compared
// by CI. One fact a line and one section a build-ID, so that a review of a new
// scanner reads as the sites that it gained and lost:
//
//	golden 1
//
//	build 405d95c16d01f311a64e09de408605e6410de79c libc.so.6 glibc 2.43
//	count svc-words 418
//	site openat svc __open_nocancel 2
//	unproven openat svc - 1
//	refuse number-in-register svc 1
//
// site and unproven lines are call, kind, function, count; refuse lines are
// reason, kind, count. "-" stands for what is not known. Section names beyond the
// ID are for the reader: only the ID is compared.

package coverage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// GoldenVersion is the format's version, in the first line.
const GoldenVersion = 1

// ErrNoID is the error of a build that has no ID to be filed under.
var ErrNoID = errors.New("no build-ID to file it under")

// A Section is what one build is known to cover.
type Section struct {
	BuildID, Image, Libc, Version string
	Counts                        Counts
}

// A Golden is what many builds are known to cover. The zero value knows none.
type Golden struct {
	Sections []Section // in the order of NewGolden
}

// Find returns the section of a build-ID.
func (g *Golden) Find(id string) (Section, bool) {
	i := slices.IndexFunc(g.Sections, func(s Section) bool { return s.BuildID == id })
	if i < 0 {
		return Section{}, false
	}
	return g.Sections[i], true
}

// Merge returns g with a new section for each of builds; those of other builds
// are kept.
func (g *Golden) Merge(builds []*Build) (*Golden, error) {
	fresh := map[string]bool{}
	merged := &Golden{}
	for _, b := range sortedBuilds(builds) {
		if b.BuildID == "" {
			return nil, fmt.Errorf("image %s: %w", escape(b.Image), ErrNoID)
		}
		if !fresh[b.BuildID] {
			fresh[b.BuildID] = true
			merged.Sections = append(merged.Sections, Section{b.BuildID, b.Image, b.Libc, b.Version, b.Counts()})
		}
	}
	for _, s := range g.Sections {
		if !fresh[s.BuildID] {
			merged.Sections = append(merged.Sections, s)
		}
	}
	slices.SortFunc(merged.Sections, compareSections)
	return merged, nil
}

func compareSections(a, b Section) int { return compareBuilds(a.build(), b.build()) }

func (s Section) build() *Build {
	return &Build{BuildID: s.BuildID, Image: s.Image, Libc: s.Libc, Version: s.Version}
}

// Write writes g, the same for equal goldens.
func (g *Golden) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "golden %d\n", GoldenVersion)
	for _, s := range slices.SortedFunc(slices.Values(g.Sections), compareSections) {
		s.write(out)
	}
	return out.Flush()
}

func (s Section) write(w io.Writer) {
	line := func(words ...string) { fmt.Fprintln(w, strings.Join(words, " ")) }
	line()
	line("build", escape(s.BuildID), escape(s.Image), escape(s.Libc), escape(s.Version))
	for c, n := range s.Counts.Totals {
		line("count", Counter(c).String(), fmt.Sprint(n))
	}
	writeSites(line, "site", s.Counts.Accepted)
	writeSites(line, "unproven", s.Counts.Unproven)
	for _, r := range unionKeys(s.Counts.Refused, nil, compareRefusals) {
		line("refuse", r.Reason.String(), r.Kind.String(), fmt.Sprint(s.Counts.Refused[r]))
	}
}

func writeSites(line func(...string), verb string, sites map[Key]int) {
	for _, k := range unionKeys(sites, nil, compareKeys) {
		line(verb, CallName(k.Number), k.Kind.String(), escape(k.Function), fmt.Sprint(sites[k]))
	}
}
