package elfimg

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner/elfimg/elftest"
)

func frames(m *Image) (fs []Frame) {
	m.Frames(func(f Frame) bool { fs = append(fs, f); return true })
	return fs
}

func pads(m *Image, f Frame) (ps []uint64, err error) {
	err = m.LandingPads(f, func(v uint64) bool { ps = append(ps, v); return true })
	return ps, err
}

// unwound has frames out of order, a gap between them, and two LSDAs.
func unwound(u elftest.Unwind, callSites byte) elftest.Spec {
	return elftest.Spec{
		Base: base, Text: make([]uint32, 32), Unwind: u, CallSites: callSites,
		Frames: []elftest.Frame{
			{Start: text + 64, Size: 16},
			{Start: text, Size: 12, Pads: []uint64{text + 8}},
			{Start: text + 16, Size: 48, Pads: []uint64{0, text + 20, text + 124}},
		},
	}
}

func TestFrameAt(t *testing.T) {
	for _, u := range []elftest.Unwind{elftest.Sorted, elftest.NoTable, elftest.NoHeader} {
		m := open(t, elftest.Build(unwound(u, 1)))
		for _, row := range []struct{ vaddr, start, end uint64 }{
			{0, 0, 0}, {text - 1, 0, 0},
			{text, text, text + 12}, {text + 11, text, text + 12}, {text + 12, 0, 0}, {text + 15, 0, 0},
			{text + 16, text + 16, text + 64}, {text + 63, text + 16, text + 64},
			{text + 64, text + 64, text + 80}, {text + 79, text + 64, text + 80}, {text + 80, 0, 0}, {1 << 63, 0, 0},
		} {
			f, ok := m.FrameAt(row.vaddr)
			if f.Start != row.start || f.End != row.end || ok != (row.end != 0) {
				t.Errorf("unwind %d: FrameAt(%#x) = %#x..%#x, %v, want %#x..%#x", u, row.vaddr, f.Start, f.End, ok, row.start, row.end)
			}
			if ok && (f.LSDA == 0) != (f.Start == text+64) {
				t.Errorf("unwind %d: FrameAt(%#x).LSDA = %#x", u, row.vaddr, f.LSDA)
			}
		}
	}
}

func TestFrames(t *testing.T) {
	for _, u := range []elftest.Unwind{elftest.Sorted, elftest.NoTable, elftest.NoHeader} {
		m := open(t, elftest.Build(unwound(u, 1)))
		var starts []uint64
		for _, f := range frames(m) {
			starts = append(starts, f.Start)
		}
		if d := cmp.Diff([]uint64{text, text + 16, text + 64}, starts); d != "" {
			t.Errorf("unwind %d: Frames (-want +got):\n%s", u, d)
		}
		for stop := 1; stop <= 3; stop++ {
			n := 0
			m.Frames(func(Frame) bool { n++; return n < stop })
			if n != stop {
				t.Errorf("unwind %d: Frames stopped at %d yielded %d", u, stop, n)
			}
		}
	}
}

func TestFramesLeavesOutOverlaps(t *testing.T) {
	spec := elftest.Spec{Base: base, Text: make([]uint32, 8), Frames: []elftest.Frame{
		{Start: text, Size: 16}, {Start: text + 12, Size: 4}, {Start: text + 16, Size: 4}, {Start: text + 20, Size: 0},
		{Start: text + 24, Size: 0x10_0000}, {Start: 0x10, Size: 4},
	}}
	var starts []uint64
	for _, f := range frames(open(t, elftest.Build(spec))) {
		starts = append(starts, f.Start)
	}
	if d := cmp.Diff([]uint64{text, text + 16}, starts); d != "" {
		t.Errorf("Frames (-want +got):\n%s", d)
	}
}

func TestImageWithoutUnwindDataHasNoFrames(t *testing.T) {
	m := open(t, elftest.Build(elftest.Spec{Text: []uint32{nop}}))
	if f, ok := m.FrameAt(elftest.TextOff); ok {
		t.Errorf("FrameAt = %+v, want none", f)
	}
	if ps, err := pads(m, Frame{Start: elftest.TextOff, End: elftest.TextOff + 4}); ps != nil || err != nil {
		t.Errorf("LandingPads(no LSDA) = %x, %v, want none", ps, err)
	}
}

