// The GNU cross tools are the oracle of this package's tests: they were written
// by others, from the same manual. A missing tool is a failure and not a skip,
// because without them most of these tests would prove nothing.

package a64

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// march turns on all that binutils 2.40 knows.
const march = "-march=armv8.8-a+sve2+sme+memtag+rng+mops+flagm+pauth+sb+ssbs+ls64+fp16fml+dotprod+crypto+sha3+sm4+bf16+i8mm+predres+profile"

// run returns the output of a tool.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v (Debian has it in binutils-aarch64-linux-gnu, gcc-aarch64-linux-gnu)\n%s", name, err, &complaint)
	}
	return string(out)
}

// assemble returns the word of each line, all from one run of the assembler.
func assemble(t *testing.T, lines []string) []Word {
	t.Helper()
	dir := t.TempDir()
	source, object, image := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
	if err := os.WriteFile(source, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "aarch64-linux-gnu-as", march, "-o", object, source)
	run(t, "aarch64-linux-gnu-ld", "-Ttext=0", "-e0", "-o", object+".elf", object) // resolves adrp
	run(t, "aarch64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", object+".elf", image)
	text, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) != Size*len(lines) {
		t.Fatalf("assembler made %d bytes of %d lines", len(text), len(lines))
	}
	words := make([]Word, len(lines))
	for i := range words {
		words[i] = Word(binary.LittleEndian.Uint32(text[Size*i:]))
	}
	return words
}

// A listing is one line of a disassembly.
type listing struct {
	pc   uint64
	word Word
	text string // mnemonic, blank, operands; no comment and no symbol
}

// listWords disassembles words as if they lay at address 0.
func listWords(t *testing.T, words []Word) []listing {
	t.Helper()
	image := filepath.Join(t.TempDir(), "words.bin")
	var text []byte
	for _, w := range words {
		text = binary.LittleEndian.AppendUint32(text, uint32(w))
	}
	if err := os.WriteFile(image, text, 0o600); err != nil {
		t.Fatal(err)
	}
	got := parseListing(run(t, "aarch64-linux-gnu-objdump", "-D", "-z", "-b", "binary", "-m", "aarch64", image))
	if len(got) != len(words) {
		t.Fatalf("objdump printed %d of %d words", len(got), len(words))
	}
	return got
}

// listImage disassembles the executable sections of an image.
func listImage(t *testing.T, image string) []listing {
	t.Helper()
	return parseListing(run(t, "aarch64-linux-gnu-objdump", "-d", "-z", image))
}

var symbol = regexp.MustCompile(` <[^>]*>`)

// parseListing reads lines of the form "  5c:\td4000001 \tsvc\t#0x0".
func parseListing(out string) []listing {
	var all []listing
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
		if len(f) != 3 {
			continue
		}
		pc, err1 := strconv.ParseUint(strings.Trim(f[0], " :"), 16, 64)
		word, err2 := strconv.ParseUint(strings.TrimSpace(f[1]), 16, 32)
		if err1 != nil || err2 != nil {
			continue
		}
		text, _, _ := strings.Cut(f[2], "//")
		text = strings.Join(strings.Fields(symbol.ReplaceAllString(text, "")), " ")
		all = append(all, listing{pc, Word(word), text})
	}
	return all
}
