// From names to files on disk.

package depend

import (
	"path/filepath"

	"svcrelay/cmd/internal/debian"
)

// Arch is the architecture of everything that runs in the test machine.
const Arch = "arm64"

// A Deb is a package whose file is on disk.
type Deb struct {
	debian.Package
	File string
}

// Fetch makes the folder dir hold the wanted packages of a suite and all that
// they need.
func Fetch(s *debian.Suite, want []string, follow Rule, dir string) ([]Deb, error) {
	packages, err := Resolve(s.Packages(Arch), want, follow)
	if err != nil {
		return nil, err
	}
	var debs []Deb
	for _, p := range packages {
		d := Deb{p, filepath.Join(dir, p.LocalName())}
		if err := s.Fetch(p, d.File); err != nil {
			return nil, err
		}
		debs = append(debs, d)
	}
	return debs, nil
}
