// Which function a site is in, when symbols tell. Several names often share one
// address (open, open64, __open); the choice must not depend on their order.

package scanner

import (
	"cmp"
	"slices"
	"strings"

	"svcrelay/scanner/elfimg"
)

// nameBudget bounds the pairs of a symbol and a site that are looked at, against
// tables in which every symbol covers every site. Libc has about 1,500 pairs.
const nameBudget = 1 << 20

// nameSites sets Function and Offset of each site, which are sorted by address,
// and reports for each whether a dynamic symbol covers it.
func nameSites(img *elfimg.Image, sites []Site) (exported []bool) {
	exported = make([]bool, len(sites))
	vaddrs := make([]uint64, len(sites))
	for i := range sites {
		vaddrs[i] = sites[i].Vaddr
	}
	best := make([]elfimg.Func, len(sites))
	left := nameBudget
	for f := range covering(img, vaddrs) {
		first, _ := slices.BinarySearch(vaddrs, f.Vaddr)
		for i := first; i < len(sites) && vaddrs[i]-f.Vaddr < f.Size && left > 0; i, left = i+1, left-1 {
			exported[i] = exported[i] || f.Dynamic
			if best[i].Name == "" || compareNames(f, best[i]) < 0 {
				best[i] = f
			}
		}
	}
	for i, f := range best {
		if f.Name != "" {
			// A copy: the name is part of a string that holds the whole table.
			sites[i].Function, sites[i].Offset = strings.Clone(f.Name), sites[i].Vaddr-f.Vaddr
		}
	}
	return exported
}

// maxName is how much of a name is kept; nobody reads more.
const maxName = 256

// covering is the functions of img that hold one of the addresses.
func covering(img *elfimg.Image, vaddrs []uint64) func(func(elfimg.Func) bool) {
	return func(yield func(elfimg.Func) bool) {
		img.FuncsOver(vaddrs, func(f elfimg.Func) bool {
			f.Name, _, _ = strings.Cut(f.Name[:min(len(f.Name), maxName)], "@") // its version
			return yield(f)
		})
	}
}

// compareNames orders the names of one site, best first: the innermost function,
// then a name that programs link to, then the plainest spelling.
func compareNames(a, b elfimg.Func) int {
	return cmp.Or(
		cmp.Compare(a.Size, b.Size),
		compareBool(b.Dynamic, a.Dynamic),
		cmp.Compare(underscores(a.Name), underscores(b.Name)),
		cmp.Compare(len(a.Name), len(b.Name)),
		strings.Compare(a.Name, b.Name),
	)
}

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
