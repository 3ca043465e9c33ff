package elfimg

import (
	"bytes"
	"testing"

	"svcrelay/scanner/elfimg/elftest"
)

func TestNotes(t *testing.T) {
	id := func(n int) []byte { return elftest.Note(noteBuildID, bytes.Repeat([]byte{7}, n)) }
	huge := id(20)
	le.PutUint32(huge[4:], 0xffff_fff0)
	hugeName := id(20)
	le.PutUint32(hugeName, 0xffff_ffff)
	other := id(20)
	other[12] = 'X'
	for _, row := range []struct {
		what  string
		notes []byte
		want  int
	}{
		{"one", id(20), 20},
		{"first of two", append(id(20), id(8)...), 20},
		{"behind another owner", append(bytes.Clone(other), id(8)...), 8},
		{"another owner", other, 0},
		{"empty", id(0), 0},
		{"longest", id(maxBuildID), maxBuildID},
		{"too long", id(maxBuildID + 1), 0},
		{"description outside", huge, 0},
		{"name outside", hugeName, 0},
		{"cut", id(20)[:35], 0},
		{"cut header", id(20)[:11], 0},
		{"padded", append(id(5), id(20)...), 5},
	} {
		var m Image
		m.notes(row.notes, 4)
		if len(m.BuildID) != row.want {
			t.Errorf("%s: build-ID of %d bytes, want %d", row.what, len(m.BuildID), row.want)
		}
	}
}

// Note tables aligned to 8 pad to 8: here 12 bytes of a first description.
func TestNotesAlignment(t *testing.T) {
	for align, want := range map[uint64]int{0: 0, 1: 0, 4: 0, 8: 20} {
		first := append(elftest.Note(1, make([]byte, 12)), 0xff, 0xff, 0xff, 0xff)
		var m Image
		if m.notes(append(first, elftest.Note(noteBuildID, make([]byte, 20))...), align); len(m.BuildID) != want {
			t.Errorf("align %d: build-ID of %d bytes, want %d", align, len(m.BuildID), want)
		}
	}
}

func TestProperty(t *testing.T) {
	for f, want := range []Property{{}, {BTI: true}, {PAC: true}, {BTI: true, PAC: true}, {GCS: true}, {BTI: true, GCS: true}, {PAC: true, GCS: true}, {true, true, true}} {
		m := open(t, elftest.Build(elftest.Spec{Text: []uint32{nop}, Features: uint32(f)}))
		if m.Property != want {
			t.Errorf("Property(%#x) = %+v, want %+v", f, m.Property, want)
		}
	}
	other := []byte{1, 0, 0, 0xc0, 4, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0}
	feature := []byte{0, 0, 0, 0xc0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}
	for _, row := range []struct {
		what string
		desc []byte
		want bool
	}{
		{"behind another", append(bytes.Clone(other), feature...), true},
		{"another alone", other, false},
		{"without padding", feature[:12], true},
		{"cut", feature[:11], false},
		{"of size 0", []byte{0, 0, 0, 0xc0, 0, 0, 0, 0}, false},
		{"of huge size", []byte{0, 0, 0, 0xc0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0}, false},
	} {
		var m Image
		m.properties(row.desc)
		if m.Property.BTI != row.want {
			t.Errorf("%s: BTI = %v, want %v", row.what, m.Property.BTI, row.want)
		}
	}
}

// Note segments that overlap are walked for the length of one file, no more;
// the sections behind them get as much again.
func TestNotesOfManyOverlappingTables(t *testing.T) {
	whole := func(raw []byte, i int) []byte {
		return edit(8, ph(i, 32), uint64(len(raw)))(edit(8, ph(i, 8), 0)(raw))
	}
	spec := full()
	raw := whole(elftest.Build(spec), 3)
	if m := open(t, raw); len(m.BuildID) != 20 {
		t.Errorf("BuildID has %d bytes, want the 20 of the section", len(m.BuildID))
	}
	property := sectionIndex(t, raw, ".note.gnu.property")
	raw = edit(8, shField(raw, property, 32), uint64(len(raw)))(edit(8, shField(raw, property, 24), 0)(raw))
	if m := open(t, raw); m.BuildID != nil {
		t.Errorf("BuildID = %x, want none behind a section as large as the file", m.BuildID)
	}
	spec.NoSections = true
	if m := open(t, whole(elftest.Build(spec), 3)); m.BuildID != nil {
		t.Errorf("BuildID = %x, want none behind a segment as large as the file", m.BuildID)
	}
	if m := open(t, elftest.Build(spec)); len(m.BuildID) != 20 || !m.Property.GCS {
		t.Errorf("without sections: BuildID of %d bytes, %+v, want 20 and GCS", len(m.BuildID), m.Property)
	}
}

func TestStringAt(t *testing.T) {
	table := []byte("\x00abc\x00de")
	for _, row := range []struct {
		off   uint64
		limit int
		want  string
	}{
		{0, 9, ""}, {1, 9, "abc"}, {2, 9, "bc"}, {4, 9, ""}, {5, 9, ""}, {8, 9, ""}, {1 << 63, 9, ""}, {1, 3, ""}, {1, 4, "abc"},
	} {
		if got := stringAt(table, row.off, row.limit); got != row.want {
			t.Errorf("stringAt(%d, limit %d) = %q, want %q", row.off, row.limit, got, row.want)
		}
	}
}
