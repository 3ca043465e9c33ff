package elfimg

import (
	"errors"
	"reflect"
	"runtime"
	"testing"

	"svcrelay/scanner/elfimg/elftest"
)

// inside tells whether b is a part of raw's memory.
func inside(raw, b []byte) bool {
	r, p := reflect.ValueOf(raw).Pointer(), reflect.ValueOf(b).Pointer()
	return p >= r && p+uintptr(len(b)) <= r+uintptr(len(raw))
}

// visit calls everything that m offers and checks what is promised of it.
func visit(t *testing.T, m *Image) {
	t.Helper()
	checkRanges(t, m)
	checkLoads(t, m)
	checkCode(t, m)
	checkUnwind(t, m)
	m.Libc()
	if s, e := m.Hole(); s > e || s == e && s != 0 {
		t.Errorf("Hole() = %#x, %#x", s, e)
	}
	if m.BuildID != nil && !inside(m.Raw, m.BuildID) {
		t.Error("BuildID is no part of Raw")
	}
}

func checkRanges(t *testing.T, m *Image) {
	t.Helper()
	end, total := uint64(0), uint64(0)
	for _, r := range m.Exec {
		s, ok := m.loadAt(r.Vaddr)
		if r.Vaddr < end || (r.Vaddr|r.Size)&3 != 0 || !ok || !s.Executable() || !s.holdsFile(r.Vaddr, r.Size) {
			t.Errorf("range %+v: not aligned, ascending, and inside an executable segment", r)
		}
		b := m.Bytes(r)
		if uint64(len(b)) != r.Size || !inside(m.Raw, b) {
			t.Errorf("Bytes(%+v) has %d bytes", r, len(b))
		}
		if w, ok := m.Word(r.Vaddr + r.Size - 4); !ok || w != le.Uint32(b[r.Size-4:]) {
			t.Errorf("Word(%#x) = %#x, %v, not the last word of its range", r.Vaddr+r.Size-4, w, ok)
		}
		end, total = r.Vaddr+r.Size, total+r.Size
	}
	if total > uint64(len(m.Raw)) {
		t.Errorf("%d bytes of code in a file of %d", total, len(m.Raw))
	}
}

func checkLoads(t *testing.T, m *Image) {
	t.Helper()
	for _, s := range m.Loads {
		b, ok := m.ReadAt(s.Vaddr, int(s.Filesz))
		if ok != (s.Filesz > 0) || ok && !inside(m.Raw, b) {
			t.Errorf("ReadAt(segment at %#x) = %d bytes, %v", s.Vaddr, len(b), ok)
		}
		if b, ok := m.ReadAt(s.Vaddr, int(s.Filesz)+1); ok {
			t.Errorf("ReadAt past the segment at %#x = %d bytes", s.Vaddr, len(b))
		}
	}
}

func checkCode(t *testing.T, m *Image) {
	t.Helper()
	n := 0
	for f := range m.Funcs {
		n++
		if s, ok := m.loadAt(f.Vaddr); !ok || !s.Executable() || f.Size > s.memEnd()-f.Vaddr {
			t.Errorf("function %+v is outside executable memory", f)
		}
	}
	if n > 2*len(m.Raw)/symSize {
		t.Errorf("%d functions in %d bytes", n, len(m.Raw))
	}
	n = 0
	for v := range m.Relatives {
		n++
		if _, ok := m.Word(v); !ok {
			t.Errorf("relative %#x is no word of code", v)
		}
	}
	if n > 8*len(m.Raw) {
		t.Errorf("%d relatives in %d bytes", n, len(m.Raw))
	}
}

func checkUnwind(t *testing.T, m *Image) {
	t.Helper()
	end, n := uint64(0), 0
	for f := range m.Frames {
		if f.Start < end || !m.executable(f) {
			t.Errorf("frame %+v is not ascending and in executable memory", f)
		}
		end = f.End
		if g, ok := m.FrameAt(f.Start); ok && !g.holds(f.Start) {
			t.Errorf("FrameAt(%#x) = %+v", f.Start, g)
		}
		err := m.LandingPads(f, func(v uint64) bool {
			n++
			if _, ok := m.execAt(v); !ok {
				t.Errorf("landing pad %#x is outside the code", v)
			}
			return true
		})
		if err != nil && !errors.Is(err, ErrUnwind) && !errors.Is(err, ErrOutside) {
			t.Errorf("LandingPads(%+v) = %v", f, err)
		}
	}
	if n > 2*len(m.Raw) {
		t.Errorf("%d landing pads in %d bytes", n, len(m.Raw))
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Memory that any input of n bytes may cost: both tables decoded (a copy and
// reflection's buffer), ranges with their names, a copy of each string table,
// and frames.
func memoryLimit(n int) uint64 { return 64<<10 + 16*uint64(n) }

func FuzzNew(f *testing.F) {
	f.Add(elftest.Build(elftest.Spec{}))
	f.Add(elftest.Build(full()))
	for _, e := range []func(*elftest.Spec){
		func(s *elftest.Spec) { s.NoSections = true },
		func(s *elftest.Spec) { s.NoSections, s.GNUHash = true, true },
		func(s *elftest.Spec) { s.Debug = true },
		func(s *elftest.Spec) { s.Unwind, s.CallSites = elftest.NoTable, encUdata4 },
		func(s *elftest.Spec) { s.Unwind, s.Align = elftest.NoHeader, 0x1000 },
	} {
		s := full()
		e(&s)
		f.Add(elftest.Build(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m *Image
		var err error
		spent := allocated(func() {
			if m, err = New(raw); err == nil {
				visit(t, m)
			}
		})
		if (m == nil) == (err == nil) {
			t.Errorf("New = %v, %v, want one of them", m, err)
		}
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("New = %T %v, want *Error", err, err)
		}
		if limit := memoryLimit(len(raw)); spent > limit {
			t.Errorf("%d bytes of input cost %d bytes of memory, limit %d", len(raw), spent, limit)
		}
	})
}

func BenchmarkNew(b *testing.B) {
	raw := elftest.Build(full())
	for b.Loop() {
		if _, err := New(raw); err != nil {
			b.Fatal(err)
		}
	}
}
