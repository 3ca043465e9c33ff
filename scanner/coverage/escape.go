// One word of text out of any bytes. Function names are whatever an image's
// string table holds, spaces and terminal controls included, and must neither
// break a golden line nor reach a terminal.

package coverage

import "strings"

const lowerHex = "0123456789abcdef"

// escape makes s a word: printable ASCII without spaces, any other byte and %
// as %xx. The empty word is "-".
func escape(s string) string {
	switch s {
	case "":
		return "-"
	case "-":
		return "%2d"
	}
	if strings.IndexFunc(s, func(r rune) bool { return r > 0x7e || !plain(byte(r)) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if plain(s[i]) {
			b.WriteByte(s[i])
			continue
		}
		b.Write([]byte{'%', lowerHex[s[i]>>4], lowerHex[s[i]&15]})
	}
	return b.String()
}

func plain(c byte) bool { return c > ' ' && c < 0x7f && c != '%' }

// unescape undoes escape; false for a word that escape does not write.
func unescape(word string) (string, bool) {
	if word == "-" {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] != '%' {
			b.WriteByte(word[i])
			continue
		}
		if i+2 >= len(word) {
			return "", false
		}
		high, low := strings.IndexByte(lowerHex, word[i+1]), strings.IndexByte(lowerHex, word[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	return b.String(), escape(b.String()) == word
}
