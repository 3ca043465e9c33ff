// From the sites of an image to its table. An image that has no build-ID, or one
// that is no identity, is named by the hash of its code instead: it must work as
// well, and its code is what the table is about.

package cachefmt

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// ErrTooFar is why FromSites refuses an address that no offset can express:
// below the lowest PT_LOAD address, or 4 GiB and more above it.
var ErrTooFar = errors.New("not within 4 GiB of the lowest segment")

// KeyOf returns the key of the table of an image: its build-ID when that has 8
// to 64 bytes, else a SHA-256 over each executable range as a table encodes it,
// followed by the range's bytes.
func KeyOf(img *elfimg.Image) (Key, error) {
	ranges, err := execOf(img)
	if err != nil {
		return Key{}, err
	}
	return keyOf(img, ranges), nil
}

func keyOf(img *elfimg.Image, ranges []Range) Key {
	if k := (Key{ID: string(img.BuildID)}); k.valid() {
		return k
	}
	h := sha256.New()
	for i, r := range ranges {
		h.Write(appendRange(nil, r))
		h.Write(img.Bytes(img.Exec[i]))
	}
	return Key{ID: string(h.Sum(nil)), Hashed: true}
}

// base is the address that offsets count from. It is not rounded to a page.
func base(img *elfimg.Image) uint64 {
	if len(img.Loads) == 0 {
		return 0
	}
	return img.Loads[0].Vaddr
}

// execOf returns the executable ranges of an image as a table has them.
func execOf(img *elfimg.Image) ([]Range, error) {
	var ranges []Range
	for _, r := range img.Exec {
		off, err := offsetOf(r.Vaddr, base(img))
		if err != nil {
			return nil, fmt.Errorf("executable range %s: %w", r.Name, err)
		}
		if r.Size > math.MaxUint32 {
			return nil, fmt.Errorf("executable range %s: size 0x%x: %w", r.Name, r.Size, ErrTooFar)
		}
		ranges = append(ranges, Range{Offset: off, Size: uint32(r.Size)})
	}
	return ranges, nil
}

// FromSites makes the table of an image from the sites that were found in it.
// Refused sites are left out. recogniser and window say how they were found.
func FromSites(img *elfimg.Image, recogniser uint16, window int, sites []scanner.Site) (*Table, error) {
	ranges, err := execOf(img)
	if err != nil {
		return nil, err
	}
	t := &Table{Key: keyOf(img, ranges), Recogniser: recogniser, Window: window, Exec: ranges}
	for _, s := range sites {
		if s.Verdict != scanner.Accept {
			continue
		}
		e, err := fromSite(s, base(img))
		if err != nil {
			return nil, fmt.Errorf("site 0x%x: %w", s.Vaddr, err)
		}
		t.Entries = append(t.Entries, e)
	}
	slices.SortFunc(t.Entries, func(a, b Entry) int { return cmp.Compare(a.Svc, b.Svc) })
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("sites: %w", err)
	}
	return t, nil
}

// fromSite makes the entry of an accepted site.
func fromSite(s scanner.Site, base uint64) (Entry, error) {
	e := Entry{Word: s.HookWord, Live: s.Live, Kind: s.Kind, Flags: s.Flags}
	var err error
	for _, f := range [...]struct {
		to    *uint32
		vaddr uint64
		used  bool
	}{
		{&e.Svc, s.Vaddr, true},
		{&e.Hook, s.Hook, true},
		{&e.Start, s.Start, s.Start != 0},
		{&e.End, s.End, s.End != 0},
	} {
		if !f.used {
			continue
		}
		if *f.to, err = offsetOf(f.vaddr, base); err != nil {
			return Entry{}, err
		}
	}
	if e.Number, err = numberOf(s.Number); err != nil {
		return Entry{}, err
	}
	e.Distance, err = distanceOf(s.Distance)
	return e, err
}

func offsetOf(vaddr, base uint64) (uint32, error) {
	if vaddr < base || vaddr-base > math.MaxUint32 {
		return 0, fmt.Errorf("address 0x%x, segments from 0x%x: %w", vaddr, base, ErrTooFar)
	}
	return uint32(vaddr - base), nil
}

func numberOf(n int) (uint16, error) {
	if n == scanner.NoNumber {
		return NoNumber, nil
	}
	if n < 0 || n > MaxNumber {
		return 0, fmt.Errorf("number %d: %w", n, ErrNumber)
	}
	return uint16(n), nil
}

func distanceOf(n int) (uint8, error) {
	if n < 0 || n > math.MaxUint8 {
		return 0, fmt.Errorf("distance %d: %w", n, ErrDistance)
	}
	return uint8(n), nil
}
