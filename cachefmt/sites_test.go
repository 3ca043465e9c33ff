package cachefmt

import (
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

func TestFromSites(t *testing.T) {
	want := sample()
	img, sites := imageOf(want), sitesOf(want)
	slices.Reverse(sites)
	sites = append(sites, scanner.Site{Vaddr: testBase + 0x1010, Number: 93, Kind: scanner.Svc, Reason: scanner.NumberNotRelayed})
	got, err := FromSites(img, want.Recogniser, want.Window, sites)
	if err != nil {
		t.Fatalf("FromSites() = %v", err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("FromSites() differs (-want +got):\n%s", d)
	}
}

func TestFromSitesRefuses(t *testing.T) {
	for _, row := range []struct {
		name string
		img  func(img *elfimg.Image)
		site func(s *scanner.Site)
		want error
	}{
		{"svc below", nil, func(s *scanner.Site) { s.Vaddr = testBase - 4 }, ErrTooFar},
		{"svc at 4 GiB", nil, func(s *scanner.Site) { s.Vaddr = testBase + 1<<32 }, ErrTooFar},
		{"svc below 4 GiB", nil, func(s *scanner.Site) { s.Vaddr = testBase + 1<<32 - 4 }, ErrOutOfRange},
		{"hook at 4 GiB", nil, func(s *scanner.Site) { s.Hook = testBase + 1<<32 }, ErrTooFar},
		{"start at 4 GiB", nil, func(s *scanner.Site) { s.Start = testBase + 1<<32 }, ErrTooFar},
		{"end at 4 GiB", nil, func(s *scanner.Site) { s.End = testBase + 1<<32 }, ErrTooFar},
		{"number negative", nil, func(s *scanner.Site) { s.Number = -2 }, ErrNumber},
		{"number that wraps", nil, func(s *scanner.Site) { s.Number -= 1 << 16 }, ErrNumber},
		{"number 1024", nil, func(s *scanner.Site) { s.Number = MaxNumber + 1 }, ErrNumber},
		{"number as none", nil, func(s *scanner.Site) { s.Number = NoNumber }, ErrNumber},
		{"distance 256", nil, func(s *scanner.Site) { s.Distance = 256 }, ErrDistance},
		{"distance negative", nil, func(s *scanner.Site) { s.Distance = -1 }, ErrDistance},
		{"distance beyond window", nil, func(s *scanner.Site) { s.Distance = 9 }, ErrDistance},
		{"kind", nil, func(s *scanner.Site) { s.Kind = 0 }, ErrKind},
		{"range at 4 GiB", func(img *elfimg.Image) { img.Exec[2].Vaddr = testBase + 1<<32 }, nil, ErrTooFar},
		{"range below 4 GiB", func(img *elfimg.Image) { img.Exec[2].Vaddr = testBase + 1<<32 - 4 }, nil, ErrOutOfRange},
		{"range of 4 GiB", func(img *elfimg.Image) { img.Exec[2].Size = math.MaxUint32 + 1 }, nil, ErrTooFar},
		{"range without segment", func(img *elfimg.Image) { img.Loads = nil; img.Exec[2].Vaddr = 1 << 32 }, nil, ErrTooFar},
	} {
		img, sites := imageOf(sample()), sitesOf(sample())
		if row.img != nil {
			row.img(img)
		}
		if row.site != nil {
			row.site(&sites[0])
		}
		if got, err := FromSites(img, 1, 8, sites); !errors.Is(err, row.want) || got != nil {
			t.Errorf("%s: FromSites() = %v, %v, want %v", row.name, got, err, row.want)
		}
		if _, err := KeyOf(img); row.img != nil && row.want == ErrTooFar && !errors.Is(err, row.want) {
			t.Errorf("%s: KeyOf() = %v, want %v", row.name, err, row.want)
		}
	}
}

func TestOffsetOf(t *testing.T) {
	for _, row := range []struct {
		vaddr, base uint64
		want        uint32
		err         error
	}{
		{0x1000, 0x1000, 0, nil},
		{0xfff, 0x1000, 0, ErrTooFar},
		{0x1001, 0x1000, 1, nil},
		{0x1_0000_0ffe, 0x1000, 0xffff_fffe, nil},
		{0x1_0000_0fff, 0x1000, 0xffff_ffff, nil},
		{0x1_0000_1000, 0x1000, 0, ErrTooFar},
		{0, math.MaxUint64, 0, ErrTooFar},
	} {
		if got, err := offsetOf(row.vaddr, row.base); got != row.want || !errors.Is(err, row.err) {
			t.Errorf("offsetOf(0x%x, 0x%x) = 0x%x, %v, want 0x%x, %v", row.vaddr, row.base, got, err, row.want, row.err)
		}
	}
}

func TestKeyOf(t *testing.T) {
	img := imageOf(sample())
	for _, n := range []int{8, 9, 16, 20, 32, 63, 64} {
		img.BuildID = make([]byte, n)
		if got, err := KeyOf(img); err != nil || got != (Key{ID: string(img.BuildID)}) {
			t.Errorf("KeyOf(build-ID of %d) = %v, %v, want it", n, got, err)
		}
	}
	hash := sha256.New()
	for _, r := range sample().Exec {
		hash.Write(le.AppendUint32(le.AppendUint32(nil, r.Offset), r.Size))
		hash.Write(img.Raw[:r.Size])
		img.Raw = img.Raw[r.Size:]
	}
	want := Key{string(hash.Sum(nil)), true}
	for _, n := range []int{0, 1, 7, 65} {
		img := imageOf(sample())
		img.BuildID = make([]byte, n)
		if got, err := KeyOf(img); err != nil || got != want {
			t.Errorf("KeyOf(build-ID of %d) = %v, %v, want %v", n, got, err, want)
		}
	}
}
