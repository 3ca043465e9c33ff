package main

import (
	"iter"
	"strings"
	"testing"

	"svcrelay/cmd/internal/debian"
)

func TestImageName(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"lib/aarch64-linux-gnu/libc-2.31.so", "libc.so.6"},
		{"usr/lib/aarch64-linux-gnu/libc.so.6", "libc.so.6"},
		{"lib/aarch64-linux-gnu/ld-2.31.so", "ld-linux-aarch64.so.1"},
		{"usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1", "ld-linux-aarch64.so.1"},
		{"lib/aarch64-linux-gnu/libpthread-2.31.so", "libpthread.so.0"},
		{"lib/aarch64-linux-gnu/librt-2.31.so", "librt.so.1"},
		{"lib/aarch64-linux-gnu/libanl-2.31.so", "libanl.so.1"},
		{"lib/aarch64-linux-gnu/libpthread.so.0", ""},
		{"lib/aarch64-linux-musl/libc.so", "ld-musl-aarch64.so.1"},
		{"usr/lib/aarch64-linux-musl/libc.so", "ld-musl-aarch64.so.1"},
		{"lib/aarch64-linux-gnu/gconv/libc.so.6", ""},
		{"etc/lib/aarch64-linux-gnu/libc.so.6", ""},
		{"lib/x86_64-linux-gnu/libc.so.6", ""},
		{"lib/aarch64-linux-gnu/libc-client.so", ""},
	} {
		if got := imageName(tt.file); got != tt.want {
			t.Errorf("imageName(%s) = %q, want %q", tt.file, got, tt.want)
		}
	}
}

func TestDebugID(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"usr/lib/debug/.build-id/40/5d95c16d.debug", "405d95c16d"},
		{"usr/lib/debug/.build-id/40/5d95c16d", ""},
		{"usr/lib/debug/lib/libc.debug", ""},
	} {
		if got := debugID(tt.file); got != tt.want {
			t.Errorf("debugID(%s) = %q, want %q", tt.file, got, tt.want)
		}
	}
}

func TestIsGlibc(t *testing.T) {
	for _, tt := range []struct {
		version, glibc string
		want           bool
	}{
		{"2.43-7", "2.43", true}, {"2.43.9000-1", "2.43", true}, {"2.44-1", "2.43", false}, {"2.4-1", "2.43", false}, {"2.431-1", "2.43", false},
	} {
		if got := isGlibc(tt.version, tt.glibc); got != tt.want {
			t.Errorf("isGlibc(%s, %s) = %v, want %v", tt.version, tt.glibc, got, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ index, want string }{
		{"b=1 x=9 a=2", "a=2 b=1"},
		{"a=2", "package b: not in the index"},
		{"a=2 b=1 a=3", "package a: listed as 2 and as 3"},
	} {
		var said []string
		got, err := find(indexOf(tt.index), []string{"a", "b"})
		for _, p := range got {
			said = append(said, p.Name+"="+p.Version)
		}
		if err != nil {
			said = []string{err.Error()}
		}
		if s := strings.Join(said, " "); s != tt.want {
			t.Errorf("find in %q = %s, want %s", tt.index, s, tt.want)
		}
	}
}

// indexOf makes an index of "name=version" words.
func indexOf(words string) iter.Seq2[debian.Package, error] {
	return func(yield func(debian.Package, error) bool) {
		for _, w := range strings.Fields(words) {
			name, version, _ := strings.Cut(w, "=")
			if !yield(debian.Package{Name: name, Version: version}, nil) {
				return
			}
		}
	}
}

func TestParseRow(t *testing.T) {
	good := row{path: "images/x/libc.so.6", kind: kindImage, suite: "x", pkg: "libc6", version: "1-2",
		sum: debian.Sum{Size: 12, SHA256: "ab"}, buildID: "cd"}
	if got, err := parseRow(good.String()); err != nil || got != good {
		t.Errorf("parseRow(%q) = %+v, %v, want %+v", good, got, err, good)
	}
	good.buildID = ""
	if got, err := parseRow(good.String()); err != nil || got != good {
		t.Errorf("parseRow(%q) = %+v, %v, want %+v", good, got, err, good)
	}
	for _, line := range []string{
		"",
		good.String() + "\tmore",
		strings.Replace(good.String(), "images/", "../", 1),
		strings.Replace(good.String(), "images/", "/etc/", 1),
		strings.Replace(good.String(), "\t12\t", "\tmany\t", 1),
	} {
		if got, err := parseRow(line); err == nil {
			t.Errorf("parseRow(%q) = %+v, want an error", line, got)
		}
	}
}
