package loadplan

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/abi"
)

const page = 4096

func TestRead(t *testing.T) {
	const interp = "/lib/ld.so\x00rest\x00"
	file := headers{kind: elf.ET_EXEC, entry: 0x400100, tail: interp, phdrs: []elf.Prog64{
		{Type: uint32(elf.PT_PHDR)},
		inTail(elf.PT_INTERP, len(interp)),
		{Type: uint32(elf.PT_LOAD), Flags: 5, Off: 0x10, Vaddr: 0x400010, Filesz: 0x8f0, Memsz: 0x8f0, Align: 0x10000},
		{Type: uint32(elf.PT_LOAD), Flags: 6, Off: 0x900, Vaddr: 0x410900, Filesz: 0x80, Memsz: 0x10000, Align: 3},
		load(0x5000, 0x500000, 0, 0),
		{Type: uint32(elf.PT_LOAD), Flags: 4, Off: 1, Vaddr: 0x430002, Memsz: 1},
		{Type: uint32(elf.PT_GNU_STACK), Flags: 7},
		inTail(elf.PT_INTERP, 3),
	}}
	got, err := Read(file.reader(), page)
	if err != nil {
		t.Fatal(err)
	}
	want := &Image{
		Fixed: true, Interp: "/lib/ld.so", ExecStack: true, Entry: 0x400100, Phdr: 0x400040, Phnum: 8, Align: 0x10000,
		Segments: []abi.Segment{
			{Addr: 0x400010, Filesz: 0x8f0, Memsz: 0x8f0, Offset: 0x10, Prot: abi.ProtRead | abi.ProtExec},
			{Addr: 0x410900, Filesz: 0x80, Memsz: 0x10000, Offset: 0x900, Prot: abi.ProtRead | abi.ProtWrite},
			{Addr: 0x430002, Memsz: 1, Offset: 1, Prot: abi.ProtRead},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read(): -want +got:\n%s", diff)
	}
}

func many(n int) (phdrs []elf.Prog64) {
	for i := range uint64(n) {
		phdrs = append(phdrs, load(0, i*page, 1, 1))
	}
	return phdrs
}

func TestReadRefuses(t *testing.T) {
	phdrs := func(p ...elf.Prog64) headers { return headers{phdrs: p} }
	path := func(n int, end string) headers {
		tail := strings.Repeat("x", n-len(end)) + end
		return headers{tail: tail, phdrs: []elf.Prog64{load(0, 0, 1, 1), inTail(elf.PT_INTERP, n)}}
	}
	ok := []elf.Prog64{load(0, 0, 1, 1)}
	const ok0 = syscall.Errno(0)
	for _, tt := range []struct {
		name string
		file headers
		want syscall.Errno
	}{
		{"nothing", headers{phdrs: ok}, ok0},
		{"magic", headers{phdrs: ok, magic: "\x7fELG"}, syscall.ENOEXEC},
		{"32-bit", headers{phdrs: ok, class: elf.ELFCLASS32}, syscall.ENOEXEC},
		{"big-endian", headers{phdrs: ok, data: elf.ELFDATA2MSB}, syscall.ENOEXEC},
		{"x86", headers{phdrs: ok, machine: elf.EM_X86_64}, syscall.ENOEXEC},
		{"object", headers{phdrs: ok, kind: elf.ET_REL}, syscall.ENOEXEC},
		{"header size", headers{phdrs: ok, phentsize: 57}, syscall.ENOEXEC},
		{"no headers", headers{phnum: -1}, syscall.ENOEXEC},
		{"headers behind the end", headers{phdrs: ok, phnum: 2}, syscall.ENOEXEC},
		{"headers at the end of numbers", headers{phdrs: ok, phoff: 1<<63 - 56}, syscall.ENOEXEC},
		{"headers behind the end of numbers", headers{phdrs: ok, phoff: 1<<63 - 55}, syscall.ENOEXEC},
		{"all headers", headers{phdrs: append(make([]elf.Prog64, 1169), ok...)}, ok0},
		{"one header more", headers{phdrs: append(make([]elf.Prog64, 1170), ok...)}, syscall.ENOEXEC},

		{"no segment", phdrs(load(0, 0, 0, 0)), syscall.ENOEXEC},
		{"64 segments", phdrs(many(64)...), ok0},
		{"65 segments", phdrs(many(65)...), syscall.ENOEXEC},
		{"file as memory", phdrs(load(0, 0, 8, 8)), ok0},
		{"file more than memory", phdrs(load(0, 0, 9, 8)), syscall.ENOEXEC},
		{"to the end", phdrs(load(0, taskSize-page, page, page)), ok0},
		{"over the end", phdrs(load(0, taskSize-page, page, page+1)), syscall.ENOEXEC},
		{"around the end", phdrs(load(0, 1<<64-page, page, page)), syscall.ENOEXEC},
		{"too large", phdrs(load(0, 0, 1, 1<<63)), syscall.ENOEXEC},
		{"largest offset", phdrs(load(1<<63-page, 0, page-1, page)), ok0},
		{"larger offset", phdrs(load(1<<63-page, 0, page, page)), syscall.ENOEXEC},
		{"unlike in a page", phdrs(load(0, 1, 1, 1)), syscall.ENOEXEC},
		{"unlike but not of the file", phdrs(load(0, 1, 0, 1)), ok0},
		{"neighbours", phdrs(load(0, 0, 8, 8), load(8, 8, 8, 8)), ok0},
		{"overlap", phdrs(load(0, 0, 8, 9), load(8, 8, 8, 8)), syscall.ENOEXEC},
		{"descending", phdrs(load(0, page, 8, 8), load(0, 0, 8, 8)), syscall.ENOEXEC},
		{"largest alignment", phdrs(aligned(1 << 36)), ok0},
		{"larger alignment", phdrs(aligned(1 << 37)), syscall.ENOEXEC},
		{"no alignment", phdrs(aligned(1<<37 + 1)), ok0},

		{"shortest path", path(2, "\x00"), ok0},
		{"shorter path", path(1, "\x00"), syscall.ENOEXEC},
		{"longest path", path(4096, "\x00"), ok0},
		{"longer path", path(4097, "\x00"), syscall.ENOEXEC},
		{"path without end", path(9, ""), syscall.ENOEXEC},
		{"empty path", path(2, "\x00\x00"), syscall.EACCES},
		{"path behind the end", phdrs(load(0, 0, 1, 1), inTail(elf.PT_INTERP, 9)), syscall.EIO},
	} {
		_, err := Read(tt.file.reader(), page)
		got := ok0
		if err != nil {
			got = Errno(err)
		}
		if got != tt.want {
			t.Errorf("Read(%s) = %v, want errno %v", tt.name, err, tt.want)
		}
	}
}

func TestReadShort(t *testing.T) {
	file := headers{phdrs: []elf.Prog64{load(0, 0, 1, 1)}}.bytes()
	for n := range len(file) {
		if _, err := Read(strings.NewReader(string(file[:n])), page); !errors.Is(err, syscall.ENOEXEC) {
			t.Errorf("Read(first %d bytes) = %v, want %v", n, err, syscall.ENOEXEC)
		}
	}
}

func TestReadPageSize(t *testing.T) {
	file := headers{phdrs: []elf.Prog64{load(0x1000, 0x3000, 1, 1)}}
	for size, want := range map[uint64]bool{4096: true, 8192: true, 16384: false, 65536: false} {
		m, err := Read(file.reader(), size)
		if (err == nil) != want || err == nil && m.Align != size {
			t.Errorf("Read(offset 0x1000 at 0x3000, pages of %d) = %+v, %v, want success %v", size, m, err, want)
		}
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, syscall.EISDIR }

func TestErrno(t *testing.T) {
	_, err := Read(broken{}, page)
	if got := Errno(err); got != syscall.EISDIR {
		t.Errorf("Errno(%v) = %v, want %v", err, got, syscall.EISDIR)
	}
	if got := Errno(io.ErrUnexpectedEOF); got != syscall.EIO {
		t.Errorf("Errno(%v) = %v, want %v", io.ErrUnexpectedEOF, got, syscall.EIO)
	}
}

func TestReadInterp(t *testing.T) {
	ok := headers{phdrs: []elf.Prog64{load(0, 0, 1, 1)}}
	if _, err := ReadInterp(ok.reader(), page); err != nil {
		t.Errorf("ReadInterp() = %v", err)
	}
	if _, err := ReadInterp(strings.NewReader("#!"), page); Errno(err) != syscall.ELIBBAD {
		t.Errorf("ReadInterp(no ELF) = %v, want %v", err, syscall.ELIBBAD)
	}
	if _, err := ReadInterp(broken{}, page); Errno(err) != syscall.EISDIR {
		t.Errorf("ReadInterp(unreadable) = %v, want %v", err, syscall.EISDIR)
	}
}

func TestHeap(t *testing.T) {
	m := &Image{Segments: []abi.Segment{{Addr: 0x1000, Memsz: 0x2001}}}
	for _, tt := range []struct{ base, page, random, want uint64 }{
		{0x10000, 0x1000, 0, 0x14000},
		{0x10000, 0x10000, 0, 0x20000},
		{0x10000, 0x1000, 1, 0x15000},
		{0x10000, 0x1000, 1<<18 - 1, 0x14000 + 1<<30 - 0x1000},
		{0x10000, 0x1000, 1 << 18, 0x14000},
		{0x10000, 0x4000, 1<<16 + 1, 0x18000},
	} {
		if got := m.Heap(tt.base, tt.page, tt.random); got != tt.want {
			t.Errorf("Heap(%#x, %#x, %d) = %#x, want %#x", tt.base, tt.page, tt.random, got, tt.want)
		}
	}
}

// note makes a property note of one feature property behind another one.
func note(mutate func(b []byte) []byte, features uint32) headers {
	var b []byte
	for _, v := range []any{[]uint32{4, 32, 5}, []byte("GNU\x00"), []uint32{1, 4, 0, 0}, []uint32{0xc000_0000, 4, features, 0}} {
		b, _ = binary.Append(b, le, v)
	}
	if mutate != nil {
		b = mutate(b)
	}
	return headers{tail: string(b), phdrs: []elf.Prog64{load(0, 0, 1, 1), inTail(elf.PT_GNU_PROPERTY, len(b))}}
}

func TestBTI(t *testing.T) {
	set := func(at int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = v; return b }
	}
	for _, tt := range []struct {
		name string
		file headers
		want bool
	}{
		{"bti", note(nil, 1), true},
		{"bti and pac", note(nil, 3), true},
		{"pac", note(nil, 2), false},
		{"no padding", note(func(b []byte) []byte { b[4] = 28; return b[:44] }, 1), true},
		{"cut", note(func(b []byte) []byte { b[4] = 27; return b[:43] }, 1), false},
		{"description longer than the note", note(set(4, 33), 1), false},
		{"another note", note(set(8, 4), 1), false},
		{"another owner", note(set(12, 'X'), 1), false},
		{"longer name", note(set(0, 5), 1), false},
		{"property longer than the note", note(set(20, 25), 1), false},
		{"feature of 8 bytes", note(set(36, 8), 1), false},
		{"no room", note(func([]byte) []byte { return make([]byte, 15) }, 1), false},
		{"too large", note(func(b []byte) []byte { return append(b, make([]byte, 1025-len(b))...) }, 1), false},
		{"as large as it may be", note(func(b []byte) []byte { return append(b, make([]byte, 1024-len(b))...) }, 1), true},
		{"behind the end", headers{phdrs: []elf.Prog64{load(0, 0, 1, 1), inTail(elf.PT_GNU_PROPERTY, 48)}}, false},
		{"none", headers{phdrs: []elf.Prog64{load(0, 0, 1, 1)}}, false},
	} {
		m, err := Read(tt.file.reader(), page)
		if err != nil || m.BTI != tt.want {
			t.Errorf("Read(%s): BTI %v, error %v, want %v", tt.name, m != nil && m.BTI, err, tt.want)
		}
	}
}

// FuzzRead holds that an image is one or an error is, that its plan can be made,
// and that nothing in it leaves the address space.
func FuzzRead(f *testing.F) {
	f.Add(headers{phdrs: []elf.Prog64{load(0, 0, 1, 1)}}.bytes(), uint64(12))
	f.Add(note(nil, 1).bytes(), uint64(16))
	f.Add(headers{tail: "/lib/ld.so\x00", phdrs: append(many(3), inTail(elf.PT_INTERP, 11))}.bytes(), uint64(14))
	f.Fuzz(func(t *testing.T, file []byte, shift uint64) {
		pageSize := uint64(1) << (12 + shift%5)
		m, err := Read(strings.NewReader(string(file)), pageSize)
		if (m == nil) == (err == nil) {
			t.Fatalf("Read() = %v, %v", m, err)
		}
		if err != nil {
			return
		}
		for i := 1; i < len(m.Segments); i++ {
			if p, s := m.Segments[i-1], m.Segments[i]; p.Addr+p.Memsz > s.Addr {
				t.Errorf("segments %+v and %+v overlap", p, s)
			}
		}
		if m.end() > taskSize || m.end() <= m.low() || m.Align < pageSize {
			t.Errorf("image %+v", m)
		}
		m.Interp = ""
		if b, err := (Plan{Program: File{Image: m, FD: 3}}).Bytes(); err != nil || len(b)%16 != 0 || len(b) > 1<<14 {
			t.Errorf("Bytes() = %d bytes, %v", len(b), err)
		}
	})
}
