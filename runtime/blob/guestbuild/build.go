// Package guestbuild compiles the guest's freestanding programs with the cross
// compiler and checks what came out.
//
// It promises that a program it returns has passed Check, and that the same
// sources and the same compiler give the same bytes in any folder. It refuses to
// go on without the compiler, and on any warning.
package guestbuild

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Compiler is the command that compiles and links.
const Compiler = "aarch64-linux-gnu-gcc"

// Flags are those of every guest program.
var Flags = []string{
	"-std=c11", "-Os", "-Wall", "-Wextra", "-Werror",
	"-ffreestanding", "-fno-builtin", "-nostdlib",
	"-mgeneral-regs-only",                // no vector state to save, ever
	"-mno-outline-atomics",               // else atomics call libgcc
	"-fno-tree-loop-distribute-patterns", // else a loop that clears calls memset
	"-fno-stack-protector",               // its canary lives in a libc
	"-fno-jump-tables",                   // a table is data that needs an address
	"-fPIE", "-fvisibility=hidden",       // addresses relative to the pc, no GOT
	"-fno-asynchronous-unwind-tables",   // nobody unwinds through a program that has no callers
	"-mbranch-protection=none",          // no landing pads: the kernel maps it unguarded
	"-fno-ident", "-Wl,--build-id=none", // the same bytes from the same code
	"-static-pie", "-Wl,--no-dynamic-linker",
	"-Wl,-z,max-page-size=65536", // the largest page of arm64
}

// loaderSources are the files that the exec loader is made of.
var loaderSources = []string{"loader.c", "loader.S"}

// Sources are the files that decide what the exec loader's bytes are, seen from
// the runtime folder. sysno.h is not one of them: its numbers never change.
var Sources = []string{"guest/abi.h", "guest/loader.S", "guest/loader.c", "guest/loader.h", "guest/loader.ld", "guest/sys.h"}

// Loader compiles the exec loader from the folder guest. More arguments for the
// compiler make a test build, which is not held to Check.
func Loader(guest string, extra ...string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "guestbuild-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "loader")
	args := append(append([]string{}, Flags...), "-Wl,-T,loader.ld", "-o", out)
	args = append(append(args, loaderSources...), extra...)
	if err := run(guest, args...); err != nil {
		return nil, fmt.Errorf("exec loader: %w", err)
	}
	image, err := os.ReadFile(out)
	if err != nil || len(extra) > 0 {
		return image, err
	}
	return image, errors.Join(Check(image)...)
}

// Version returns what the compiler and its linker call themselves, one a line.
func Version() (string, error) {
	gcc, err := exec.Command(Compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", Compiler, err)
	}
	ld, err := exec.Command(Compiler, "-Wl,--version", "-nostdlib").Output()
	if err != nil {
		return "", fmt.Errorf("%s: linker: %w", Compiler, err)
	}
	return firstLine(gcc) + firstLine(ld), nil
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return line + "\n"
}

// run compiles in dir, with names that are the same on every machine.
func run(dir string, args ...string) error {
	cmd := exec.Command(Compiler, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SOURCE_DATE_EPOCH=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", Compiler, err, bytes.TrimSpace(out))
	}
	return nil
}

// Sums returns a line with the SHA-256 and the name of each source, and of this
// package's flags: what a built program can be older than.
func Sums(runtime string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%x flags\n", sha256.Sum256([]byte(strings.Join(Flags, "\n"))))
	for _, name := range Sources {
		content, err := os.ReadFile(filepath.Join(runtime, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(content), name)
	}
	return b.String(), nil
}
