package cachefmt

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
	"svcrelay/scanner/a64"
	"svcrelay/scanner/elfimg"
	"svcrelay/scanner/elfimg/elftest"
)

// testBase is not 0 and not page-aligned, so that a forgotten base shows.
const testBase = 0x40_0100

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

var _ io.Writer = brokenWriter{}

// imageOf returns an image that t is true of.
func imageOf(t *Table) *elfimg.Image {
	img := &elfimg.Image{BuildID: []byte(t.Key.ID)}
	for _, r := range t.Exec {
		img.Exec = append(img.Exec, elfimg.Range{Vaddr: testBase + uint64(r.Offset), Off: uint64(len(img.Raw)), Size: uint64(r.Size)})
		img.Raw = append(img.Raw, make([]byte, r.Size)...)
	}
	img.Loads = []elfimg.Segment{{Vaddr: testBase}, {Vaddr: testBase + 0x1000_0000}}
	for _, e := range t.Entries {
		store(img, e.Hook, e.Word)
	}
	return img
}

// store puts a word into the code of img.
func store(img *elfimg.Image, off uint32, w a64.Word) {
	for _, r := range img.Exec {
		if at := testBase + uint64(off) - r.Vaddr; at < r.Size {
			le.PutUint32(img.Raw[r.Off+at:], uint32(w))
		}
	}
}

// sitesOf returns the sites of which t is the table.
func sitesOf(t *Table) []scanner.Site {
	var sites []scanner.Site
	for _, e := range t.Entries {
		s := scanner.Site{Vaddr: testBase + uint64(e.Svc), Hook: testBase + uint64(e.Hook), HookWord: e.Word,
			Number: int(e.Number), Distance: int(e.Distance), Live: e.Live, Kind: e.Kind, Flags: e.Flags, Verdict: scanner.Accept}
		if e.Number == NoNumber {
			s.Number = scanner.NoNumber
		}
		if e.End != 0 {
			s.Start, s.End = testBase+uint64(e.Start), testBase+uint64(e.End)
		}
		sites = append(sites, s)
	}
	return sites
}

// fake is a recogniser that knows its sites by heart.
type fake []scanner.Site

func (f fake) At(kind scanner.Kind, vaddr uint64) (scanner.Site, bool) {
	i, ok := slices.BinarySearchFunc(f, vaddr, func(s scanner.Site, vaddr uint64) int {
		return int(int64(s.Vaddr) - int64(vaddr))
	})
	if !ok || f[i].Kind != kind {
		return scanner.Site{}, false
	}
	return f[i], true
}

func validateWith(t *Table, img *elfimg.Image, r recogniser) error {
	for err := range t.validate(img, r) {
		return err
	}
	return nil
}

func TestValidateAccepts(t *testing.T) {
	for name, table := range accepted() {
		if table.Key.Hashed {
			continue // TestValidateHashed
		}
		if len(table.Exec) > 0 && table.Exec[0].Size > 1<<30 {
			continue // an image of 4 GiB; its table has no entry
		}
		if err := validateWith(table, imageOf(table), fake(sitesOf(table))); err != nil {
			t.Errorf("%s: Validate() = %v, want nil", name, err)
		}
	}
}

func TestValidateHashed(t *testing.T) {
	table := sample()
	img := imageOf(table)
	img.BuildID = nil
	var err error
	if table.Key, err = KeyOf(img); err != nil || !table.Key.Hashed {
		t.Fatalf("KeyOf() = %v, %v, want a hash", table.Key, err)
	}
	r := fake(sitesOf(table))
	if err := validateWith(table, img, r); err != nil {
		t.Errorf("Validate() = %v, want nil", err)
	}
	img.Raw[0] ^= 1 // in a range without entries
	var m *Mismatch
	if err := validateWith(table, img, r); !errors.As(err, &m) || m.Field != FieldKey {
		t.Errorf("Validate(code changed) = %v, want another key", err)
	}
}