// A header of another version is no header; a count that its segment does not
// hold is no table.
func TestFrameAtDistrustsTheHeader(t *testing.T) {
	spec := unwound(elftest.Sorted, 1)
	spec.NoSections = true
	raw := elftest.Build(spec)
	hdr := int(le.Uint64(raw[ph(2, 8):]))
	for _, row := range []struct {
		what string
		edit func([]byte) []byte
		ok   bool
	}{
		{"intact", edit(0, 0, 0), true},
		{"version 2", edit(1, hdr, 2), false},
		{"no pointer to .eh_frame", edit(1, hdr+1, 0xff), false},
		{"table of another encoding", edit(1, hdr+3, 0x1b), true},
		{"count too large", edit(4, hdr+8, 1<<20), true},
		{"count 0", edit(4, hdr+8, 0), false},
	} {
		m := open(t, row.edit(bytes.Clone(raw)))
		if f, ok := m.FrameAt(text); ok != row.ok || ok && f.End != text+12 {
			t.Errorf("%s: FrameAt = %#x..%#x, %v, want %v", row.what, f.Start, f.End, ok, row.ok)
		}
	}
}

func TestLandingPads(t *testing.T) {
	for _, enc := range []byte{encUleb128, encUdata4, encSdata4} {
		m := open(t, elftest.Build(unwound(elftest.Sorted, enc)))
		var got []uint64
		for _, f := range frames(m) {
			ps, err := pads(m, f)
			if err != nil {
				t.Errorf("encoding %#x: LandingPads(%#x) = %v", enc, f.Start, err)
			}
			got = append(got, ps...)
		}
		if d := cmp.Diff([]uint64{text + 8, text + 20, text + 124}, got); d != "" {
			t.Errorf("encoding %#x: LandingPads (-want +got):\n%s", enc, d)
		}
		f, _ := m.FrameAt(text + 16)
		n := 0
		if err := m.LandingPads(f, func(uint64) bool { n++; return false }); n != 1 || err != nil {
			t.Errorf("encoding %#x: LandingPads stopped at once yielded %d, %v", enc, n, err)
		}
	}
}

// lsda runs LandingPads over a hand-made exception table for [text, text+8).
func lsda(t *testing.T, table ...byte) ([]uint64, error) {
	t.Helper()
	m := open(t, elftest.Build(elftest.Spec{Base: base, Text: make([]uint32, 4), Rodata: table, NoSections: true}))
	m.Exec = []Range{{Vaddr: text, Off: elftest.TextOff, Size: 16}}
	at := bytes.Index(m.Raw, table)
	return pads(m, Frame{Start: text, End: text + 8, LSDA: base + uint64(at)})
}

