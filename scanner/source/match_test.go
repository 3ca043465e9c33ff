package source

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLibcInterest(t *testing.T) {
	for _, c := range []struct {
		path string
		want interest
	}{
		{"lib/aarch64-linux-gnu/libc.so.6", named},
		{"libc.so.6", named},
		{"usr/lib64/ld-linux-aarch64.so.1", named},
		{"var/lib/flatpak/runtime/x/files/lib/libc.so.6", named},
		{"lib/libpthread.so.0", named},
		{"lib/librt.so.1", named},
		{"lib/libc-2.31.so", named},
		{"lib/ld-2.31.so", named},
		{"lib/libpthread-2.31.so", named},
		{"lib/librt-2.33.9000.so", named},
		{"lib/ld-musl-aarch64.so.1", named},
		{"lib/libc.musl-aarch64.so.1", named},
		{"lib/aarch64-linux-musl/libc.so", maybe},
		{"lib/libc-2.31.so.debug", unwanted},
		{"lib/libc-3.31.so", unwanted},
		{"lib/libc-2.31-x.so", unwanted},
		{"lib/libm-2.31.so", unwanted},
		{"lib/libc.so.60", unwanted},
		{"lib/xlibc.so.6", unwanted},
		{"lib/libc.so.6/x", unwanted},
		{"usr/lib/debug/lib/aarch64-linux-gnu/libc-2.31.so", unwanted},
		{"", unwanted},
	} {
		if got := libcInterest(c.path); got != c.want {
			t.Errorf("libcInterest(%q) = %v, want %v", c.path, got, c.want)
		}
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       interest
	}{
		{"libm.so.6", "usr/lib/libm.so.6", named},
		{"libm*", "usr/lib/libm.so.6", maybe},
		{"usr/lib/*", "usr/lib/libm.so.6", maybe},
		{"/usr/lib/*", "usr/lib/libm.so.6", maybe},
		{"usr/*", "usr/lib/libm.so.6", unwanted},
		{"/usr/lib/libm.so.6", "usr/lib/libm.so.6", named},
		{"/usr/lib/libm.so.6", "opt/usr/lib/libm.so.6", unwanted},
		{"*.so", "lib/libc-2.31.so", named},
		{"*", "usr/lib/debug/libc.so.6", maybe},
		{"libc.so", "usr/lib/libc.so", named},
	} {
		m, err := newMatcher([]string{c.glob})
		if err != nil {
			t.Fatalf("newMatcher(%q): %v", c.glob, err)
		}
		if got := m.interest(c.path); got != c.want {
			t.Errorf("matcher(%q).interest(%q) = %v, want %v", c.glob, c.path, got, c.want)
		}
	}
}

func TestGlobPaths(t *testing.T) {
	m, err := newMatcher([]string{"/lib/a.so", "b.so", "lib/*.so", "usr//lib/./c.so", "../d/e"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lib/a.so", "usr/lib/c.so"}, m.paths()); diff != "" {
		t.Errorf("paths() (-want +got):\n%s", diff)
	}
}

func TestCleanName(t *testing.T) {
	for _, c := range []struct {
		name, want string
		ok         bool
	}{
		{"./usr/lib/x", "usr/lib/x", true},
		{"usr//lib/./x/", "usr/lib/x", true},
		{"./", "", true},
		{"", "", true},
		{"a..b/..c", "a..b/..c", true},
		{"..", "", false},
		{"a/../b", "", false},
		{"a/..", "", false},
		{"/a", "", false},
		{"a\x00b", "", false},
		{strings.Repeat("a", maxName-1), strings.Repeat("a", maxName-1), true},
		{strings.Repeat("a", maxName), strings.Repeat("a", maxName), true},
		{strings.Repeat("a", maxName+1), "", false},
	} {
		got, err := cleanName(c.name)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("cleanName(%.20q) = %.20q, %v, want %.20q, ok %v", c.name, got, err, c.want, c.ok)
		}
		if err != nil && reasonOf(err) != BadName {
			t.Errorf("cleanName(%.20q) refuses with %v, want %v", c.name, reasonOf(err), BadName)
		}
	}
}

func TestResolve(t *testing.T) {
	links := map[string]*link{
		"lib":       {target: "usr/lib"},
		"abs":       {target: "/usr/lib"},
		"usr/lib/l": {target: "../share/./x"},
		"up":        {target: "../x"},
		"top":       {target: "usr/../usr/lib/l"},
		"a":         {target: "b"},
		"b":         {target: "a"},
		"root":      {target: "/"},
		"d/hard":    {target: "usr/lib/real", hard: true},
		"bad/x":     {target: "../../x"},
	}
	lookup := func(p string) (*link, error) { return links[p], nil }
	for _, c := range []struct {
		path, want string
		reason     Reason
	}{
		{"usr/lib/x", "usr/lib/x", 0},
		{"lib/x", "usr/lib/x", 0},
		{"abs/x", "usr/lib/x", 0},
		{"lib/l", "usr/share/x", 0},
		{"top", "usr/share/x", 0},
		{"root/lib/l", "usr/share/x", 0},
		{"d/hard", "usr/lib/real", 0},
		{"root", "", 0},
		{"", "", 0},
		{"up", "", LinkEscapes},
		{"bad/x", "", LinkEscapes},
		{"a", "", LinkLoop},
		{"b/x", "", LinkLoop},
	} {
		got, err := resolve(c.path, lookup)
		var reason Reason
		if err != nil {
			reason = reasonOf(err)
		}
		if got != c.want || reason != c.reason {
			t.Errorf("resolve(%q) = %q, %v, want %q, %v", c.path, got, err, c.want, c.reason)
		}
	}
}

// TestResolveLimit has chains of one link fewer, as many, and one more than allowed.
func TestResolveLimit(t *testing.T) {
	for _, c := range []struct {
		n  int
		ok bool
	}{{maxLinks - 1, true}, {maxLinks, true}, {maxLinks + 1, false}} {
		left := c.n
		_, err := resolve("l", func(string) (*link, error) {
			if left == 0 {
				return nil, nil
			}
			left--
			return &link{target: "l"}, nil
		})
		if (err == nil) != c.ok {
			t.Errorf("resolve over %d links: %v, want ok %v", c.n, err, c.ok)
		}
	}
	boom := errors.New("boom")
	if _, err := resolve("x", func(string) (*link, error) { return nil, boom }); err != boom {
		t.Errorf("resolve with a failing lookup = %v, want %v", err, boom)
	}
}
