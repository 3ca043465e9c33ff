package elfimg

import (
	"bytes"
	"debug/elf"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner/elfimg/elftest"
)

const (
	nop = 0xd503201f // nop
	svc = 0xd4000001 // svc #0
	ret = 0xd65f03c0 // ret

	base = 0x400000
	text = base + elftest.TextOff
)

// full is an image with everything that this package reads.
func full() elftest.Spec {
	return elftest.Spec{
		Type: 2, Entry: text + 4, Base: base,
		Text:     []uint32{nop, svc, ret, nop, svc, ret, nop, nop},
		Code:     []elftest.Code{{Name: "__libc_freeres_fn", Words: []uint32{svc, ret}}},
		Rodata:   []byte("\x00GNU C Library (Debian GLIBC 2.31-13) stable release version 2.31.\nCopyright\x00"),
		BuildID:  []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
		Features: 7, SOName: "libc.so.6", Interp: "/lib/ld-linux-aarch64.so.1",
		Symbols:  []elftest.Symbol{{Name: "_IO_cleanup", Value: text + 12, Size: 12}, {Name: "table", Value: text, Type: 1}},
		Dynamic:  []elftest.Symbol{{Name: "open", Value: text, Size: 12}, {Name: "gone", Value: text, Undefined: true}, {Name: "memcpy", Value: text + 12, Type: 10}},
		Relative: []uint64{text + 8, base},
		Irel:     []uint64{text + 12},
		Relr:     []uint64{text, 5, text + 4},
		Frames:   []elftest.Frame{{Start: text, Size: 12}, {Start: text + 12, Size: 12, Pads: []uint64{0, text + 24, text + 28}}},
	}
}

func open(t *testing.T, raw []byte) *Image {
	t.Helper()
	m, err := New(raw)
	if err != nil {
		t.Fatalf("New(%d bytes) = %v", len(raw), err)
	}
	return m
}

func TestNewShowsEverything(t *testing.T) {
	spec := full()
	raw := elftest.Build(spec)
	m := open(t, raw)
	type view struct {
		Type           uint16
		Entry          uint64
		Exec           []Range
		BuildID        []byte
		SOName, Interp string
		Property       Property
		Segments       bool
		Debug          bool
	}
	got := view{m.Type, m.Entry, m.Exec, m.BuildID, m.SOName, m.Interp, m.Property, m.ExecFromSegments, m.Debug}
	want := view{2, text + 4,
		[]Range{{text, elftest.TextOff, 32, ".text"}, {text + 32, elftest.TextOff + 32, 8, "__libc_freeres_fn"}},
		spec.BuildID, "libc.so.6", "/lib/ld-linux-aarch64.so.1", Property{true, true, true}, false, false}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("New(full) differs (-want +got):\n%s", d)
	}
}

// The standard library is the oracle for what this package and elftest share.
func TestNewAgreesWithDebugELF(t *testing.T) {
	for _, align := range []uint64{0x1000, 0x4000, 0x10000} {
		spec := full()
		spec.Align = align
		raw := elftest.Build(spec)
		m := open(t, raw)
		f, err := elf.NewFile(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("elf.NewFile(full) = %v", err)
		}
		var loads []Segment
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD {
				loads = append(loads, Segment{p.Vaddr, p.Off, p.Filesz, p.Memsz, p.Align, uint32(p.Flags)})
			}
		}
		if d := cmp.Diff(loads, m.Loads); d != "" {
			t.Errorf("align %#x: Loads differ (-debug/elf +elfimg):\n%s", align, d)
		}
		if b, ok := m.ReadAt(f.Section(".rodata").Addr, len(spec.Rodata)); !ok || !bytes.Equal(b, spec.Rodata) {
			t.Errorf("align %#x: ReadAt(.rodata) = %q, %v", align, b, ok)
		}
		syms, err := f.DynamicSymbols()
		if err != nil || len(syms) != len(spec.Dynamic) {
			t.Errorf("DynamicSymbols() = %d symbols, %v, want %d", len(syms), err, len(spec.Dynamic))
		}
	}
}

func TestNewKeepsRawUntouched(t *testing.T) {
	raw := elftest.Build(full())
	before := bytes.Clone(raw)
	m := open(t, raw)
	visit(t, m)
	if !bytes.Equal(raw, before) {
		t.Error("a view changed its bytes")
	}
}

