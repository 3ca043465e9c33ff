// Package coverage says what scans cover, and what changed: a matrix of many
// builds, golden text that is kept in a repository, the difference of two
// builds, a JUnit report, and one self-contained HTML page.
//
// It promises that all of these depend on the images alone: sorted, no times, no
// paths but the source that the user named, and never more than the scans hold.
// Names come from files of others, so that they reach text only escaped and HTML
// only through html/template.
//
// It refuses a golden file that it does not fully understand, with the line at
// fault, and an image without an ID, because nothing could be filed under it. It
// opens no file and reads no clock.
//
// The surprise of the subject: a lower count is not always a loss. Two glibcs of
// one version serve the same call from different functions, 2.41 moved openat
// from svcs to a bridge, and symbols may be stripped after the build-ID was
// made. So counts are kept by call, kind and function, and compared as such.
package coverage

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// A Build is one image and what a scan found in it.
type Build struct {
	Image         string // file name: libc.so.6
	Source        string // what the user named; shown, never compared
	BuildID       string // hex; for an image that has none, the key of its table
	Libc, Version string // of elfimg.Image.Libc
	Exec          []elfimg.Range
	Svcs          []uint64 // every svc #0 word of Exec, ascending, found without the scanner
	Result        *scanner.Result
}

// NewBuild describes img and the result of its scan. The caller sets BuildID of
// an image that has none.
func NewBuild(image, source string, img *elfimg.Image, result *scanner.Result) *Build {
	b := &Build{
		Image: image, Source: source, BuildID: hex.EncodeToString(img.BuildID),
		Exec: img.Exec, Result: result,
	}
	b.Libc, b.Version = img.Libc()
	for _, r := range img.Exec {
		b.Svcs = appendSvcs(b.Svcs, r.Vaddr, img.Bytes(r))
	}
	return b
}

// svcWord is svc #0, as the bytes of a file.
var svcWord = binary.LittleEndian.AppendUint32(nil, 0xd400_0001)

// appendSvcs is the plainest search there is, because it judges the scanner's.
func appendSvcs(svcs []uint64, vaddr uint64, code []byte) []uint64 {
	for i := 0; i+4 <= len(code); i += 4 {
		if bytes.Equal(code[i:i+4], svcWord) {
			svcs = append(svcs, vaddr+uint64(i))
		}
	}
	return svcs
}

// Label names b in one line: image, libc, version, short build-ID.
func (b *Build) Label() string {
	words := []string{escape(b.Image)}
	for _, w := range []string{b.Libc, b.Version, b.ShortID()} {
		if w != "" {
			words = append(words, escape(w))
		}
	}
	return strings.Join(words, " ")
}

// ShortID is the first 8 digits of the build-ID.
func (b *Build) ShortID() string {
	_, id, keyed := strings.Cut(b.BuildID, ":")
	if !keyed {
		id = b.BuildID
	}
	return id[:min(len(id), 8)]
}

// Role is "libc" or "ld.so" for what every glibc and musl has, whatever the file
// is called, and the file name for any other image.
func (b *Build) Role() string {
	switch {
	case strings.HasPrefix(b.Image, "libc.so"), strings.HasPrefix(b.Image, "libc-2."),
		b.Libc == "musl" && strings.HasPrefix(b.Image, "ld-musl-"):
		return "libc"
	case strings.HasPrefix(b.Image, "ld-"), strings.HasPrefix(b.Image, "ld.so"):
		return "ld.so"
	}
	return b.Image
}

// glibcLibc reports whether b is the libc of a glibc.
func (b *Build) glibcLibc() bool { return b.Libc == "glibc" && b.Role() == "libc" }

// atLeast reports whether b's version is major.minor or later; false when it
// does not tell.
func (b *Build) atLeast(major, minor int) bool {
	first, rest, _ := strings.Cut(b.Version, ".")
	second, _, _ := strings.Cut(rest, ".")
	have, err1 := strconv.Atoi(first)
	haveMinor, err2 := strconv.Atoi(second)
	return err1 == nil && err2 == nil && (have > major || have == major && haveMinor >= minor)
}

// compareBuilds is the order of columns and sections: libcs, then dynamic
// linkers, then the rest; within these by version.
func compareBuilds(a, b *Build) int {
	return cmp.Or(
		cmp.Compare(roleRank(a.Role()), roleRank(b.Role())),
		strings.Compare(a.Role(), b.Role()),
		strings.Compare(a.Libc, b.Libc),
		compareVersions(a.Version, b.Version),
		strings.Compare(a.Image, b.Image),
		strings.Compare(a.BuildID, b.BuildID),
		strings.Compare(a.Source, b.Source),
	)
}

func sortedBuilds(builds []*Build) []*Build {
	return slices.SortedFunc(slices.Values(builds), compareBuilds)
}

func roleRank(role string) int {
	switch role {
	case "libc":
		return 0
	case "ld.so":
		return 1
	}
	return 2
}

// compareVersions orders 2.9 before 2.31, and tells 2.31 from 2.031.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, y := strings.TrimLeft(as[i], "0"), strings.TrimLeft(bs[i], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(as), len(bs)), strings.Compare(a, b))
}
