package coverage

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
	"svcrelay/scanner/elfimg/elftest"
)

func TestNewBuild(t *testing.T) {
	const nop, svc0, svc1 = 0xd503_201f, 0xd400_0001, 0xd400_0021
	raw := elftest.Build(elftest.Spec{
		Text:    []uint32{svc0, nop, svc1, svc0},
		Code:    []elftest.Code{{Name: ".late", Words: []uint32{nop, svc0}}},
		BuildID: []byte{0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4}, SOName: "libc.so.6",
	})
	img, err := elfimg.New(raw)
	if err != nil {
		t.Fatal(err)
	}
	result := &scanner.Result{}
	b := NewBuild("libc.so.6", "here", img, result)
	if b.Image != "libc.so.6" || b.Source != "here" || b.BuildID != "deadbeef01020304" || b.Libc != "glibc" || b.Version != "" || b.Result != result {
		t.Errorf("NewBuild = %+v", b)
	}
	first, late := img.Exec[0].Vaddr, img.Exec[1].Vaddr
	if diff := cmp.Diff([]uint64{first, first + 12, late + 4}, b.Svcs); diff != "" {
		t.Errorf("Svcs differ (-want +got):\n%s", diff)
	}
}

func TestRole(t *testing.T) {
	for _, row := range []struct{ image, libc, want string }{
		{"libc.so.6", "glibc", "libc"}, {"libc-2.31.so", "glibc", "libc"}, {"libc.so", "musl", "libc"}, {"ld-musl-aarch64.so.1", "musl", "libc"},
		{"ld-linux-aarch64.so.1", "glibc", "ld.so"}, {"ld-2.31.so", "glibc", "ld.so"}, {"ld.so", "glibc", "ld.so"},
		{"libcrypt.so.1", "", "libcrypt.so.1"}, {"libc-client.so", "", "libc-client.so"}, {"", "", ""},
	} {
		if got := build(row.image, row.libc, "", "").Role(); got != row.want {
			t.Errorf("Role of %q (%s) = %q, want %q", row.image, row.libc, got, row.want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, row := range []struct {
		version string
		want    bool
	}{
		{"2.40", false}, {"2.41", true}, {"2.42", true}, {"2.9", false}, {"1.99", false}, {"3.0", true}, {"2.41.9000", true},
		{"", false}, {"2", false}, {"x.y", false}, {"2.99999999999999999999", false},
	} {
		if got := build("libc.so.6", "glibc", row.version, "").atLeast(2, 41); got != row.want {
			t.Errorf("version %q atLeast(2, 41) = %t, want %t", row.version, got, row.want)
		}
	}
}

func TestCompareVersionsOrders(t *testing.T) {
	// A part with letters counts as longer than any number of two digits.
	want := []string{"", "1.2.5", "2.9", "2.31", "2.36", "2.36.1", "2.43", "2.031x", "10.1"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareVersions)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("versions sorted (-want +got):\n%s", diff)
	}
	if compareVersions("2.31", "2.031") == 0 {
		t.Error("2.31 and 2.031 compare as equal: the order is not total")
	}
}

func TestSortedBuilds(t *testing.T) {
	other := build("libssl.so.3", "", "", "aa")
	got := sortedBuilds([]*Build{other, ld43(), libc43(), libc31()})
	var labels []string
	for _, b := range got {
		labels = append(labels, b.Label())
	}
	want := []string{"libc-2.31.so glibc 2.31 31313131", "libc.so.6 glibc 2.43 43434343", "ld-linux-aarch64.so.1 glibc 2.43 1d1d1d1d", "libssl.so.3 aa"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("sorted builds (-want +got):\n%s", diff)
	}
}

func TestShortID(t *testing.T) {
	for id, want := range map[string]string{"": "", "1234567": "1234567", "12345678": "12345678", "123456789": "12345678", "sha256:abcdef0123": "abcdef01"} {
		if got := (&Build{BuildID: id}).ShortID(); got != want {
			t.Errorf("ShortID of %q = %q, want %q", id, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, row := range []struct{ text, word string }{
		{"open64", "open64"}, {"", "-"}, {"-", "%2d"}, {"--", "--"}, {"a b", "a%20b"}, {"50%", "50%25"}, {"\n", "%0a"}, {"~", "~"}, {"!", "!"},
		{"\x7f", "%7f"}, {"\xff", "%ff"}, {"\u00e9", "%c3%a9"}, {"a@@GLIBC_2.17", "a@@GLIBC_2.17"},
	} {
		if got := escape(row.text); got != row.word {
			t.Errorf("escape(%q) = %q, want %q", row.text, got, row.word)
		}
		if got, ok := unescape(row.word); got != row.text || !ok {
			t.Errorf("unescape(%q) = %q, %t, want %q, true", row.word, got, ok, row.text)
		}
	}
	for _, word := range []string{"", "%", "%2", "%2D", "%41", "%zz", "a b", "\x01", "%2d%", "\u00e9"} {
		if got, ok := unescape(word); ok {
			t.Errorf("unescape(%q) = %q, true, want false: escape never writes it", word, got)
		}
	}
}
