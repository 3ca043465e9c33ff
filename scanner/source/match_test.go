package source

import (
	"context"
	"errors"
	"fmt"
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
	look := func(p []byte) (*link, error) { return links[string(p)], nil }
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
		got, err := newWalk(t, defaultLimits).resolve(c.path, look)
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
		_, err := newWalk(t, defaultLimits).resolve("l", func([]byte) (*link, error) {
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
	if _, err := newWalk(t, defaultLimits).resolve("x", func([]byte) (*link, error) { return nil, boom }); err != boom {
		t.Errorf("resolve with a failing lookup = %v, want %v", err, boom)
	}
}

// newWalk is a walk that has met nothing yet.
func newWalk(t *testing.T, lim limits) *collector {
	t.Helper()
	c, err := newCollector(t.Context(), "src", Options{}, lim, func(Image) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestResolveComponents has paths of one component fewer, as many, and one more
// than are followed; components that say nothing count too.
func TestResolveComponents(t *testing.T) {
	look := func([]byte) (*link, error) { return nil, nil }
	for _, part := range []string{"./", "a/", "/"} {
		for _, c := range []struct {
			n  int
			ok bool
		}{{maxComponents - 1, true}, {maxComponents, true}, {maxComponents + 1, false}} {
			_, err := newWalk(t, defaultLimits).resolve(strings.Repeat(part, c.n-1)+"x", look)
			if (err == nil) != c.ok || err != nil && reasonOf(err) != TooFar {
				t.Errorf("resolve of %d times %q: %v, want ok %v", c.n, part, err, c.ok)
			}
		}
	}
}

// TestSteps has one step fewer, as many, and one more than a walk may take.
func TestSteps(t *testing.T) {
	lim := defaultLimits
	lim.steps, lim.perName = 100, 10
	for _, c := range []struct {
		bytes int
		ok    bool
	}{{118 * 16, true}, {119*16 + 15, true}, {120 * 16, false}} {
		w := newWalk(t, lim)
		w.seen = 2
		if err := w.step(c.bytes); (err == nil) != c.ok || err != nil && reasonOf(err) != TooManySteps {
			t.Errorf("a path of %d bytes: %v, want ok %v", c.bytes, err, c.ok)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := newWalk(t, lim)
	w.ctx = ctx
	if err := w.step(1); err != context.Canceled {
		t.Errorf("a step of a cancelled walk = %v, want %v", err, context.Canceled)
	}
}

// TestDearLinks: names that begin one long chain end the walk; each of them could
// cost 4 MB of lookups.
func TestDearLinks(t *testing.T) {
	deep := strings.Repeat("a/", 2040)
	var all []entry
	for i := range 38 {
		all = append(all, symlink(fmt.Sprint("l", i), deep+"../x"), symlink(fmt.Sprint(deep, "L", i), fmt.Sprint("/", deep, "L", i+1)))
	}
	for i := range 100 {
		all = append(all, symlink(fmt.Sprintf("d%d/libc.so.6", i), "/"+deep+"L0"))
	}
	r := &recorder{}
	c := newWalk(t, defaultLimits)
	c.opt.OnError = func(err error) { r.problems = append(r.problems, err) }
	err := walkTar(c, openBytes(tarOf(t, all...), defaultLimits))
	if err == nil || reasonOf(err) != TooManySteps {
		t.Errorf("walk = %v, want %v", err, TooManySteps)
	}
	const most = 2 * maxName // of one more step: a path, or what is left of one
	if limit := c.lim.steps + c.seen*c.lim.perName; c.steps <= limit || c.steps > limit+most {
		t.Errorf("%d steps, want a little more than the limit of %d", c.steps, limit)
	}
	if n := len(r.problems); n == 0 || n > 20 || reasonOf(r.problems[0]) != TooFar {
		t.Errorf("%d problems before it: %v, want a few, %v", n, r.problems, TooFar)
	}
}

// TestFairSteps: what a rootfs has to follow lies far below what its names allow,
// whatever a walk may take anyway.
func TestFairSteps(t *testing.T) {
	all := []entry{symlink("lib", "usr/lib"), symlink("usr/lib64", "/lib"), symlink("lib64", "usr/lib64")}
	for i := range 300 {
		dir := fmt.Sprintf("aarch64-linux-gnu/a-package-of-many-parts/plugins/part-%d", i)
		all = append(all, file("usr/lib/"+dir+"/libplugin.so.1.2.3", elf(fmt.Sprint(i))), symlink("usr/lib/"+dir+"/libplugin.so.1", "libplugin.so.1.2.3"),
			symlink("usr/lib/"+fmt.Sprint(i)+".so", "/lib64/"+dir+"/libplugin.so.1"))
		for k := range 10 {
			all = append(all, file(fmt.Sprint("usr/lib/", dir, "/", k), "text"))
		}
	}
	c := newWalk(t, defaultLimits)
	c.lim.steps = 0
	c.match, _ = newMatcher([]string{"*.so"})
	images := 0
	c.yield = func(Image) error { images++; return nil }
	if err := walkTar(c, openBytes(tarOf(t, all...), defaultLimits)); err != nil || images != 300 {
		t.Errorf("walk = %v after %d images, want 300", err, images)
	}
	if limit := c.seen * c.lim.perName; c.steps > limit/16 {
		t.Errorf("%d steps, want at most a sixteenth of %d", c.steps, limit)
	}
}