// Each case makes one thing differ; all that is wrong must be told, no more.
func TestValidateDenies(t *testing.T) {
	for _, row := range []struct {
		name string
		img  func(img *elfimg.Image)
		site func(sites []scanner.Site)
		want []string
	}{
		{"build-ID", func(img *elfimg.Image) { img.BuildID = []byte("ABCDEFGH") }, nil,
			[]string{"table: key: table has build-id:d1a36275696c642d6964206f662032302062792e, image has build-id:4142434445464748"}},
		{"range", func(img *elfimg.Image) { img.Exec[0].Size = 0x1c }, nil,
			[]string{"table: executable ranges: table has 0x400-0x420 0x1000-0x1800 0x1800-0x1900, image has 0x400-0x41c 0x1000-0x1800 0x1800-0x1900"}},
		{"range missing", func(img *elfimg.Image) { img.Exec = img.Exec[:2] }, nil, []string{
			"table: executable ranges: table has 0x400-0x420 0x1000-0x1800 0x1800-0x1900, image has 0x400-0x420 0x1000-0x1800",
			"entry 6, svc 0x1804: hook word: table has 0xf9000be1, image has no code"}},
		{"no code", func(img *elfimg.Image) { img.Exec, img.BuildID = nil, []byte(sample().Key.ID) }, func(s []scanner.Site) {}, append([]string{
			"table: executable ranges: table has 0x400-0x420 0x1000-0x1800 0x1800-0x1900, image has none"}, noCode()...)},
		{"word", func(img *elfimg.Image) { store(img, 0x1000, a64.NOP) }, nil,
			[]string{"entry 0, svc 0x1004: hook word: table has 0xd2800708, image has 0xd503201f"}},
		{"two words", func(img *elfimg.Image) { store(img, 0x1000, a64.NOP); store(img, 0x1300, a64.RET) }, nil, []string{
			"entry 0, svc 0x1004: hook word: table has 0xd2800708, image has 0xd503201f",
			"entry 4, svc 0x1300: hook word: table has 0x94000010, image has 0xd65f03c0"}},
		{"number", nil, func(s []scanner.Site) { s[0].Number = 57 }, []string{"entry 0, svc 0x1004: number: table has 56, image has 57"}},
		{"number unknown", nil, func(s []scanner.Site) { s[0].Number = scanner.NoNumber }, []string{"entry 0, svc 0x1004: number: table has 56, image has -"}},
		{"number far", nil, func(s []scanner.Site) { s[0].Number = 0x10038 }, []string{"entry 0, svc 0x1004: site: table has svc, image has number 65592: bad number"}},
		{"distance", nil, func(s []scanner.Site) { s[0].Distance = 2 }, []string{"entry 0, svc 0x1004: distance: table has 1, image has 2"}},
		{"distance far", nil, func(s []scanner.Site) { s[0].Distance = 257 }, []string{"entry 0, svc 0x1004: site: table has svc, image has distance 257: bad distance"}},
		{"hook", nil, func(s []scanner.Site) { s[3].Hook += 4 }, []string{"entry 3, svc 0x1200: hook: table has 0x000011fc, image has 0x00001200"}},
		{"bridge range", nil, func(s []scanner.Site) { s[2].Start += 4; s[2].End += 4 }, []string{
			"entry 2, svc 0x1120: bridge start: table has 0x00001104, image has 0x00001108",
			"entry 2, svc 0x1120: bridge end: table has 0x00001128, image has 0x0000112c"}},
		{"hook below base", nil, func(s []scanner.Site) { s[3].Hook = testBase - 4 }, []string{
			"entry 3, svc 0x1200: site: table has bridge, image has address 0x4000fc, segments from 0x400100: not within 4 GiB of the lowest segment"}},
		{"other kind", nil, func(s []scanner.Site) { s[3].Kind = scanner.Svc }, []string{"entry 3, svc 0x1200: site: table has bridge, image has none"}},
		{"no site", nil, func(s []scanner.Site) { s[4].Vaddr += 4 }, []string{"entry 4, svc 0x1300: site: table has call, image has none"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			table := sample()
			img, sites := imageOf(table), sitesOf(table)
			if row.img != nil {
				row.img(img)
			}
			if row.site != nil {
				row.site(sites)
			}
			var got []string
			for err := range table.validate(img, fake(sites)) {
				if !errors.Is(err, ErrMismatch) {
					t.Errorf("ValidateAll() yields %v, want a %v", err, ErrMismatch)
				}
				got = append(got, err.Error())
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Errorf("ValidateAll() differs (-want +got):\n%s", d)
			}
			if err := validateWith(table, img, fake(sites)); err == nil || err.Error() != row.want[0] {
				t.Errorf("Validate() = %v, want %s", err, row.want[0])
			}
		})
	}
}

// Only a scan knows that a branch lands on an svc, so a hook there is accepted.
func TestValidateHookIsSvc(t *testing.T) {
	table := sample()
	img, sites := imageOf(table), sitesOf(table)
	sites[1].Hook -= 4
	if err := validateWith(table, img, fake(sites)); err != nil {
		t.Errorf("Validate(hook is svc) = %v, want nil", err)
	}
}

