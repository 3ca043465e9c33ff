// Programs of the module, for the machine.

package rigtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svcrelay/cmd/internal/machine"
)

// Build compiles a command of the module, named by its folder, for the machine
// and returns the file on this side, for Options.Files.
func Build(t testing.TB, dir string) string {
	t.Helper()
	r, out := find(t), filepath.Join(t.TempDir(), filepath.Base(dir))
	env := []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS="}
	run(t, r.Module, env, "go", "build", "-trimpath", "-buildvcs=false", "-o", out, "./"+dir)
	return out
}

// Compile compiles a C program of the module, dynamically linked against the C
// library of the cross compiler: roots from bookworm on run it.
func Compile(t testing.TB, file string) string {
	t.Helper()
	r, out := find(t), filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(file), ".c"))
	run(t, r.Module, nil, "aarch64-linux-gnu-gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", out, file)
	return out
}

func find(t testing.TB) *machine.Rig {
	t.Helper()
	r, err := machine.Find(func(string) {})
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	return r
}

func run(t testing.TB, dir string, env []string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if talk, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("rig: %s: %v\n%s", strings.Join(argv, " "), err, talk)
	}
}
