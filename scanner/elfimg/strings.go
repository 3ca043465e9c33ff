// Strings of hostile tables: bounded, and "" where there is none.

package elfimg

import "bytes"

const maxPath = 4096

// cString returns b's text up to the NUL; "" without one in the first limit bytes.
func cString(b []byte, limit int) string {
	n := bytes.IndexByte(b[:min(len(b), limit)], 0)
	if n < 0 {
		return ""
	}
	return string(b[:n])
}

// stringAt returns the string at off of a string table.
func stringAt(table []byte, off uint64, limit int) string {
	if off >= uint64(len(table)) {
		return ""
	}
	return cString(table[off:], limit)
}
