package debian

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is an index entry with some fields replaced; an empty value removes one.
func entry(replace map[string]string) string {
	var b strings.Builder
	for _, f := range [][2]string{
		{"Package", "libc6"}, {"Version", "2.36-9+deb12u14"}, {"Architecture", "arm64"},
		{"Filename", "pool/main/g/glibc/libc6_2.36-9+deb12u14_arm64.deb"}, {"Size", "2324660"}, {"SHA256", sha0},
	} {
		if v, ok := replace[f[0]]; ok {
			f[1] = v
		}
		if f[1] != "" {
			b.WriteString(f[0] + ": " + f[1] + "\n")
		}
	}
	return b.String()
}

func TestReadPackages(t *testing.T) {
	index := entry(nil) + `Depends: libgcc-s1, a (>= 1.2~) | b:any | c [arm64] <!x>
Pre-Depends: dpkg (>= 1)
Provides: libc6-2.36 (= 1), other
Description: GNU C Library
 more words: not a field
 .

` + entry(map[string]string{"Package": "m", "Version": "1:2-3", "Architecture": "all"})
	want := []Package{
		{Name: "libc6", Version: "2.36-9+deb12u14", Arch: "arm64",
			Depends:    [][]string{{"libgcc-s1"}, {"a", "b", "c"}},
			PreDepends: [][]string{{"dpkg"}},
			Provides:   []string{"libc6-2.36", "other"},
			Filename:   "pool/main/g/glibc/libc6_2.36-9+deb12u14_arm64.deb",
			Sum:        Sum{2324660, sha0}},
		{Name: "m", Version: "1:2-3", Arch: "all",
			Filename: "pool/main/g/glibc/libc6_2.36-9+deb12u14_arm64.deb", Sum: Sum{2324660, sha0}},
	}
	var got []Package
	for p, err := range readPackages(strings.NewReader(index)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readPackages: -want +got:\n%s", diff)
	}
	for i, name := range []string{"libc6_2.36-9+deb12u14_arm64.deb", "m_1%3a2-3_all.deb"} {
		if got := got[i].LocalName(); got != name {
			t.Errorf("LocalName() = %s, want %s", got, name)
		}
	}
}

func TestReadPackagesRefuses(t *testing.T) {
	for _, tt := range []struct{ field, value, want string }{
		{"Package", "", "not a package's name"},
		{"Package", "../libc6", "not a package's name"},
		{"Package", "a/b", "not a package's name"},
		{"Package", "Libc6", "not a package's name"},
		{"Version", "", "version"},
		{"Version", "1/../../x", "version"},
		{"Version", "..", "version"},
		{"Architecture", "", "architecture"},
		{"Architecture", "../arm64", "architecture"},
		{"Filename", "", "file name"},
		{"Filename", "../../x.deb", "file name"},
		{"Filename", "pool/../../x.deb", "file name"},
		{"Filename", "pool/./x.deb", "file name"},
		{"Filename", "pool//x.deb", "file name"},
		{"Filename", "/etc/x.deb", "file name"},
		{"Filename", "http://x.invalid/x.deb", "file name"},
		{"Filename", `pool\x.deb`, "file name"},
		{"Filename", "pool/x.deb?y", "file name"},
		{"Filename", "pool/x.txt", "file name"},
		{"Size", "", "bad size"},
		{"Size", "-1", "bad size"},
		{"SHA256", "", "bad sha256"},
		{"SHA256", sha0 + "00", "bad sha256"},
	} {
		index := entry(nil) + "\n" + entry(map[string]string{tt.field: tt.value}) + "\n" + entry(nil)
		var errs []error
		n := 0
		for _, err := range readPackages(strings.NewReader(index)) {
			n++
			errs = append(errs, err)
		}
		if n != 2 || errs[0] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), tt.want) {
			t.Errorf("%s %q: errors %v, want none, then %q, then the end", tt.field, tt.value, errs, tt.want)
		}
	}
}

func FuzzReadPackages(f *testing.F) {
	f.Add(entry(nil))
	f.Add(entry(map[string]string{"Filename": "../../x.deb"}))
	f.Add("Package: a\n b\n\n: x")
	f.Fuzz(func(t *testing.T, index string) {
		failed := false
		for p, err := range readPackages(strings.NewReader(index)) {
			if failed {
				t.Fatalf("entry %v after an error", p)
			}
			if failed = err != nil; failed {
				continue
			}
			if strings.Contains("/"+p.Filename+"/", "/../") || p.Filename[0] == '/' {
				t.Errorf("Filename = %q leads out of the archive", p.Filename)
			}
			if strings.ContainsAny(p.LocalName(), "/\\\x00") {
				t.Errorf("LocalName() = %q is not one name", p.LocalName())
			}
		}
	})
}
