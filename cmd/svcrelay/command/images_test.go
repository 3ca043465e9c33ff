package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// manyImages is a directory of n images, each with a content of its own.
func manyImages(t *testing.T, n int) (dir string) {
	t.Helper()
	raw, err := os.ReadFile("../../../testdata/fixtures/tiny.elf")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("lib%03d.so", i))
		if err := os.WriteFile(name, fmt.Append(raw, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSlowImage: behind an image that takes long no more than perScanner images
// for each scanner are scanned; when it is done, all come in order.
func TestSlowImage(t *testing.T) {
	const images = 40
	dir := manyImages(t, images)
	for jobs := 2; jobs <= 3; jobs++ {
		synctest.Test(t, func(t *testing.T) {
			f := &imageFlags{globs: []string{"*.so"}, window: scanner.DefaultWindow, jobs: jobs}
			var begun atomic.Int32
			var behind int32
			work := func(m image, _ *elfimg.Image, _ *scanner.Result) (string, error) {
				begun.Add(1)
				if m.path == "lib000.so" {
					synctest.Wait() // until nothing else can go on
					behind = begun.Load()
				}
				return m.path, nil
			}
			var got []string
			err := each(t.Context(), f, &reporter{err: io.Discard}, []string{dir}, work, func(m *image, made string) {
				got = append(got, made)
			})
			if err != nil || len(got) != images {
				t.Fatalf("each yields %d images, %v, want %d", len(got), err, images)
			}
			if want := int32(perScanner * jobs); behind != want {
				t.Errorf("%d scanners: %d images begun behind a slow one, want %d", jobs, behind, want)
			}
			for i, name := range got {
				if want := fmt.Sprintf("lib%03d.so", i); name != want {
					t.Errorf("image %d is %s, want %s", i, name, want)
				}
			}
		})
	}
}
