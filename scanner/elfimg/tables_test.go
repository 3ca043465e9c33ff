package elfimg

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner/elfimg/elftest"
)

func funcs(m *Image) (fs []Func) {
	m.Funcs(func(f Func) bool { fs = append(fs, f); return true })
	return fs
}

func relatives(m *Image) (rs []uint64) {
	m.Relatives(func(v uint64) bool { rs = append(rs, v); return true })
	return rs
}

func TestFuncs(t *testing.T) {
	static := Func{text + 12, 12, "_IO_cleanup", false}
	dynamic := []Func{{text, 12, "open", true}, {text + 12, 0, "memcpy", true}}
	for _, stripped := range []bool{false, true} {
		for _, gnu := range []bool{false, true} {
			spec := full()
			spec.NoSections, spec.GNUHash = stripped, gnu
			want := dynamic
			if !stripped {
				want = append([]Func{static}, dynamic...)
			}
			if d := cmp.Diff(want, funcs(open(t, elftest.Build(spec)))); d != "" {
				t.Errorf("Funcs (stripped %v, gnu hash %v) (-want +got):\n%s", stripped, gnu, d)
			}
		}
	}
}

func TestFuncsStops(t *testing.T) {
	m := open(t, elftest.Build(full()))
	for stop := 1; stop <= 3; stop++ {
		n := 0
		m.Funcs(func(Func) bool { n++; return n < stop })
		if n != stop {
			t.Errorf("Funcs stopped at %d yielded %d", stop, n)
		}
	}
}

// A name has at most maxSymbolName-1 bytes; a size ends with its segment; only
// addresses in executable memory are functions.
func TestFuncsBounds(t *testing.T) {
	for n, want := range map[int]int{maxSymbolName - 2: maxSymbolName - 2, maxSymbolName - 1: maxSymbolName - 1, maxSymbolName: 0} {
		spec := elftest.Spec{Text: []uint32{nop}, Symbols: []elftest.Symbol{{Name: strings.Repeat("n", n), Value: elftest.TextOff}}}
		if fs := funcs(open(t, elftest.Build(spec))); len(fs) != 1 || len(fs[0].Name) != want {
			t.Errorf("a name of %d bytes: %d functions, want one with a name of %d", n, len(fs), want)
		}
	}
	spec := elftest.Spec{Base: base, Text: []uint32{nop}, NoSections: true}
	loads := open(t, elftest.Build(spec)).Loads
	end, data := base+loads[0].Memsz, loads[1].Vaddr
	for _, row := range []struct {
		value, size uint64
		want        []uint64
	}{
		{base - 1, 1, nil}, {base, 1 << 63, []uint64{base}}, {end - 1, 1, []uint64{end - 1}}, {end, 1, nil}, {data, 1, nil},
	} {
		spec := spec
		spec.NoSections = false
		spec.Symbols = []elftest.Symbol{{Name: "f", Value: row.value, Size: row.size}}
		var got []uint64
		for _, f := range funcs(open(t, elftest.Build(spec))) {
			got = append(got, f.Vaddr)
			if f.Size > end-f.Vaddr {
				t.Errorf("function at %#x has size %#x, the segment ends at %#x", f.Vaddr, f.Size, end)
			}
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("function at %#x (-want +got):\n%s", row.value, d)
		}
	}
}

func TestFuncsSurviveBrokenTables(t *testing.T) {
	raw := elftest.Build(full())
	symtab, strtab := sectionIndex(t, raw, ".symtab"), sectionIndex(t, raw, ".strtab")
	for what, e := range map[string]func([]byte) []byte{
		"link out of range": edit(4, shField(raw, symtab, 40), 0xffff_ffff),
		"strings outside":   edit(8, shField(raw, strtab, 24), 1<<63),
		"names outside":     edit(8, shField(raw, strtab, 32), 0),
	} {
		fs := funcs(open(t, e(bytes.Clone(raw))))
		if len(fs) != 3 || fs[0].Name != "" || fs[0].Vaddr != text+12 {
			t.Errorf("%s: Funcs = %+v, want a nameless first one", what, fs)
		}
	}
	fs := funcs(open(t, edit(8, shField(raw, symtab, 32), 1<<40)(bytes.Clone(raw))))
	if len(fs) != 2 {
		t.Errorf("symbol table outside the file: %d functions, want the 2 dynamic ones", len(fs))
	}
}

func sectionIndex(t *testing.T, raw []byte, name string) int {
	t.Helper()
	m := open(t, raw)
	for i := range m.file.Sections {
		if m.sectionName(&m.file.Sections[i]) == name {
			return i
		}
	}
	t.Fatalf("no section %s", name)
	return 0
}

