// What the corpus is. The suites are chosen by the glibc they carry, each with a
// shape of its own: 2.31 keeps threads and timers in libraries of their own and
// names files by version, 2.36 cancels asynchronously, 2.41 and 2.43 have the
// cancellation bridge.

package main

import (
	"path"
	"strings"
)

const arch = "arm64"

// A release is one suite of the corpus.
type release struct {
	suite string
	glibc string // the version the suite is here for
}

var releases = []release{
	{"bullseye", "2.31"},
	{"bookworm", "2.36"},
	{"trixie", "2.41"},
	{"forky", "2.43"},
}

// packages are fetched from every suite; debugPackage is the one with the
// symbols of the others.
var packages = []string{"libc6", debugPackage, "musl"}

const debugPackage = "libc6-dbg"

// images maps files inside packages to names under images/SUITE. Patterns with
// a version match only up to glibc 2.33: later libpthread, librt and libanl are
// empty shells and not wanted.
var images = []struct{ pattern, name string }{
	{"lib/aarch64-linux-gnu/libc.so.6", "libc.so.6"},
	{"lib/aarch64-linux-gnu/libc-[0-9]*.so", "libc.so.6"},
	{"lib/aarch64-linux-gnu/ld-linux-aarch64.so.1", "ld-linux-aarch64.so.1"},
	{"lib/aarch64-linux-gnu/ld-[0-9]*.so", "ld-linux-aarch64.so.1"},
	{"lib/aarch64-linux-gnu/libpthread-[0-9]*.so", "libpthread.so.0"},
	{"lib/aarch64-linux-gnu/librt-[0-9]*.so", "librt.so.1"},
	{"lib/aarch64-linux-gnu/libanl-[0-9]*.so", "libanl.so.1"},
	{"lib/aarch64-linux-musl/libc.so", "ld-musl-aarch64.so.1"},
}

// imageName is the corpus name of a file inside a package, or "".
func imageName(file string) string {
	file = strings.TrimPrefix(file, "usr/")
	for _, i := range images {
		if ok, _ := path.Match(i.pattern, file); ok {
			return i.name
		}
	}
	return ""
}

// debugID is the build-ID that a file of the debug package belongs to, or "".
func debugID(file string) string {
	rest, ok := strings.CutPrefix(file, "usr/lib/debug/.build-id/")
	rest, ok2 := strings.CutSuffix(rest, ".debug")
	if !ok || !ok2 {
		return ""
	}
	return strings.Replace(rest, "/", "", 1)
}

// isGlibc reports whether a package version is of the glibc release.
func isGlibc(version, glibc string) bool {
	return strings.HasPrefix(version, glibc+"-") || strings.HasPrefix(version, glibc+".")
}
