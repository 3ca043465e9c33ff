// One suite of an archive, from its signature down to its packages.

package debian

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/ulikunitz/xz"
)

// maxRelease bounds InRelease; real ones are 75 to 150 KB.
const maxRelease = 4 << 20

// A Suite is a suite whose release file has been checked.
type Suite struct {
	Name    string
	Release Release

	fetch *Fetcher
	base  string
	cache string
}

// Open fetches and checks the release file of a suite. The first base that
// serves a good one serves everything else. Indexes are kept in the folder cache.
func Open(f *Fetcher, a Archive, cache string) (*Suite, error) {
	var errs []error
	for _, base := range a.Bases {
		r, err := openRelease(f, a, base)
		if err == nil {
			return &Suite{Name: a.Suite, Release: r, fetch: f, base: base, cache: cache}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("suite %s: %w", a.Suite, errors.Join(errs...))
}

func openRelease(f *Fetcher, a Archive, base string) (Release, error) {
	rel := path.Join("dists", a.Suite, "InRelease")
	f.say("fetch " + rel)
	signed, err := f.Bytes(base, rel, maxRelease)
	if err != nil {
		return Release{}, err
	}
	text, err := verify(a.Keyring, signed)
	if err != nil {
		return Release{}, fmt.Errorf("%s: %w", join(base, rel), err)
	}
	r, err := parseRelease(text)
	if err != nil {
		return Release{}, fmt.Errorf("%s: %w", join(base, rel), err)
	}
	if err := r.check(a.Suite); err != nil {
		return Release{}, fmt.Errorf("%s: %w", join(base, rel), err)
	}
	if r.expired(time.Now()) {
		f.say("note: " + rel + " expired on " + r.ValidUntil.Format(time.DateOnly))
	}
	return r, nil
}

// Packages yields the packages of component main for an architecture, those for
// all architectures included.
func (s *Suite) Packages(arch string) iter.Seq2[Package, error] {
	return func(yield func(Package, error) bool) {
		list, err := s.index(arch)
		if err != nil {
			yield(Package{}, fmt.Errorf("suite %s: %w", s.Name, err))
			return
		}
		defer list.Close()
		for p, err := range readPackages(list) {
			if err != nil {
				err = fmt.Errorf("suite %s: index of %s: %w", s.Name, arch, err)
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// index opens the uncompressed index of an architecture.
func (s *Suite) index(arch string) (io.ReadCloser, error) {
	name := path.Join("main", "binary-"+arch, "Packages")
	packed, ok := s.Release.Files[name+".xz"]
	plain, ok2 := s.Release.Files[name]
	if !ok || !ok2 {
		return nil, fmt.Errorf("release file has no %s.xz", name)
	}
	// By hash, a mirror that is being updated cannot give us the next index.
	rel := path.Join("dists", s.Name, name+".xz")
	if s.Release.ByHash {
		rel = path.Join("dists", s.Name, path.Dir(name), "by-hash", "SHA256", packed.SHA256)
	}
	file := filepath.Join(s.cache, s.Name+"_"+arch+"_Packages.xz")
	if err := s.fetch.File(s.base, rel, file, packed); err != nil {
		return nil, err
	}
	return openXZ(file, plain.Size)
}

// Fetch makes dst hold a package's file.
func (s *Suite) Fetch(p Package, dst string) error {
	if err := s.fetch.File(s.base, p.Filename, dst, p.Sum); err != nil {
		return fmt.Errorf("suite %s: %s: %w", s.Name, p.Name, err)
	}
	return nil
}

// xzFile is an xz stream of known length in a file.
type xzFile struct {
	io.Reader
	io.Closer
}

func openXZ(name string, size int64) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := xz.NewReader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return xzFile{io.LimitReader(r, size), f}, nil
}