func TestSymbolCountOfHashTables(t *testing.T) {
	words := func(ws ...uint32) (b []byte) {
		for _, w := range ws {
			b = le.AppendUint32(b, w)
		}
		return b
	}
	for _, row := range []struct {
		what  string
		table []byte
		want  uint64
	}{
		{"cut", words(1, 1, 1), 0},
		{"no buckets", words(0, 7, 0, 0), 7},
		{"empty bucket", words(1, 7, 0, 0, 0), 7},
		{"one chain", words(1, 1, 0, 0, 1, 2, 4, 5), 4},
		{"two chains", words(2, 1, 0, 0, 3, 1, 2, 5, 7), 4},
		{"first symbol 5", words(1, 5, 1, 0, 0, 0, 6, 3, 3), 7},
		{"chain without end", words(1, 1, 0, 0, 1, 2, 4, 6), 4},
		{"chain outside", words(1, 1, 0, 0, 0xffff_ffff, 2), 0xffff_ffff},
		{"bloom outside", words(1, 1, 0xffff_ffff, 0, 1), 0},
		{"buckets outside", words(0xffff_ffff, 1, 0, 0, 1), 0},
	} {
		if got := gnuHashCount(row.table); got != row.want {
			t.Errorf("%s: gnuHashCount = %#x, want %#x", row.what, got, row.want)
		}
	}
}

// Read as a symbol, the ELF header itself is a function at address 0: a table
// that is absent must not be looked for there.
func TestAbsentTables(t *testing.T) {
	spec := elftest.Spec{Text: []uint32{nop}, NoSections: true, Dynamic: []elftest.Symbol{{Name: "f", Value: elftest.TextOff}}}
	raw := elftest.Build(spec)
	if fs := funcs(open(t, raw)); len(fs) != 1 {
		t.Errorf("Funcs = %+v, want one", fs)
	}
	dyn := int(le.Uint64(raw[ph(2, 8):])) // the first tag is DT_SYMTAB
	if fs := funcs(open(t, edit(8, dyn, 0x7000_0000)(bytes.Clone(raw)))); len(fs) != 0 {
		t.Errorf("Funcs without DT_SYMTAB = %+v, want none", fs)
	}
	if fs := funcs(open(t, edit(8, dyn, dtNull)(raw))); len(fs) != 0 {
		t.Errorf("Funcs behind DT_NULL = %+v, want none", fs)
	}
}

func TestDynamicEndsAtNull(t *testing.T) {
	raw := elftest.Build(full())
	dyn := int(le.Uint64(raw[ph(7, 8):]))
	if m := open(t, edit(8, dyn, dtNull)(raw)); m.SOName != "" || m.dyn != (dynamic{}) {
		t.Errorf("SOName = %q, %+v behind DT_NULL, want nothing", m.SOName, m.dyn)
	}
}

// A hash table that claims 2^32 symbols gives as many as its segment can hold.
func TestFuncsWithAbsurdHashCount(t *testing.T) {
	spec := full()
	spec.NoSections = true
	raw := elftest.Build(spec)
	m := open(t, raw)
	off := m.dyn.tag[dtHash] - base
	n := len(funcs(open(t, edit(4, int(off)+4, 0xffff_ffff)(raw))))
	if n < 2 || n > len(raw)/symSize {
		t.Errorf("%d functions, want 2 to %d", n, len(raw)/symSize)
	}
}

func TestRelatives(t *testing.T) {
	m := open(t, elftest.Build(full()))
	want := []uint64{text + 8, text + 12, text, text + 4} // not base and 5: no code there
	if n := slices.Collect(m.relocated()); len(n) != 6 {
		t.Errorf("relocated = %#x, want 6 targets", n)
	}
	if d := cmp.Diff(want, relatives(m)); d != "" {
		t.Errorf("Relatives (-want +got):\n%s", d)
	}
	for stop := 1; stop <= len(want); stop++ {
		n := 0
		m.Relatives(func(uint64) bool { n++; return n < stop })
		if n != stop {
			t.Errorf("Relatives stopped at %d yielded %d", stop, n)
		}
	}
}

func TestRelativesTakesOnlyWords(t *testing.T) {
	var in []uint64
	for v := uint64(text - 4); v < text+12; v++ {
		in = append(in, v)
	}
	m := open(t, elftest.Build(elftest.Spec{Base: base, Text: []uint32{nop, nop}, Relative: in}))
	if d := cmp.Diff([]uint64{text, text + 4}, relatives(m)); d != "" {
		t.Errorf("Relatives (-want +got):\n%s", d)
	}
}

