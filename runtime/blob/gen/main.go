// Gen compiles the guest programs and writes them into package blob, with a
// record of the compiler and of the sources.
//
//	go run ./runtime/blob/gen      from the module's root (make blob does this)
//
// It is no go generate step: another compiler makes other bytes that are just as
// right, and whoever only wants to run the Go tests needs none.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/runtime/blob/guestbuild"
	"svcrelay/runtime/genfile"
)

func main() {
	if err := run("runtime"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(runtime string) error {
	loader, err := guestbuild.Loader(filepath.Join(runtime, "guest"))
	if err != nil {
		return err
	}
	version, err := guestbuild.Version()
	if err != nil {
		return err
	}
	sums, err := guestbuild.Sums(runtime)
	if err != nil {
		return err
	}
	if err := genfile.Replace(filepath.Join(runtime, "blob", "loader.elf"), loader); err != nil {
		return err
	}
	return genfile.Replace(filepath.Join(runtime, "blob", "built.txt"), []byte(version+sums))
}
