// Whether a file is an exec loader that understands our plans. It can be given by
// path, and what launchers give is often another tracer's.
package loadplan

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"syscall"

	"svcrelay/runtime/abi"
)

// ErrNotLoader tells that a file is no exec loader of this version.
var ErrNotLoader = errors.New("not an exec loader of this version")

const maxNote = 4096

// CheckLoader reports what keeps the file behind r from carrying out plans.
func CheckLoader(r io.ReaderAt) error {
	phoff, m, err := readHeader(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotLoader, err)
	}
	phdrs, err := readFull(r, phoff, uint64(m.Phnum)*phdrSize, syscall.ENOEXEC)
	if err != nil {
		return fmt.Errorf("%w: program headers: %w", ErrNotLoader, err)
	}
	for i := range m.Phnum {
		h := parsePhdr(phdrs[i*phdrSize:])
		if h.kind != elf.PT_NOTE || h.filesz > maxNote {
			continue
		}
		b, err := readFull(r, h.offset, h.filesz, syscall.EIO)
		if err != nil {
			return fmt.Errorf("%w: note: %w", ErrNotLoader, err)
		}
		if version, ok := noteVersion(b); ok {
			return checkVersion(version)
		}
	}
	return fmt.Errorf("%w: no note of %s", ErrNotLoader, abi.NoteName)
}

func checkVersion(v uint32) error {
	if v == abi.Version {
		return nil
	}
	return fmt.Errorf("%w: version %d, want %d", ErrNotLoader, v, abi.Version)
}

// noteVersion reads the loader's note, which stands alone in its segment.
func noteVersion(b []byte) (uint32, bool) {
	const name = abi.NoteName + "\x00"
	const desc = noteHeader + (len(name)+3)&^3
	if len(b) < desc+4 || le.Uint32(b) != uint32(len(name)) || le.Uint32(b[4:]) != 4 || le.Uint32(b[8:]) != abi.NoteType ||
		string(b[noteHeader:][:len(name)]) != name {
		return 0, false
	}
	return le.Uint32(b[desc:]), true
}