func TestLandingPadsOfHandMadeTables(t *testing.T) {
	baseAt4 := []byte{encUdata8, 4, 4, 0x40, 0, 0, 0, 0, 0, 0xff, 1, 4, 0, 4, 8, 0} // base text+4
	for _, row := range []struct {
		what  string
		table []byte
		pads  []uint64
		bad   bool
	}{
		{"types are skipped", []byte{0xff, 0x9b, 0x80, 0x01, 1, 4, 0, 4, 8, 1}, []uint64{text + 8}, false},
		{"base of its own", baseAt4, []uint64{text + 12}, false},
		{"last word", []byte{0xff, 0xff, 1, 4, 0, 4, 15, 0}, []uint64{text + 15}, false},
		{"outside the code", []byte{0xff, 0xff, 1, 4, 0, 4, 16, 0}, nil, true},
		{"fault behind a pad", []byte{0xff, 0xff, 1, 8, 0, 4, 8, 0, 0, 4, 16, 0}, []uint64{text + 8}, true},
		{"record cut", []byte{0xff, 0xff, 1, 3, 0, 4, 8, 0}, nil, true},
		{"length past the segment", []byte{0xff, 0xff, 1, 0xff, 0xff, 0x7f, 0, 4, 8, 0}, nil, true},
		{"endless length", bytes.Repeat([]byte{0xff}, 20), nil, true},
		{"unknown encoding", []byte{0xff, 0xff, 7, 4, 0, 4, 8, 0}, nil, true},
		{"indirect base", []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 1, 4, 0, 4, 8, 0}, nil, true},
		{"as many sites as words and one", []byte{0xff, 0xff, 1, 12, 0, 4, 8, 0, 0, 4, 8, 0, 0, 4, 8, 0}, []uint64{text + 8, text + 8, text + 8}, false},
		{"one site more", []byte{0xff, 0xff, 1, 16, 0, 4, 8, 0, 0, 4, 8, 0, 0, 4, 8, 0, 0, 4, 8, 0}, []uint64{text + 8, text + 8, text + 8}, true},
	} {
		ps, err := lsda(t, row.table...)
		if d := cmp.Diff(row.pads, ps); d != "" {
			t.Errorf("%s: LandingPads (-want +got):\n%s", row.what, d)
		}
		if bad := errors.Is(err, ErrUnwind) || errors.Is(err, ErrOutside); bad != row.bad || bad != (err != nil) {
			t.Errorf("%s: LandingPads = %v, want an error: %v", row.what, err, row.bad)
		}
	}
	m := open(t, elftest.Build(full()))
	if _, err := pads(m, Frame{Start: text, End: text + 8, LSDA: 1 << 60}); !errors.Is(err, ErrUnwind) {
		t.Errorf("LandingPads(table outside) = %v, want %v", err, ErrUnwind)
	}
}

// Every byte of the unwind tables, damaged in turn, costs frames at most.
func TestDamagedUnwindData(t *testing.T) {
	for _, u := range []elftest.Unwind{elftest.Sorted, elftest.NoTable, elftest.NoHeader} {
		raw := elftest.Build(unwound(u, 1))
		m := open(t, raw)
		start, end := m.Exec[0].Off+m.Exec[0].Size, m.Loads[0].Filesz
		for off := start; off < end; off++ {
			for _, v := range []byte{0, 0x7f, 0x80, 0xff} {
				in := bytes.Clone(raw)
				in[off] = v
				visit(t, open(t, in))
			}
		}
	}
}

func TestCursorNumbers(t *testing.T) {
	for _, row := range []struct {
		enc  byte
		in   []byte
		want uint64
		left int
		bad  bool
	}{
		{encUleb128, []byte{0x7f, 9}, 0x7f, 1, false},
		{encUleb128, []byte{0x80, 0x01}, 0x80, 0, false},
		{encUleb128, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 1<<64 - 1, 0, false},
		{encUleb128, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, 0, 1, true},
		{encUleb128, []byte{0x80}, 0, 0, true},
		{encSleb128, []byte{0x3f}, 63, 0, false},
		{encSleb128, []byte{0x40}, 1<<64 - 64, 0, false},
		{encSleb128, []byte{0x80, 0x7f}, 1<<64 - 128, 0, false},
		{encUdata2, []byte{0xff, 0xff}, 0xffff, 0, false},
		{encUdata2, []byte{0xff}, 0, 0, true},
		{encSdata2, []byte{0xff, 0xff}, 1<<64 - 1, 0, false},
		{encUdata4, []byte{0xff, 0xff, 0xff, 0xff}, 0xffff_ffff, 0, false},
		{encSdata4, []byte{0xfe, 0xff, 0xff, 0xff}, 1<<64 - 2, 0, false},
		{encSdata4, []byte{1, 2, 3}, 0, 0, true},
		{encUdata8, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 0x0807060504030201, 0, false},
		{encAbsptr, []byte{1, 2, 3, 4, 5, 6, 7}, 0, 0, true},
		{encPcrel | encSdata4, []byte{0xff, 0xff, 0xff, 0xff}, 0xfff, 0, false},
		{encDatarel | encUdata2, []byte{1, 0}, 0x2001, 0, false},
		{0x20 | encUdata2, []byte{1, 0}, 0, 0, true},
		{0x80 | encUdata2, []byte{1, 0}, 0, 0, true},
		{0x05, []byte{1, 0}, 0, 2, true},
	} {
		c := cursor{b: row.in, at: 0x1000, data: 0x2000}
		got := c.pointer(row.enc)
		if c.bad != row.bad || !row.bad && (got != row.want || len(c.b) != row.left) {
			t.Errorf("pointer(%#x, %x) = %#x, bad %v, %d left, want %#x, %v, %d", row.enc, row.in, got, c.bad, len(c.b), row.want, row.bad, row.left)
		}
	}
}

