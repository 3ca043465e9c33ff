// Programs of the module, for the machine.

package rigtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"svcrelay/cmd/internal/machine"
)

// Build compiles a command of the module, named by its folder, for the machine
// and returns the file on this side, for Options.Files.
func Build(t testing.TB, dir string) string {
	t.Helper()
	r, err := machine.Find(func(string) {})
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	out := filepath.Join(t.TempDir(), filepath.Base(dir))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", out, "./"+dir)
	cmd.Dir = r.Module
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if talk, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("rig: go build %s: %v\n%s", dir, err, talk)
	}
	return out
}
