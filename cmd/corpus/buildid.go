// The GNU build-ID of an unpacked file. debug/elf serves here, not the project's
// own view of an image: the corpus is what that view is tested with.

package main

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
)

// gnuNote is the head of a build-ID note: name size 4, an ID of 20 bytes, type 3, "GNU".
var gnuNote = []byte("\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00")

const idSize = 20

// buildID returns the build-ID in hex, or "" for an image without one.
func buildID(name string) (string, error) {
	f, err := elf.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return "", nil
	}
	note, err := s.Data()
	if err != nil {
		return "", err
	}
	id, ok := bytes.CutPrefix(note, gnuNote)
	if !ok || len(id) < idSize {
		return "", nil
	}
	return hex.EncodeToString(id[:idSize]), nil
}