func TestRelativesSkipsOtherKinds(t *testing.T) {
	raw := elftest.Build(full())
	kind := int(open(t, raw).dyn.tag[dtRela]-base) + 8
	m := open(t, edit(4, kind, 1028)(raw)) // R_AARCH64_TLS_DTPMOD
	if d := cmp.Diff([]uint64{text + 12, text, text + 4}, relatives(m)); d != "" {
		t.Errorf("Relatives (-want +got):\n%s", d)
	}
}

// A relocation against a symbol of the image itself names code too.
func TestRelativesOfSymbols(t *testing.T) {
	raw := elftest.Build(full())
	m := open(t, raw)
	at := int(m.dyn.tag[dtRela] - base)
	symbol := le.Uint64(raw[m.dyn.tag[dtSymtab]-base+symSize+8:])
	for _, kind := range []uint64{relAbs64, relGlobDat, relJumpSlot} {
		m := open(t, edit(8, at+8, kind|1<<32)(edit(8, at+16, 4)(raw)))
		if got := relatives(m); len(got) == 0 || got[0] != symbol+4 {
			t.Errorf("relocation %d of the symbol at 0x%x: %x, want its address and the addend 4 first", kind, symbol, got)
		}
	}
}

// 63 words are one bitmap, the 64th needs another.
func TestRelativesAcrossBitmaps(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 127, 128} {
		spec := elftest.Spec{Base: base, Text: make([]uint32, n)}
		for i := range n {
			spec.Relr = append(spec.Relr, text+4*uint64(i))
		}
		if d := cmp.Diff(spec.Relr, relatives(open(t, elftest.Build(spec)))); d != "" {
			t.Errorf("%d words of DT_RELR (-want +got):\n%s", n, d)
		}
	}
}

func TestRelrPlaces(t *testing.T) {
	for _, row := range []struct{ in, want []uint64 }{
		{[]uint64{0x1000}, []uint64{0x1000}},
		{[]uint64{0x1000, 0b1011}, []uint64{0x1000, 0x1008, 0x1018}},
		{[]uint64{0x1000, 1, 0b11}, []uint64{0x1000, 0x1008 + 63*8}},
		{[]uint64{0x1000, 1<<63 | 1}, []uint64{0x1000, 0x1008 + 62*8}},
		{[]uint64{0b11}, []uint64{0}},
		{[]uint64{0x1000, 0x1000}, []uint64{0x1000, 0x1000}},
	} {
		var b []byte
		for _, v := range row.in {
			b = le.AppendUint64(b, v)
		}
		var got []uint64
		for p := range relrPlaces(append(b, 1, 2, 3)) {
			got = append(got, p)
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("relrPlaces(%#x) (-want +got):\n%s", row.in, d)
		}
	}
}

// Thousands of sections, symbols and frames, all with one name of 4 KB: what
// would be 16 MB of names stays within what the file may cost.
func TestMemoryStaysWithinTheFile(t *testing.T) {
	spec := elftest.Spec{Base: base, Text: make([]uint32, 4000), Unwind: elftest.NoTable}
	long := strings.Repeat("n", maxSymbolName-1)
	spec.Symbols = append(spec.Symbols, elftest.Symbol{Name: long, Value: text})
	for i := range uint64(4000) {
		spec.Code = append(spec.Code, elftest.Code{Name: "x", Words: []uint32{nop}})
		spec.Symbols = append(spec.Symbols, elftest.Symbol{Value: text + 4*i})
		spec.Frames = append(spec.Frames, elftest.Frame{Start: text + 4*i, Size: 4})
	}
	spec.Code[0].Name = long
	raw := elftest.Build(spec)
	first, symtab := le.Uint32(raw[shField(raw, 2, 0):]), sectionIndex(t, raw, ".symtab")
	for i := range 4000 {
		raw = edit(4, shField(raw, 2+i, 0), uint64(first))(raw)
		raw = edit(4, int(le.Uint64(raw[shField(raw, symtab, 24):]))+symSize*(i+2), 1)(raw)
	}
	n := 0
	spent := allocated(func() {
		m := open(t, raw)
		visit(t, m)
		for f := range m.Funcs {
			n += len(f.Name)
		}
	})
	if limit := memoryLimit(len(raw)); spent > limit {
		t.Errorf("%d bytes of input cost %d bytes of memory, limit %d", len(raw), spent, limit)
	}
	if want := 4001 * (maxSymbolName - 1); n != want {
		t.Errorf("names of %d bytes, want %d", n, want)
	}
}
