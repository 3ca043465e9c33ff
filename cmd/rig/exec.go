// go test -exec: the binary goes into the machine with what tests read.

package main

import (
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"svcrelay/cmd/internal/machine"
)

// goDir is where a test finds its package, as deep in the module as outside.
const (
	goDir      = "/go"
	testBinary = "/go.test"
)

func execCommand() *cobra.Command {
	var o machine.Options
	var p place
	cmd := &cobra.Command{
		Use:   "exec [flags] BINARY [ARGUMENT...]",
		Short: "run a test binary the way go test -exec wants it",
		Long: `exec copies a test binary, the files and testdata of its package, the module's
testdata and go.mod into a fresh machine and runs the binary in the package's
folder. Tests of packages that need a compiler belong on the host.`,
		Example: "  GOARCH=arm64 CGO_ENABLED=0 go test -exec 'rig exec --kernel 6.1' ./...",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			extra, err := p.resolve(nil)
			if err != nil {
				return err
			}
			dir, files, err := testFiles(args[0])
			if err != nil {
				return err
			}
			for guest, host := range files {
				extra[p.request.Root+guest] = host
			}
			p.request.Argv = append([]string{testBinary}, args[1:]...)
			if p.request.Dir == "" {
				p.request.Dir = dir
			}
			return runIn(cmd, o, p, extra)
		},
	}
	cmd.Flags().SetInterspersed(false)
	addMachine(cmd, &o)
	addPlace(cmd, &p)
	return cmd
}

// testFiles returns the folder to run a test in and what it needs, by name in
// the machine. The working directory is the package's.
func testFiles(binary string) (string, map[string]string, error) {
	r, err := machine.Find(say)
	if err != nil {
		return "", nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	rel, err := filepath.Rel(r.Module, here)
	if err != nil {
		return "", nil, err
	}
	files := map[string]string{testBinary: binary}
	for _, name := range []string{"go.mod", "testdata"} {
		if host := filepath.Join(r.Module, name); exists(host) {
			files[path.Join(goDir, name)] = host
		}
	}
	dir := path.Join(goDir, filepath.ToSlash(rel))
	return dir, files, addPackage(files, here, dir)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// addPackage adds the files of a package's folder and its testdata, not the
// packages below it.
func addPackage(files map[string]string, host, guest string) error {
	entries, err := os.ReadDir(host)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() || e.Name() == "testdata" {
			files[path.Join(guest, e.Name())] = filepath.Join(host, e.Name())
		}
	}
	return nil
}
