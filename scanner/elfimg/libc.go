// Which C library an image is, from the text it prints about itself.
//
// glibc's ld.so has no banner before 2.33 and musl's version stands apart from
// its name, so a name may come without a version.

package elfimg

import (
	"bytes"
	"strings"
)

const (
	bannerKey = " release version " // "stable" or "development" before it
	muslKey   = "musl libc (aarch64)"

	maxBanner = 256
)

var bannerHeads = []string{"GNU C Library", "ld.so ("}

// Libc returns ("glibc", "2.43"), ("musl", "1.2.5"), or ("", "") for an image
// that is neither. The version is "" where the image does not tell it. The
// whole image is searched on every call.
func (m *Image) Libc() (name, version string) {
	if v := m.banner(); v != "" {
		return "glibc", v
	}
	if m.SOName == "libc.so.6" || strings.HasPrefix(m.SOName, "ld-linux-aarch64") {
		return "glibc", ""
	}
	if bytes.Contains(m.Raw, []byte(muslKey)) {
		return "musl", m.muslVersion()
	}
	return "", ""
}

// banner looks behind the code first, where glibc keeps its strings.
func (m *Image) banner() string {
	code := 0
	if n := len(m.Exec); n > 0 && !m.ExecFromSegments {
		code = int(m.Exec[n-1].Off + m.Exec[n-1].Size)
	}
	if v := bannerVersion(m.Raw[code:]); v != "" {
		return v
	}
	return bannerVersion(m.Raw[:code])
}

func bannerVersion(b []byte) string {
	for {
		i := bytes.Index(b, []byte(bannerKey))
		if i < 0 {
			return ""
		}
		after := b[i+len(bannerKey):]
		if v := dotted(after); v != "" && isBanner(b[max(0, i-maxBanner):i]) {
			return v
		}
		b = after
	}
}

// isBanner tells whether the line or string that ends b starts as a banner does.
func isBanner(b []byte) bool {
	line := b[bytes.LastIndexAny(b, "\x00\n")+1:]
	for _, head := range bannerHeads {
		if bytes.HasPrefix(line, []byte(head)) {
			return true
		}
	}
	return false
}

// dotted returns the digits and inner dots that b starts with, if they are a
// version of two parts or more.
func dotted(b []byte) string {
	n := 0
	for n < min(len(b), 16) && (b[n] == '.' || b[n]-'0' <= 9) {
		n++
	}
	v := strings.TrimRight(string(b[:n]), ".")
	if v == "" || v[0] == '.' || !strings.Contains(v, ".") || strings.Contains(v, "..") {
		return ""
	}
	return v
}

// muslVersion finds the one string of the form 1.x.y: musl has had no other major.
func (m *Image) muslVersion() string {
	for b := m.Raw; ; {
		i := bytes.Index(b, []byte("\x001."))
		if i < 0 {
			return ""
		}
		b = b[i+1:]
		v := dotted(b)
		if strings.Count(v, ".") == 2 && len(b) > len(v) && (b[len(v)] == 0 || b[len(v)] == '-') {
			return v
		}
	}
}