// scanned returns an image of two svc sites, the words of the first's
// number and of the second's hook as given.
func scanned(t *testing.T, number, hook a64.Word) *elfimg.Image {
	t.Helper()
	img, err := elfimg.New(elftest.Build(elftest.Spec{Base: 0x40_0000, BuildID: []byte("build-id"), Text: []uint32{
		uint32(number), uint32(strWord), uint32(a64.SVC0), uint32(a64.RET),
		uint32(hook), uint32(a64.SVC0), uint32(a64.RET),
	}}))
	if err != nil {
		t.Fatalf("elfimg.New() = %v", err)
	}
	return img
}

// From words to a table and back, with scanner's own scan and recogniser.
func TestValidateScanned(t *testing.T) {
	img := scanned(t, movzOpenat, movzOpenat)
	found, err := scanner.Scan(img, scanner.Options{Relayed: func(nr int) bool { return nr == 56 }})
	if err != nil {
		t.Fatalf("Scan() = %v", err)
	}
	table, err := FromSites(img, scanner.RecogniserVersion, found.Window, found.Sites)
	if err != nil || len(table.Entries) != 2 {
		t.Fatalf("FromSites() = %v, %v, want two entries", table, err)
	}
	if err := Validate(table, img); err != nil {
		t.Errorf("Validate() = %v, want nil", err)
	}
	img = scanned(t, movzOpenat+1<<5, a64.NOP) // mov x8, #57
	var got []string
	for err := range ValidateAll(table, img) {
		got = append(got, err.Error())
	}
	want := []string{
		"entry 0, svc 0x408: number: table has 56, image has 57",
		"entry 1, svc 0x414: hook word: table has 0xd2800708, image has 0xd503201f",
		"entry 1, svc 0x414: site: table has svc, image has none",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ValidateAll() differs (-want +got):\n%s", d)
	}
	if err := Validate(table, img); err == nil || err.Error() != want[0] {
		t.Errorf("Validate() = %v, want %s", err, want[0])
	}
}

// noCode is the denial of every entry of sample.
func noCode() []string {
	var all []string
	for i, e := range sample().Entries {
		m := Mismatch{Entry: i, Svc: e.Svc, Field: FieldWord, Table: hex32(uint32(e.Word)), Image: "no code"}
		all = append(all, m.Error())
	}
	return all
}

// A table that was built by hand is checked like one that was read.
func TestValidateRefusesBrokenTables(t *testing.T) {
	for _, r := range refusals {
		if r.bytes != nil {
			continue
		}
		table := sample()
		img, sites := imageOf(table), fake(sitesOf(table))
		r.value(table)
		n := 0
		for err := range table.validate(img, sites) {
			n++
			wantFormatError(t, r.name+": ValidateAll()", err, r.want, r.offset)
		}
		if n != 1 {
			t.Errorf("%s: ValidateAll() yields %d errors, want 1", r.name, n)
		}
	}
}

// Every place that yields must stop when told so.
func TestValidateStops(t *testing.T) {
	table := sample()
	img, sites := imageOf(table), sitesOf(table)
	img.Exec = img.Exec[:2]
	for i := range sites {
		sites[i].Number, sites[i].Distance = 1, 200
	}
	store(img, 0x1000, a64.NOP)
	total := 0
	for range table.validate(img, fake(sites)) {
		total++
	}
	for stop := 1; stop <= total; stop++ {
		n := 0
		for range table.validate(img, fake(sites)) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("ValidateAll() yields %d errors, want %d", n, stop)
		}
	}
	if total < 10 {
		t.Errorf("ValidateAll() yields %d errors in all, want 10 or more", total)
	}
}

// Code that no table can describe has none.
func TestValidateFarCode(t *testing.T) {
	table := sample()
	img := imageOf(table)
	img.Exec[2].Vaddr = testBase + 1<<32
	if err := Validate(table, img); !errors.Is(err, ErrTooFar) {
		t.Errorf("Validate(code at 4 GiB) = %v, want %v", err, ErrTooFar)
	}
}

func BenchmarkValidate(b *testing.B) {
	table := large(80)
	img, r := imageOf(table), fake(sitesOf(table))
	data := encode(b, table)
	b.ReportAllocs()
	for b.Loop() {
		t, err := Decode(data)
		if err == nil {
			err = validateWith(t, img, r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