func TestExecFallsBackToSegments(t *testing.T) {
	spec := full()
	spec.NoSections = true
	stripped := elftest.Build(spec)
	m := open(t, stripped)
	want := []Range{{Vaddr: base, Off: 0, Size: m.Loads[0].Filesz &^ 3}}
	if d := cmp.Diff(want, m.Exec); d != "" || !m.ExecFromSegments {
		t.Errorf("Exec without sections (ExecFromSegments %v):\n%s", m.ExecFromSegments, d)
	}
	raw := elftest.Build(full())
	for _, row := range []struct {
		what  string
		edit  func([]byte) []byte
		exec  int
		fromS bool
	}{
		{"sections", edit(0, 0, 0), 2, false},
		{"e_shnum 0", edit(2, 60, 0), 1, true},
		{"text not executable", edit(8, shField(raw, 1, 8), shfAlloc), 1, false},
		{"text not loaded", edit(8, shField(raw, 1, 8), shfExec), 1, false},
		{"text empty", edit(8, shField(raw, 1, 32), 0), 1, false},
		{"text of 3 bytes", edit(8, shField(raw, 1, 32), 3), 1, false},
		{"text of 4 bytes", edit(8, shField(raw, 1, 32), 4), 2, false},
		{"text of 5 bytes", edit(8, shField(raw, 1, 32), 5), 2, false},
	} {
		m := open(t, row.edit(bytes.Clone(raw)))
		if len(m.Exec) != row.exec || m.ExecFromSegments != row.fromS {
			t.Errorf("%s: %d ranges, from segments %v, want %d, %v", row.what, len(m.Exec), m.ExecFromSegments, row.exec, row.fromS)
		}
	}
}

func TestExecIsTrimmedToWords(t *testing.T) {
	raw := elftest.Build(full())
	raw = edit(8, shField(raw, 1, 16), text+1)(raw)
	raw = edit(8, shField(raw, 1, 24), elftest.TextOff+1)(raw)
	raw = edit(8, shField(raw, 1, 32), 10)(raw) // text+1 .. text+11: one whole word
	m := open(t, raw)
	if want := (Range{text + 4, elftest.TextOff + 4, 4, ".text"}); m.Exec[0] != want {
		t.Errorf("Exec[0] = %+v, want %+v", m.Exec[0], want)
	}
}

// Two segments may not show the same bytes as code twice.
func TestExecRefusesAliases(t *testing.T) {
	spec := full()
	spec.NoSections = true
	raw := elftest.Build(spec)
	for field, v := range map[int]uint64{4: 5, 8: 0, 16: base + 0x100000} {
		raw = edit(map[int]int{4: 4, 8: 8, 16: 8}[field], ph(1, field), v)(raw)
	}
	raw = edit(4, ph(7, 0), 0)(raw) // PT_DYNAMIC
	if _, err := New(raw); !errors.Is(err, ErrOverlap) {
		t.Errorf("New(aliased code) = %v, want %v", err, ErrOverlap)
	}
}

