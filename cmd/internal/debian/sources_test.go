package debian

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDeb822(t *testing.T) {
	const text = `# a comment
Types: deb deb-src
URIs: http://one.invalid/debian/
Suites: bookworm bookworm-updates
# a comment inside
Components: main
 contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
Enabled: no
URIs: http://off.invalid/
Suites: bookworm
Components: main

Types: deb-src
URIs: http://src.invalid/
Suites: bookworm
Components: main


Types: deb
URIs: http://two.invalid/
Suites: bookworm
Components: main
Check-Valid-Until: no
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
`
	want := []Source{
		{URIs: []string{"http://one.invalid/debian/"}, Suites: []string{"bookworm", "bookworm-updates"},
			Components: []string{"main", "contrib"}, SignedBy: "/usr/share/keyrings/debian-archive-keyring.gpg"},
		{URIs: []string{"http://two.invalid/"}, Suites: []string{"bookworm"}, Components: []string{"main"}},
	}
	got, err := parseSources("x.sources", []byte(text))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("parseSources(x.sources): error %v, -want +got:\n%s", err, diff)
	}
}

func TestParseOneLine(t *testing.T) {
	const text = `
# deb http://comment.invalid bookworm main
deb http://one.invalid/debian bookworm main contrib # and a comment
deb-src http://src.invalid/debian bookworm main
	deb	[ arch=amd64 signed-by=/k/debian-archive-x.gpg check-valid-until=no ] http://two.invalid trixie main
deb [trusted=yes] http://flat.invalid ./
debug http://not.invalid bookworm main
`
	want := []Source{
		{URIs: []string{"http://one.invalid/debian"}, Suites: []string{"bookworm"}, Components: []string{"main", "contrib"}},
		{URIs: []string{"http://two.invalid"}, Suites: []string{"trixie"}, Components: []string{"main"},
			SignedBy: "/k/debian-archive-x.gpg"},
		{URIs: []string{"http://flat.invalid"}, Suites: []string{"./"}, Components: []string{}},
	}
	got, err := parseSources("sources.list", []byte(text))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("parseSources(sources.list): error %v, -want +got:\n%s", err, diff)
	}
}

func TestParseSourcesRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a.list", "deb [arch=arm64 http://x.invalid s main", "line 1: option list is not closed"},
		{"a.list", "\ndeb http://x.invalid", "line 2: no URI and suite"},
		{"a.sources", "Types: deb\nnonsense\n", "line 2: not a field"},
		{"a.sources", " deb\n", "line 1: continuation of no field"},
		{"a.sources", "Types: deb\nTypes: deb\n", `line 2: field "types" given twice`},
		{"a.sources", strings.Repeat("x", maxLine+1), "line 1: bufio.Scanner: token too long"},
	} {
		_, err := parseSources(tt.name, []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("parseSources(%s, %.40q) error = %v, want %s", tt.name, tt.text, err, tt.want)
		}
	}
}

// main returns a source of component main.
func mainSource(uri, suite, signedBy string) Source {
	return Source{URIs: []string{uri}, Suites: strings.Fields(suite), Components: []string{"main"}, SignedBy: signedBy}
}

func TestArchiveBases(t *testing.T) {
	const ours = "/usr/share/keyrings/debian-archive-keyring.gpg"
	all := []Source{
		mainSource("http://stranger.invalid", "bookworm", "/usr/share/keyrings/stranger.gpg"),
		mainSource("http://security.invalid", "bookworm-security", ours),
		mainSource("http://stable.invalid", "stable", ""),
		mainSource("http://own.invalid/debian/", "bookworm bookworm-updates", ours),
		{URIs: []string{"http://contrib.invalid"}, Suites: []string{"bookworm"}, Components: []string{"contrib"}},
		mainSource("http://old.invalid", "bullseye", ours),
		mainSource("http://own.invalid/debian", "bookworm", ""),
	}
	for _, tt := range []struct {
		suite string
		want  []string
	}{
		{"trixie", []string{"http://own.invalid/debian", "http://stable.invalid"}},
		{"bookworm", []string{"http://own.invalid/debian", "http://stable.invalid"}},
		{"bullseye", []string{"http://old.invalid", "http://own.invalid/debian", "http://stable.invalid"}},
	} {
		got, err := Machine{Sources: all, Release: "bookworm"}.Archive(tt.suite)
		if diff := cmp.Diff(tt.want, got.Bases); diff != "" || err != nil {
			t.Errorf("Archive(%q): error %v, -want +got:\n%s", tt.suite, err, diff)
		}
	}
}

func TestArchiveRefuses(t *testing.T) {
	m := Machine{Release: "bookworm", Sources: []Source{mainSource("cdrom:[x]/", "bookworm", "")}}
	if _, err := m.Archive("trixie"); !errors.Is(err, errNoSource) {
		t.Errorf("Archive(trixie) of a cdrom = %v, want %v", err, errNoSource)
	}
	for _, suite := range []string{"", "../x", "a/b", "Trixie", "a b"} {
		if _, err := m.Archive(suite); err == nil || errors.Is(err, errNoSource) {
			t.Errorf("Archive(%q) = %v, want: not a suite's name", suite, err)
		}
	}
}

func TestExpandURIs(t *testing.T) {
	read := func(name string) ([]byte, error) {
		if name != "/etc/apt/mirrors/debian.list" {
			return nil, fs.ErrNotExist
		}
		return []byte("# mirrors\nhttps://m1.invalid/debian/\tpriority:1\n\nhttp://m2.invalid\nftp://m3.invalid\n"), nil
	}
	uris := []string{"mirror+file:///etc/apt/mirrors/debian.list", "cdrom:x", "ftp://f.invalid", "http://h.invalid//"}
	got, err := expandURIs(uris, read)
	want := []string{"https://m1.invalid/debian", "http://m2.invalid", "http://h.invalid"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("expandURIs: error %v, -want +got:\n%s", err, diff)
	}
	if _, err := expandURIs([]string{"mirror+file:/etc/none"}, read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("expandURIs of a missing list = %v, want %v", err, fs.ErrNotExist)
	}
}

func TestCodename(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"NAME=x\nVERSION_CODENAME=trixie\n", "trixie"},
		{`VERSION_CODENAME="bookworm"`, "bookworm"},
		{"UBUNTU_VERSION_CODENAME=x\n", ""},
	} {
		if got := codename([]byte(tt.text)); got != tt.want {
			t.Errorf("codename(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
