package debian

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	sha0 = "2ddb1737692e8c45c53e8d57c0ce4cd21c78c5703b830c3226b1423566a06c00"
	sha1 = "c7c883a61f348283050d3a754e7c8119117c4019bf65da804c78fdae315866f1"
)

func TestParseRelease(t *testing.T) {
	const text = `Origin: Debian
Suite: testing
Codename: forky
Valid-Until: Fri, 06 Nov 2026 08:08:01 UTC
Acquire-By-Hash: yes
MD5Sum:
 e0f09148d8af4e8836adf64b3679d893  8689464 main/binary-arm64/Packages.xz
SHA256:
 ` + sha0 + `  8689464 main/binary-arm64/Packages.xz
 ` + sha1 + ` 49434864 main/binary-arm64/Packages
`
	want := Release{
		Suite: "testing", Codename: "forky", ByHash: true,
		ValidUntil: time.Date(2026, 11, 6, 8, 8, 1, 0, time.UTC),
		Files: map[string]Sum{
			"main/binary-arm64/Packages.xz": {8689464, sha0},
			"main/binary-arm64/Packages":    {49434864, sha1},
		},
	}
	got, err := parseRelease([]byte(text))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("parseRelease: error %v, -want +got:\n%s", err, diff)
	}
}

func TestParseReleaseRefuses(t *testing.T) {
	list := func(s string) string { return "Codename: x\nSHA256:\n " + s + "\n" }
	for _, tt := range []struct{ text, want string }{
		{"", "empty"},
		{"Codename: x\n", "SHA256 list: bad line"},
		{list(sha0 + " 12"), "SHA256 list: bad line"},
		{list(sha0[1:] + " 12 a"), "SHA256 list: a: bad sha256"},
		{list("zz" + sha0[2:] + " 12 a"), "SHA256 list: a: bad sha256"},
		{list(sha0 + " -1 a"), "SHA256 list: a: bad size"},
		{list(sha0 + " 99999999999999999999 a"), "SHA256 list: a: bad size"},
		{"Valid-Until: soon\n" + list(sha0+" 1 a"), "Valid-Until: "},
	} {
		_, err := parseRelease([]byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("parseRelease(%.60q) error = %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestReleaseCheck(t *testing.T) {
	r := Release{Suite: "testing", Codename: "forky"}
	for _, tt := range []struct{ suite, want string }{
		{"forky", ""}, {"testing", ""}, {"trixie", `is for "forky" ("testing")`},
	} {
		err := r.check(tt.suite)
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("check(%s) = %v, want %q", tt.suite, err, tt.want)
		}
	}
}

func TestReleaseExpired(t *testing.T) {
	until := time.Date(2026, 11, 6, 8, 8, 1, 0, time.UTC)
	for _, tt := range []struct {
		until, now time.Time
		want       bool
	}{
		{until, until.Add(-time.Second), false}, {until, until, false}, {until, until.Add(time.Second), true}, {time.Time{}, until, false},
	} {
		if got := (Release{ValidUntil: tt.until}).expired(tt.now); got != tt.want {
			t.Errorf("valid until %v: expired(%v) = %v, want %v", tt.until, tt.now, got, tt.want)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct{ name, status, want string }{
		{"good", "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG 01 x\n[GNUPG:] VALIDSIG 01\n", ""},
		{"good, another key unknown", "[GNUPG:] NO_PUBKEY 02\n[GNUPG:] GOODSIG 01 x\n", ""},
		{"good and bad", "[GNUPG:] GOODSIG 01 x\n[GNUPG:] BADSIG 02 y\n", "does not match"},
		{"unknown", "[GNUPG:] ERRSIG 02 1 8\n[GNUPG:] NO_PUBKEY 02\n", "none by a usable key: NO_PUBKEY 02"},
		{"expired key", "[GNUPG:] EXPKEYSIG 03 x\n[GNUPG:] VALIDSIG 03\n", "none by a usable key: EXPKEYSIG 03"},
		{"revoked key", "[GNUPG:] REVKEYSIG 04 x\n[GNUPG:] VALIDSIG 04\n", "none by a usable key: REVKEYSIG 04"},
		{"good in words only", "GOODSIG 01 x\n", "there is none"},
		{"nothing", "", "there is none"},
	} {
		err := judge(tt.status)
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: judge(%q) = %v, want %q", tt.name, tt.status, err, tt.want)
		}
	}
}
