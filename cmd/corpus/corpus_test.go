// The corpus made from the small archive of package debian's test data: what a
// run asks the network for, what it leaves alone, and what it repairs.

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svcrelay/cmd/internal/debian"
)

const fixture = "../internal/debian/testdata/"

// world is a corpus folder and the archive it is fetched from.
type world struct {
	dir    string
	asked  []string
	server *httptest.Server
}

func newWorld(t *testing.T) *world {
	w := &world{dir: t.TempDir()}
	files := http.FileServer(http.Dir(fixture + "archive"))
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked = append(w.asked, r.URL.Path)
		files.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.server.Close)
	return w
}

// run builds suites afresh from what is on disk and returns what was asked for.
func (w *world) run(update bool, suites ...string) ([]string, error) {
	w.asked = nil
	b := &builder{dir: w.dir, update: update, say: func(string) {}, open: w.open}
	chosen, err := choose(suites)
	if err == nil {
		err = b.buildAll(chosen)
	}
	return w.asked, err
}

func (w *world) open(suite string) (*debian.Suite, error) {
	f := debian.NewFetcher(debian.Config{"acquire::http::proxy": "DIRECT"}, func(string) {})
	a := debian.Archive{Suite: suite, Bases: []string{w.server.URL}, Keyring: fixture + "keyring.gpg"}
	return debian.Open(f, a, filepath.Join(w.dir, "lists"))
}

// index returns the index without sizes and hashes.
func (w *world) index(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(strings.Join(strings.Split(line, "\t")[:5], " ") + "\n")
	}
	return b.String()
}

// path returns the one file of the corpus that matches a pattern.
func (w *world) path(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s matches %v, %v, want one file", pattern, names, err)
	}
	return names[0]
}

// idOf is the build-ID that readelf -n shows for the fixture's libc.
func idOf(t *testing.T, image string) string {
	t.Helper()
	id, err := buildID(image)
	if err != nil || len(id) != 40 {
		t.Fatalf("buildID(%s) = %q, %v, want 40 digits", image, id, err)
	}
	return id
}

func TestCorpus(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(false, "bullseye", "bookworm"); err != nil {
		t.Fatal(err)
	}
	id := idOf(t, filepath.Join(w.dir, "images/bookworm/libc.so.6"))
	want := `path kind suite package version
debs/bookworm/libc6-dbg_2.36-1_arm64.deb deb bookworm libc6-dbg 2.36-1
debs/bookworm/libc6_2.36-1_arm64.deb deb bookworm libc6 2.36-1
debs/bookworm/musl_1.2.3-1_arm64.deb deb bookworm musl 1.2.3-1
debs/bullseye/libc6-dbg_2.31-1_arm64.deb deb bullseye libc6-dbg 2.31-1
debs/bullseye/libc6_2.31-1_arm64.deb deb bullseye libc6 2.31-1
debs/bullseye/musl_1.2.3-1_arm64.deb deb bullseye musl 1.2.3-1
debug/` + id + `.debug debug bookworm libc6-dbg 2.36-1
debug/` + id + `.debug debug bullseye libc6-dbg 2.31-1
images/bookworm/ld-musl-aarch64.so.1 image bookworm musl 1.2.3-1
images/bookworm/libc.so.6 image bookworm libc6 2.36-1
images/bullseye/ld-musl-aarch64.so.1 image bullseye musl 1.2.3-1
images/bullseye/libc.so.6 image bullseye libc6 2.31-1
`
	if got := w.index(t); got != want {
		t.Errorf("index.tsv is\n%swant\n%s", got, want)
	}
	if asked, err := w.run(false, "bullseye", "bookworm"); err != nil || len(asked) != 0 {
		t.Errorf("second run: error %v, asked for %v, want nothing", err, asked)
	}
	if asked, err := w.run(true, "bookworm"); err != nil || !slices.Equal(asked, []string{"/dists/bookworm/InRelease"}) {
		t.Errorf("with -update: error %v, asked for %v, want the release file", err, asked)
	}
	if got := w.index(t); got != want {
		t.Errorf("after -update index.tsv is\n%swant\n%s", got, want)
	}
}

