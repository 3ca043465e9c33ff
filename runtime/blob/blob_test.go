package blob

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"svcrelay/runtime/blob/guestbuild"
)

// TestCurrent holds the blob to the sources: by their sums with any compiler, by
// every byte with the one that built it.
func TestCurrent(t *testing.T) {
	sums, err := guestbuild.Sums("..")
	if err != nil {
		t.Fatal(err)
	}
	version, ok := strings.CutSuffix(Built, sums)
	if !ok {
		t.Fatalf("the blob is out of date, run make blob: it was built from\n%sand now there are\n%s", Built, sums)
	}
	loader, err := guestbuild.Loader("../guest")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := guestbuild.Version()
	if err != nil {
		t.Fatal(err)
	}
	if ours == version && !bytes.Equal(loader, Loader) {
		t.Errorf("the same compiler makes another loader of %d bytes, have %d: run make blob", len(loader), len(Loader))
	}
}

func TestChecked(t *testing.T) {
	if err := errors.Join(guestbuild.Check(Loader)...); err != nil {
		t.Errorf("Check(Loader) = %v", err)
	}
}
