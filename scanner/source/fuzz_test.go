package source

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzWalk reads any bytes as a source. Whatever they are: no panic; a typed
// error of one line, or a walk to the end; every image is an ELF file within the
// limit, at a clean path, and no content comes twice; little memory is used; and
// the same bytes give the same result again. The committed seeds are one of each
// container, good and hostile.
func FuzzWalk(f *testing.F) {
	lim := limits{bombFloor: 1 << 20, bombRatio: 200, window: 1 << 20, names: 1 << 20, problems: 100, depth: 8}
	opt := Options{Globs: []string{"*.so", "/lib/x"}, MaxImage: 64 << 10}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := totalAlloc()
		r, err := walkBytes(data, opt, lim)
		if used := totalAlloc() - before; used > 200<<20 {
			t.Errorf("%#x bytes allocated for %#x", used, len(data))
		}
		checkErrors(t, append(r.problems, err))
		seen := map[string]bool{}
		for _, i := range r.images {
			if clean, err := cleanName(i.Path); err != nil || clean != i.Path {
				t.Errorf("image at path %q", i.Path)
			}
			if !isELF(i.Data[:4]) || len(i.Data) > int(opt.MaxImage) {
				t.Errorf("image %q of %#x bytes begins with %q", i.Path, len(i.Data), i.Data[:4])
			}
			if seen[string(i.Data)] {
				t.Errorf("image %q was yielded before", i.Path)
			}
			seen[string(i.Data)] = true
		}
		again, err2 := walkBytes(data, opt, lim)
		if diff := cmp.Diff(r.result(err), again.result(err2)); diff != "" {
			t.Errorf("second walk differs:\n%s", diff)
		}
	})
}

func checkErrors(t *testing.T, errs []error) {
	for _, err := range errs {
		if err == nil {
			continue
		}
		e, ok := err.(*Error)
		if !ok || e.Source != "src" || e.Reason == 0 || e.Reason >= numReasons || e.Offset < 0 {
			t.Errorf("error %#v", err)
		}
		if strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("error of more than a line: %q", err)
		}
	}
}
