package loadplan

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"testing"

	"svcrelay/runtime/abi"
	"svcrelay/runtime/blob"
)

func versionNote(version uint32, change func(b []byte) []byte) headers {
	b, _ := binary.Append(nil, le, []uint32{9, 4, abi.NoteType})
	b, _ = binary.Append(append(b, "svcrelay\x00\x00\x00\x00"...), le, version)
	if change != nil {
		b = change(b)
	}
	return headers{tail: string(b), phdrs: []elf.Prog64{load(0, 0, 1, 1), inTail(elf.PT_NOTE, len(b))}}
}

func TestCheckLoader(t *testing.T) {
	set := func(at int) func([]byte) []byte { return func(b []byte) []byte { b[at]++; return b } }
	if err := CheckLoader(bytes.NewReader(blob.Loader)); err != nil {
		t.Errorf("CheckLoader(our own) = %v", err)
	}
	if err := CheckLoader(versionNote(abi.Version, nil).reader()); err != nil {
		t.Errorf("CheckLoader(one with the note) = %v", err)
	}
	for name, file := range map[string]headers{
		"no ELF":            {magic: "what"},
		"another version":   versionNote(abi.Version+1, nil),
		"another owner":     versionNote(abi.Version, set(12)),
		"a longer owner":    versionNote(abi.Version, set(0)),
		"a longer note":     versionNote(abi.Version, set(4)),
		"another type":      versionNote(abi.Version, set(8)),
		"half a note":       versionNote(abi.Version, func(b []byte) []byte { return b[:27] }),
		"no note":           {phdrs: []elf.Prog64{load(0, 0, 1, 1)}},
		"a note at the end": {phdrs: []elf.Prog64{inTail(elf.PT_NOTE, 28)}},
		"a huge note":       {phdrs: []elf.Prog64{inTail(elf.PT_NOTE, 4097)}},
		"too few headers":   {phnum: 2, phdrs: []elf.Prog64{load(0, 0, 1, 1)}},
	} {
		if err := CheckLoader(file.reader()); !errors.Is(err, ErrNotLoader) {
			t.Errorf("CheckLoader(%s) = %v, want %v", name, err, ErrNotLoader)
		}
	}
}
