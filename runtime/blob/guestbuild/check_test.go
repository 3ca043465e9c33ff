package guestbuild

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// link compiles a program that may be anything, with the flags that matter for
// it alone.
func link(t *testing.T, source string, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O1", "-ffreestanding", "-nostdlib", "-fPIE", "-Wl,--build-id=none", "-Wl,-z,max-page-size=4096", "x.c", "-o", "x"}, flags...)
	if err := run(dir, args...); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

const empty = "void _start(void) { for (;;) ; }\n"

func TestCheck(t *testing.T) {
	const high = "-Wl,-Ttext-segment=0x100000000"
	for _, tt := range []struct {
		name, source string
		flags        []string
		want         string // part of the complaint; "" for none
	}{
		{"fine", empty, []string{"-static", high}, ""},
		{"low", empty, []string{"-static", "-Wl,-Ttext-segment=0xfffff000"}, "segment at 0xfffff000 lies below 4 GiB"},
		{"interpreter", empty, []string{"-pie", "-Wl,--dynamic-linker=/lib/x"}, "has a PT_INTERP"},
		{"dynamic", empty, []string{"-static-pie"}, "has a PT_DYNAMIC"},
		{"data", "int x = 1;" + empty, []string{"-static", high}, "is writable"},
		{"bss", "int x;" + empty, []string{"-static", high}, "is writable"},
		{"relocation", "int x; int *const p = &x;" + empty, []string{"-static", high, "-Wl,--emit-relocs"}, "holds relocations"},
		{"undefined", "void f(void); void _start(void) { f(); }", []string{"-shared"}, "symbol f is undefined"},
		{"float", "void _start(void) { __asm__(\"fmov d0, xzr\"); }", []string{"-static", high}, "word 9e6703e0 uses a vector register"},
		{"unknown word", "void _start(void) { __asm__(\".inst 0x04a00000\"); }", []string{"-static", high}, "word 04a00000 is unknown"},
		{"stack", empty, []string{"-static", high, "-Wl,-z,execstack"}, "the stack is executable"},
		{"another machine", "", nil, "bad magic number"},
	} {
		image := []byte("nothing of the kind")
		if tt.source != "" {
			image = link(t, tt.source, tt.flags...)
		}
		err := errors.Join(Check(image)...)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Check(%s) = %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestLoaderSize moves the one segment's size over the limit, in the header.
func TestLoaderSize(t *testing.T) {
	image, err := Loader("../../guest")
	if err != nil {
		t.Fatal(err)
	}
	phdr := image[binary.LittleEndian.Uint64(image[32:]):]
	if elf.ProgType(binary.LittleEndian.Uint32(phdr)) != elf.PT_LOAD {
		t.Fatal("the first program header is no segment")
	}
	for size, want := range map[uint64]bool{MaxLoader: true, MaxLoader + 1: false} {
		// Address minus size: the limit is on where the segment ends.
		binary.LittleEndian.PutUint64(phdr[16:], size-binary.LittleEndian.Uint64(phdr[40:]))
		if err := errors.Join(Check(image)...); (err == nil) != want {
			t.Errorf("Check(loader up to %d) = %v, want success %v", size, err, want)
		}
	}
	binary.LittleEndian.PutUint64(phdr[16:], 0)
	binary.LittleEndian.PutUint64(phdr[40:], binary.LittleEndian.Uint64(phdr[32:])+1)
	if err := errors.Join(Check(image)...); err == nil || !strings.Contains(err.Error(), "not in the file") {
		t.Errorf("Check(loader with a byte of bss) = %v", err)
	}
}

// TestScript has the linker script refuse what would vanish from the image.
func TestScript(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"data":       {"int x = 1;", "the loader has writable data"},
		"bss":        {"int x;", "the loader has writable data"},
		"relocation": {"static int f(void) { return 1; } int (*const p[])(void) = {f};", "the loader has"},
		"libc":       {"void *memcpy(void *, const void *, unsigned long); void f(char *p) { memcpy(p, p + 1, 9); }", "undefined reference to `memcpy'"},
	} {
		extra := filepath.Join(t.TempDir(), "extra.c")
		if err := os.WriteFile(extra, []byte(tt.source), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Loader("../../guest", extra); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Loader with %s = %v, want %q", name, err, tt.want)
		}
	}
}

// TestHeader compiles the header alone: its assertions are the test.
func TestHeader(t *testing.T) {
	cmd := exec.Command(Compiler, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "../../guest/abi.h")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("abi.h: %v\n%s", err, out)
	}
}