// A stored 0 is "no table", not the place where it is stored.
func TestCursorLSDA(t *testing.T) {
	for _, row := range []struct {
		in   []byte
		want uint64
	}{{[]byte{0, 0, 0, 0}, 0}, {[]byte{4, 0, 0, 0}, 0x1004}} {
		c := cursor{b: row.in, at: 0x1000}
		if got := c.lsda(encPcrel | encSdata4); got != row.want || len(c.b) != 0 {
			t.Errorf("lsda(%x) = %#x, %d left, want %#x, 0", row.in, got, len(c.b), row.want)
		}
	}
}

func TestCursorRecord(t *testing.T) {
	for _, row := range []struct {
		in   []byte
		body int
		left int
	}{
		{[]byte{0, 0, 0, 0}, -1, 0},
		{[]byte{1, 0, 0}, -1, 0},
		{[]byte{2, 0, 0, 0, 1}, -1, 0},
		{[]byte{2, 0, 0, 0, 1, 2}, 2, 0},
		{[]byte{2, 0, 0, 0, 1, 2, 3}, 2, 1},
		{[]byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}, 2, 1},
		{[]byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0x80, 1, 2, 3}, -1, 0},
		{[]byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0}, -1, 0},
	} {
		c := cursor{b: row.in}
		body, ok := c.record()
		if ok != (row.body >= 0) || ok && (len(body.b) != row.body || len(c.b) != row.left) {
			t.Errorf("record(%x) = %d bytes, %v, %d left, want %d, %d", row.in, len(body.b), ok, len(c.b), row.body, row.left)
		}
	}
}

func TestAugmentation(t *testing.T) {
	for _, row := range []struct {
		in   string // augmentation string, NUL, data
		want cie
		bad  bool
	}{
		{"\x00", cie{encAbsptr, encOmit, false}, false},
		{"zR\x00\x01\x1b", cie{0x1b, encOmit, true}, false},
		{"zRB\x00\x01\x1b", cie{0x1b, encOmit, true}, false},
		{"zRS\x00\x01\x1b", cie{0x1b, encOmit, true}, false},
		{"zPLR\x00\x07\x9b\x00\x00\x00\x00\x1b\x1b", cie{0x1b, 0x1b, true}, false},
		{"zPLR\x00\x07\x9b\x00\x00\x00\x00\x1b", cie{}, true},
		{"R\x00\x1b", cie{}, true},
		{"zRx\x00\x01\x1b", cie{}, true},
		{"zR", cie{}, true},
		{"zRRRRRRRRRRRRRRRR\x00", cie{}, true},
	} {
		c := cursor{b: []byte(row.in)}
		got := c.augmentation(c.letters())
		if c.bad != row.bad || !row.bad && got != row.want {
			t.Errorf("augmentation(%q) = %+v, bad %v, want %+v, %v", row.in, got, c.bad, row.want, row.bad)
		}
	}
}

// FrameAt is asked once per site: it must not allocate.
func TestFrameAtDoesNotAllocate(t *testing.T) {
	m := open(t, elftest.Build(unwound(elftest.Sorted, 1)))
	if n := testing.AllocsPerRun(10, func() { m.FrameAt(text + 20) }); n != 0 {
		t.Errorf("FrameAt allocates %v times, want 0", n)
	}
}
