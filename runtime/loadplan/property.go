// NT_GNU_PROPERTY_TYPE_0: whether a file's code has landing pads everywhere, so
// that the kernel may map it guarded. The kernel does so for the interpreter, and
// for programs without one; glibc's loader looks after the rest itself.
package loadplan

import (
	"debug/elf"
	"io"
	"strings"
	"syscall"
)

const (
	maxProperty = 1024 // the kernel's buffer
	noteHeader  = 12
	gnuName     = "GNU\x00"

	noteProperty = 5
	feature1And  = 0xc000_0000
	featureBTI   = 1
)

// readBTI reads a note leniently: a kernel without BTI never looks at it, so a
// broken one must not keep a program from running.
func readBTI(r io.ReaderAt, h phdr) bool {
	if h.kind != elf.PT_GNU_PROPERTY || h.filesz < noteHeader+uint64(len(gnuName)) || h.filesz > maxProperty {
		return false
	}
	b, err := readFull(r, h.offset, h.filesz, syscall.EIO)
	if err != nil {
		return false
	}
	namesz, descsz, kind := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
	desc := b[noteHeader+len(gnuName):]
	if kind != noteProperty || namesz != uint32(len(gnuName)) || string(b[noteHeader:][:len(gnuName)]) != gnuName ||
		uint64(descsz) > uint64(len(desc)) {
		return false
	}
	return hasBTI(desc[:descsz])
}

// hasBTI walks properties: a type, a size, data padded to 8 bytes.
func hasBTI(desc []byte) bool {
	for len(desc) >= 8 {
		kind, size := le.Uint32(desc), uint64(le.Uint32(desc[4:]))
		desc = desc[8:]
		if size > uint64(len(desc)) {
			return false
		}
		if kind == feature1And {
			return size == 4 && le.Uint32(desc)&featureBTI != 0
		}
		desc = desc[min((size+7)&^7, uint64(len(desc))):]
	}
	return false
}

// cString returns b up to its first zero.
func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
