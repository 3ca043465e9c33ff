// The whole chain against the archive in testdata, which testdata/make-archive.sh
// made: signature, index, packages; and what happens when a link of it is wrong.

package debian

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	goodKeys     = "testdata/keyring.gpg"
	strangerKeys = "testdata/stranger.gpg"
)

// A mirror serves testdata/archive and may change what it serves.
type mirror struct {
	change func(path string, content []byte) []byte // nil result: 503
	asked  []string
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.asked = append(m.asked, r.URL.Path)
	content, err := os.ReadFile(filepath.Join("testdata/archive", filepath.FromSlash(r.URL.Path)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if m.change != nil {
		content = m.change(r.URL.Path, content)
	}
	if content == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Write(content)
}

// start returns a fetcher that does not pause, and an archive on a mirror.
func start(t *testing.T, m *mirror, suite string) (*Fetcher, Archive) {
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	f := NewFetcher(Config{"acquire::http::proxy": "DIRECT"}, func(string) {})
	f.pause = func(int) {}
	return f, Archive{Suite: suite, Bases: []string{server.URL}, Keyring: goodKeys}
}

// fetchAll fetches every package of a suite into dir.
func fetchAll(f *Fetcher, a Archive, dir string) ([]Package, error) {
	s, err := Open(f, a, filepath.Join(dir, "lists"))
	if err != nil {
		return nil, err
	}
	var all []Package
	for p, err := range s.Packages("arm64") {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
		if err := s.Fetch(p, filepath.Join(dir, p.LocalName())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// tree lists the regular files under dir.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			fmt.Fprintln(&b, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const bookwormTree = `libc6-dbg_2.36-1_arm64.deb
libc6_2.36-1_arm64.deb
lists/bookworm_arm64_Packages.xz
musl_1.2.3-1_arm64.deb
`

func TestFetchSuite(t *testing.T) {
	m, dir := &mirror{}, t.TempDir()
	f, a := start(t, m, "bookworm")
	all, err := fetchAll(f, a, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); got != bookwormTree {
		t.Errorf("files are\n%swant\n%s", got, bookwormTree)
	}
	m.asked = nil
	if _, err := fetchAll(f, a, dir); err != nil || len(m.asked) != 1 {
		t.Errorf("second run: error %v, asked for %v, want the release file only", err, m.asked)
	}
	for _, damage := range []func(string) error{
		func(name string) error { return os.Truncate(name, 1) },
		func(name string) error { return os.WriteFile(name, make([]byte, all[0].Sum.Size), 0o644) },
		os.Remove,
	} {
		name := filepath.Join(dir, all[0].LocalName())
		if err := damage(name); err != nil {
			t.Fatal(err)
		}
		if _, err := fetchAll(f, a, dir); err != nil || !Matches(name, all[0].Sum) {
			t.Errorf("after damage: error %v, Matches = %v", err, Matches(name, all[0].Sum))
		}
	}
}

// flip changes one byte of the file whose path contains part.
func flip(part string) func(string, []byte) []byte {
	return func(path string, content []byte) []byte {
		if strings.Contains(path, part) {
			content = bytes.Clone(content)
			content[len(content)/3] ^= 1
		}
		return content
	}
}

func TestFetchSuiteRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		suite  string
		change func(string, []byte) []byte
		edit   func(*Archive)
		want   string
		left   string
	}{
		{"changed release", "bookworm", flip("InRelease"), nil, "signature: does not match the text", ""},
		{"unsigned release", "bookworm", cutSignature, nil, "signature: there is none", ""},
		{"unknown key", "bookworm", nil, func(a *Archive) { a.Keyring = strangerKeys }, "signature: none by a usable key: NO_PUBKEY", ""},
		{"no keyring", "bookworm", nil, func(a *Archive) { a.Keyring = "testdata/none.gpg" }, "signature: none by a usable key", ""},
		{"another suite's release", "bookworm", swapRelease, nil, `is for "bullseye"`, ""},
		{"no such suite", "trixie", nil, nil, "404 Not Found", ""},
		{"changed index", "bookworm", flip("by-hash"), nil, "sha256 is", ""},
		{"short index", "bookworm", short("by-hash"), nil, "size is", ""},
		{"changed package", "bookworm", flip("libc6_"), nil, "sha256 is", "lists/bookworm_arm64_Packages.xz\n"},
		{"long package", "bookworm", long("libc6_"), nil, "longer than", "lists/bookworm_arm64_Packages.xz\n"},
		{"huge release", "bookworm", long("InRelease"), nil, "longer than", ""},
	} {
		dir := t.TempDir()
		f, a := start(t, &mirror{change: tt.change}, tt.suite)
		if tt.edit != nil {
			tt.edit(&a)
		}
		_, err := fetchAll(f, a, dir)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want %s", tt.name, err, tt.want)
		}
		if got := tree(t, dir); got != tt.left {
			t.Errorf("%s: left %q, want %q", tt.name, got, tt.left)
		}
	}
}

func cutSignature(path string, content []byte) []byte {
	if strings.HasSuffix(path, "InRelease") {
		_, text, _ := bytes.Cut(content, []byte("\n\n"))
		content, _, _ = bytes.Cut(text, []byte("-----BEGIN"))
	}
	return content
}

func swapRelease(path string, content []byte) []byte {
	if strings.HasSuffix(path, "InRelease") {
		content, _ = os.ReadFile("testdata/archive/dists/bullseye/InRelease")
	}
	return content
}

func short(part string) func(string, []byte) []byte {
	return func(path string, content []byte) []byte {
		if strings.Contains(path, part) {
			content = content[:len(content)-1]
		}
		return content
	}
}

func long(part string) func(string, []byte) []byte {
	return func(path string, content []byte) []byte {
		if strings.Contains(path, part) {
			content = append(content, make([]byte, maxRelease)...)
		}
		return content
	}
}

// TestVerifyCoveredTextOnly: what stands outside the signature is not returned.
func TestVerifyCoveredTextOnly(t *testing.T) {
	signed, err := os.ReadFile("testdata/archive/dists/bookworm/InRelease")
	if err != nil {
		t.Fatal(err)
	}
	want, err := verify(goodKeys, signed)
	if err != nil || !bytes.HasPrefix(want, []byte("Origin: Debian\n")) || !bytes.Contains(want, []byte("Packages.xz")) {
		t.Fatalf("verify = %q, %v", want, err)
	}
	got, err := verify(goodKeys, append([]byte("Origin: Evil\n\n"), signed...))
	if err == nil && !bytes.Equal(got, want) {
		t.Errorf("verify with text before = %q, want %q or an error", got, want)
	}
	got, err = verify(goodKeys, append(signed, "\nOrigin: Evil\n"...))
	if err == nil && !bytes.Equal(got, want) {
		t.Errorf("verify with text behind = %q, want %q or an error", got, want)
	}
}

// TestSecondBase: a base without a good release is passed over.
func TestSecondBase(t *testing.T) {
	f, a := start(t, &mirror{}, "bookworm")
	_, other := start(t, &mirror{change: flip("InRelease")}, "bookworm")
	a.Bases = append(other.Bases, a.Bases...)
	if all, err := fetchAll(f, a, t.TempDir()); err != nil || len(all) != 3 {
		t.Errorf("fetchAll = %d packages, %v, want 3", len(all), err)
	}
}

// TestExpired: an expired release, such as the fixture's bullseye, gets a note.
func TestExpired(t *testing.T) {
	for suite, want := range map[string]bool{
		"bullseye": true,
		"bookworm": false,
	} {
		f, a := start(t, &mirror{}, suite)
		noted := false
		f.say = func(what string) { noted = noted || strings.HasSuffix(what, "InRelease expired on 2021-11-06") }
		if _, err := fetchAll(f, a, t.TempDir()); err != nil || noted != want {
			t.Errorf("%s: error %v, noted %v, want %v", suite, err, noted, want)
		}
	}
}

// TestRetry: a server's weakness is asked again, up to a limit; its "no" is not.
func TestRetry(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fails int
		path  string
		asked int
		ok    bool
	}{
		{"at once", 0, "dists/bookworm/InRelease", 1, true},
		{"last attempt", attempts - 1, "dists/bookworm/InRelease", attempts, true},
		{"one too many", attempts, "dists/bookworm/InRelease", attempts, false},
		{"not there", 0, "dists/none/InRelease", 1, false},
	} {
		m, left := &mirror{}, tt.fails
		m.change = func(_ string, content []byte) []byte {
			if left--; left >= 0 {
				return nil
			}
			return content
		}
		f, a := start(t, m, "bookworm")
		_, err := f.Bytes(a.Bases[0], tt.path, maxRelease)
		if (err == nil) != tt.ok || len(m.asked) != tt.asked {
			t.Errorf("%s: error %v after %d requests, want ok %v after %d", tt.name, err, len(m.asked), tt.ok, tt.asked)
		}
	}
}

func TestUnreachable(t *testing.T) {
	f, a := start(t, &mirror{}, "bookworm")
	a.Bases = []string{"http://127.0.0.1:1/debian"}
	_, err := Open(f, a, t.TempDir())
	if err == nil || !strings.HasPrefix(err.Error(), "suite bookworm: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Open of an unreachable mirror = %v, want one line that starts with the suite", err)
	}
}

func TestUnpack(t *testing.T) {
	deb := "testdata/archive/pool/main/bullseye/libc6_2.31-1_arm64.deb"
	var got []string
	err := Unpack(deb, func(name string, r io.Reader) error {
		content, err := io.ReadAll(r)
		got = append(got, fmt.Sprintf("%s %.4q", name, content))
		return err
	})
	want := `lib/aarch64-linux-gnu/gconv/libc.so.6 "not " lib/aarch64-linux-gnu/libc-2.31.so "\x7fELF"`
	if s := strings.Join(got, " "); s != want || err != nil {
		t.Errorf("Unpack = %s, %v, want %s", s, err, want)
	}
	stop := errors.New("stop")
	if err := Unpack(deb, func(string, io.Reader) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Unpack with a failing visit = %v, want %v", err, stop)
	}
	if err := Unpack("testdata/keyring.gpg", nil); err == nil || !strings.Contains(err.Error(), "keyring.gpg: dpkg-deb: ") {
		t.Errorf("Unpack of no package = %v, want the words of dpkg-deb", err)
	}
}

func TestWriteFileKeepsOld(t *testing.T) {
	dir := t.TempDir()
	name, stop := filepath.Join(dir, "sub", "f"), errors.New("stop")
	put := func(text string, err error) error {
		return WriteFile(name, func(w io.Writer) error { io.WriteString(w, text); return err })
	}
	if err := put("old", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("new", stop); !errors.Is(err, stop) {
		t.Errorf("WriteFile = %v, want %v", err, stop)
	}
	if got, err := os.ReadFile(name); string(got) != "old" || err != nil {
		t.Errorf("after a failure the file holds %q, %v, want the old content", got, err)
	}
	if got := tree(t, dir); got != "sub/f\n" {
		t.Errorf("files are %q, want sub/f alone", got)
	}
}
