// Package rootfs makes guest trees out of Debian packages, as read-only images
// that the test machine mounts.
//
// It promises that an image holds what the packages hold, owned by root and
// with one time for all files, so that the same packages make the same image.
// No maintainer script runs: the few files that programs cannot do without are
// written instead (skeleton.go). It refuses package entries whose links or names would
// lead out of the tree.
package rootfs

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"svcrelay/cmd/internal/depend"
)

// A Root is a guest tree to be made.
type Root struct {
	Name  string // of the suite, and of the folder below /r in the machine
	Glibc string // the version the suite is here for
	Wants []string
}

// small is what tests of one glibc need, full what the real programs need.
var (
	small = []string{
		"base-files", "base-passwd", "bash", "coreutils", "dash", "debianutils", "diffutils", "findutils", "gdb-minimal",
		"grep", "gzip", "hostname", "libc-bin", "mawk", "mount", "passwd", "perl-base", "procps", "proot", "python3",
		"sed", "strace", "tar", "util-linux",
	}
	full = slices.Concat(without(small, "gdb-minimal"), []string{
		"apt", "bzip2", "dpkg", "file", "gcc", "gdb", "git", "less", "libc6-dev", "make", "xz-utils",
	})
)

// Base is the root that the machine itself runs from: the one whose proot is the
// newest that Debian has.
const Base = "trixie"

// Roots are all guest trees.
var Roots = []Root{
	{"bullseye", "2.31", small},
	{"bookworm", "2.36", full},
	{"trixie", "2.41", small},
	{"forky", "2.43", full},
}

// Names of all guest trees, in the order of Roots.
func Names() []string {
	var names []string
	for _, r := range Roots {
		names = append(names, r.Name)
	}
	return names
}

// scripted are packages that only maintainer scripts, or the tools that run
// them, use.
var scripted = []string{
	"debconf", "debconf-2.0", "init-system-helpers", "install-info", "media-types", "mime-support", "systemd", "systemd-standalone-sysusers",
	"sysvinit-utils", "ucf", "adduser", "lsb-base",
}

// Follow is the rule for the needs of a tree's packages.
func Follow(need string) bool { return !slices.Contains(scripted, need) }

// format is raised when the same packages make another image.
const format = 1

// Key changes when the image has to be made anew.
func (r Root) Key() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s %q %q", format, r.Name, r.Wants, scripted))
	return fmt.Sprintf("%x", h[:8])
}

// list is the text that says what an image was made of.
func list(r Root, debs []depend.Deb) string {
	var b strings.Builder
	fmt.Fprintf(&b, "key\t%s\n", r.Key())
	for _, d := range debs {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", d.Name, d.Version, d.Sum.SHA256)
	}
	return b.String()
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}
