//go:build linux && arm64

// Places for binds whose target the root does not have. Paths resolve without
// them; a listing, and a look at a directory on the way, shows only what is there.

package tracer

import (
	"os"

	"svcrelay/runtime/guestfs"
)

// makePlaces makes what is missing and returns what removes it again. What cannot
// be made, in a root that is not ours to write, is left out.
func makePlaces(missing []guestfs.Placeholder) (remove func()) {
	var made []string
	for _, p := range missing {
		if makePlace(p) == nil {
			made = append(made, p.Host)
		}
	}
	return func() {
		for i := range made { // the innermost first; what is in use by now stays
			os.Remove(made[len(made)-1-i])
		}
	}
}

func makePlace(p guestfs.Placeholder) error {
	if p.Dir {
		return os.Mkdir(p.Host, 0o755)
	}
	f, err := os.OpenFile(p.Host, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