func TestCorpusRepairs(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(false, "bookworm"); err != nil {
		t.Fatal(err)
	}
	before := w.index(t)
	remove := func(name string) error { return os.Remove(name) }
	cut := func(name string) error { return os.Truncate(name, 100) }
	change := func(name string) error {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		content[len(content)/2] ^= 1
		return os.WriteFile(name, content, 0o644)
	}
	for _, tt := range []struct {
		name, pattern string
		damage        func(string) error
		asked         string // the last request
	}{
		{"package cut", "debs/bookworm/libc6_*", cut, "/pool/main/bookworm/libc6_2.36-1_arm64.deb"},
		{"package changed", "debs/bookworm/musl_*", change, "/pool/main/bookworm/musl_1.2.3-1_arm64.deb"},
		{"package gone", "debs/bookworm/libc6-dbg_*", remove, "/pool/main/bookworm/libc6-dbg_2.36-1_arm64.deb"},
		{"image cut", "images/bookworm/libc.so.6", cut, ""},
		{"image changed", "images/bookworm/ld-musl-aarch64.so.1", change, ""},
		{"debug file gone", "debug/*.debug", remove, ""},
		{"index gone", "index.tsv", remove, "/dists/bookworm/InRelease"},
		{"index cut", "index.tsv", cut, "/dists/bookworm/InRelease"},
	} {
		name := w.path(t, tt.pattern)
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.damage(name); err != nil {
			t.Fatal(err)
		}
		asked, err := w.run(false, "bookworm")
		if last := strings.Join(asked[max(0, len(asked)-1):], ""); err != nil || last != tt.asked {
			t.Errorf("%s: error %v, asked last for %q, want %q", tt.name, err, last, tt.asked)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != string(whole) {
			t.Errorf("%s: the file was not repaired: %v", tt.name, err)
		}
		if got := w.index(t); got != before {
			t.Errorf("%s: index.tsv is\n%swant\n%s", tt.name, got, before)
		}
	}
}

// TestCorpusKeepsWhatItHas: a suite that cannot be fetched does not cost another.
func TestCorpusKeepsWhatItHas(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(false, "bookworm", "trixie"); err == nil || !strings.HasPrefix(err.Error(), "suite trixie: ") {
		t.Fatalf("run with an unknown suite = %v, want an error about trixie", err)
	}
	if asked, err := w.run(false, "bookworm"); err != nil || len(asked) != 0 {
		t.Errorf("afterwards: error %v, asked for %v, want nothing", err, asked)
	}
}

func TestRunUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want int
		say  string
	}{
		{[]string{"-h"}, 0, "usage: corpus"},
		{[]string{"-nope"}, 2, "flag provided but not defined"},
		{[]string{"-dir", t.TempDir(), "warty"}, 2, `corpus: suite "warty": not in the corpus`},
	} {
		var log strings.Builder
		if got := run(tt.args, &log); got != tt.want || !strings.Contains(log.String(), tt.say) {
			t.Errorf("run(%q) = %d, %q, want %d, %q", tt.args, got, log.String(), tt.want, tt.say)
		}
	}
}

func TestOneLineError(t *testing.T) {
	b := &builder{dir: t.TempDir(), say: func(string) {}, open: func(string) (*debian.Suite, error) {
		return nil, errors.Join(errors.New("one"), errors.New("two"))
	}}
	var log strings.Builder
	if got := report(b.buildAll(releases), &log); got != 1 || log.String() != "corpus: one; two\n" {
		t.Errorf("report = %d, %q, want 1 and one line", got, log.String())
	}
	if got := report(nil, &log); got != 0 {
		t.Errorf("report(nil) = %d, want 0", got)
	}
}