func TestDebugFile(t *testing.T) {
	spec := full()
	spec.Debug = true
	raw := elftest.Build(spec)
	raw = edit(8, ph(1, 8), 0xbe8be8)(raw)                    // offsets that no longer fit their addresses
	raw = edit(8, ph(0, 32), le.Uint64(raw[ph(0, 40):]))(raw) // and sizes that reach past the end
	raw = edit(8, ph(3, 8), math.MaxUint64)(raw)
	m := open(t, raw)
	if len(m.Exec) != 0 || !m.Debug || m.ExecFromSegments {
		t.Errorf("Exec = %v, Debug = %v, ExecFromSegments = %v, want none, true, false", m.Exec, m.Debug, m.ExecFromSegments)
	}
	if d := cmp.Diff(spec.BuildID, m.BuildID); d != "" {
		t.Errorf("BuildID of a debug file (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Func{{text + 12, 12, "_IO_cleanup", false}}, funcs(m)); d != "" {
		t.Errorf("Funcs of a debug file (-want +got):\n%s", d)
	}
	if b, ok := m.ReadAt(text, 4); ok {
		t.Errorf("ReadAt of a debug file = %x, want nothing", b)
	}
	visit(t, m)
}

func TestReadAtAndWord(t *testing.T) {
	raw := elftest.Build(full())
	raw = edit(8, ph(1, 40), le.Uint64(raw[ph(1, 32):])+100)(raw) // bss
	m := open(t, raw)
	rx, rw := m.Loads[0], m.Loads[1]
	for _, row := range []struct {
		vaddr uint64
		n     int
		ok    bool
	}{
		{base - 1, 1, false}, {base, 1, true}, {base, 0, true}, {base, -1, false},
		{base, int(rx.Filesz), true}, {base, int(rx.Filesz) + 1, false}, {base + 1, int(rx.Filesz), false},
		{rx.Vaddr + rx.Filesz - 1, 1, true}, {rx.Vaddr + rx.Filesz, 1, false}, {rx.Vaddr + rx.Filesz, 0, false},
		{rw.Vaddr, int(rw.Filesz), true}, {rw.Vaddr + rw.Filesz, 1, false}, {rw.Vaddr, int(rw.Filesz) + 1, false},
		{math.MaxUint64, 1, false}, {base, math.MaxInt, false},
	} {
		b, ok := m.ReadAt(row.vaddr, row.n)
		if ok != row.ok || ok && len(b) != row.n {
			t.Errorf("ReadAt(%#x, %d) = %d bytes, %v, want %v", row.vaddr, row.n, len(b), ok, row.ok)
		}
		if ok && row.n > 0 && !inside(m.Raw, b) {
			t.Errorf("ReadAt(%#x, %d) is no part of Raw", row.vaddr, row.n)
		}
	}
	for _, row := range []struct {
		vaddr uint64
		want  uint32
		ok    bool
	}{
		{text - 4, 0, false}, {text, nop, true}, {text + 1, 0, false}, {text + 2, 0, false}, {text + 4, svc, true}, {text + 28, nop, true},
		{text + 32, svc, true}, {text + 36, ret, true}, {text + 40, 0, false}, {math.MaxUint64 - 3, 0, false},
	} {
		if got, ok := m.Word(row.vaddr); got != row.want || ok != row.ok {
			t.Errorf("Word(%#x) = %#x, %v, want %#x, %v", row.vaddr, got, ok, row.want, row.ok)
		}
	}
}

func TestBytes(t *testing.T) {
	m := open(t, elftest.Build(full()))
	if b := m.Bytes(m.Exec[0]); len(b) != 32 || le.Uint32(b[4:]) != svc || !inside(m.Raw, b) {
		t.Errorf("Bytes(.text) = %x", b)
	}
	for _, r := range []Range{{Off: uint64(len(m.Raw)), Size: 1}, {Off: math.MaxUint64, Size: 2}, {Off: 1, Size: math.MaxUint64}} {
		if b := m.Bytes(r); b != nil {
			t.Errorf("Bytes(%+v) = %d bytes, want nil", r, len(b))
		}
	}
}

func TestHole(t *testing.T) {
	load := func(vaddr, size uint64, flags uint32) Segment {
		return Segment{Vaddr: vaddr, Memsz: size, Filesz: size, Flags: flags}
	}
	for _, row := range []struct {
		what       string
		loads      []Segment
		start, end uint64
	}{
		{"libc 2.43", []Segment{load(0, 0x19cfd8, 5), load(0x1ad070, 0x4538, 6)}, 0x19cfd8, 0x1a0000},
		{"one byte", []Segment{load(0, 0x1ffff, 5), load(0x20010, 1, 6)}, 0x1ffff, 0x20000},
		{"none left", []Segment{load(0, 0x20000, 5), load(0x20010, 1, 6)}, 0, 0},
		{"same page", []Segment{load(0, 0x20001, 5), load(0x20010, 1, 6)}, 0, 0},
		{"last executable counts", []Segment{load(0, 1, 5), load(0x20000, 1, 4), load(0x30000, 1, 5), load(0x50000, 1, 6)}, 0x30001, 0x50000},
		{"no room behind the last executable", []Segment{load(0, 1, 5), load(0x30000, 0x10001, 5), load(0x40010, 1, 6)}, 0, 0},
		{"no next", []Segment{load(0, 1, 6), load(0x20000, 1, 5)}, 0, 0},
		{"no code", []Segment{load(0, 1, 6), load(0x20000, 1, 4)}, 0, 0},
		{"nothing", nil, 0, 0},
	} {
		m := Image{Loads: row.loads}
		if s, e := m.Hole(); s != row.start || e != row.end {
			t.Errorf("%s: Hole() = %#x, %#x, want %#x, %#x", row.what, s, e, row.start, row.end)
		}
	}
}

func TestLibc(t *testing.T) {
	banner := "\x00GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"
	for _, row := range []struct{ rodata, soname, name, version string }{
		{banner, "", "glibc", "2.36"},
		{"\x00GNU C Library (GNU libc) development release version 2.43.9000.\n", "libc.so.6", "glibc", "2.43.9000"},
		{"\x00ld.so (Debian GLIBC 2.41-12) stable release version 2.41.\n", "ld-linux-aarch64.so.1", "glibc", "2.41"},
		{"", "ld-linux-aarch64.so.1", "glibc", ""},
		{"\x00see GNU C Library stable release version 2.36.\x00", "", "", ""},
		{"\x00GNU C Library stable release version x.\x00" + banner, "", "glibc", "2.36"},
		{"\x00GNU C Library stable release version 2", "", "", ""},
		{"\x00GNU C Library " + strings.Repeat("x", 300) + " stable release version 2.36.\n", "", "", ""},
		{"\x001.2\x00musl libc (aarch64)\nVersion %s\n\x00fd/\x00\x001.2.5\x00", "", "musl", "1.2.5"},
		{"\x00musl libc (aarch64)\x001.2.5-git-12-gabc\x00", "", "musl", "1.2.5"},
		{"\x00musl libc (aarch64)\x001.2\x001.2.x\x001.2.5x\x00", "", "musl", ""},
		{"\x001.2.5\x00", "libfoo.so", "", ""},
	} {
		m := open(t, elftest.Build(elftest.Spec{Text: []uint32{nop}, Rodata: []byte(row.rodata), SOName: row.soname, NoSections: true}))
		if n, v := m.Libc(); n != row.name || v != row.version {
			t.Errorf("Libc(%q) = %q, %q, want %q, %q", row.rodata, n, v, row.name, row.version)
		}
	}
	m := open(t, elftest.Build(full()))
	if n, v := m.Libc(); n != "glibc" || v != "2.31" {
		t.Errorf("Libc() = %q, %q, want glibc, 2.31", n, v)
	}
}
