// Picking packages out of an index of 60,000.

package main

import (
	"fmt"
	"iter"
	"slices"

	"svcrelay/cmd/internal/debian"
)

// find returns the named packages in the order of names. An index that lists
// one of them twice leaves open which is meant, and is refused.
func find(index iter.Seq2[debian.Package, error], names []string) ([]debian.Package, error) {
	got := make([]debian.Package, len(names))
	for p, err := range index {
		if err != nil {
			return nil, err
		}
		i := slices.Index(names, p.Name)
		if i < 0 {
			continue
		}
		if got[i].Name != "" {
			return nil, fmt.Errorf("package %s: listed as %s and as %s", p.Name, got[i].Version, p.Version)
		}
		got[i] = p
	}
	for i, p := range got {
		if p.Name == "" {
			return nil, fmt.Errorf("package %s: not in the index", names[i])
		}
	}
	return got, nil
}
