// Every word of a real libc and dynamic loader, against the model.

package a64

import (
	"strconv"
	"strings"
	"testing"
)

// realImages are the arm64 images that the cross compiler links with.
func realImages(t *testing.T) (paths []string) {
	t.Helper()
	for _, name := range []string{"libc.so.6", "ld-linux-aarch64.so.1"} {
		path := strings.TrimSpace(run(t, "aarch64-linux-gnu-gcc", "-print-file-name="+name))
		if path == name { // gcc echoes what it cannot find
			t.Fatalf("no arm64 %s (Debian has it in libc6-arm64-cross)", name)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestDecodeMatchesModel(t *testing.T) {
	for _, image := range realImages(t) {
		lines := listImage(t, image)
		if len(lines) < 20_000 {
			t.Fatalf("objdump printed %d words of %s", len(lines), image)
		}
		seen := map[Word]bool{}
		for _, l := range lines {
			checkAddress(t, l)
			if !seen[l.word] {
				seen[l.word] = true
				checkEffect(t, l.as240())
			}
		}
	}
}

// checkEffect compares Decode with the model.
func checkEffect(t *testing.T, l listing) {
	t.Helper()
	got := Decode(l.word)
	want := Effect{}
	if !refused(l) && !l.undefined() {
		want = model(l.text)
	}
	if got != want {
		t.Errorf("Decode(%08x) [%s] = %s, want %s", uint32(l.word), l.text, show(got), show(want))
	}
}

// checkAddress compares what Target and Adr compute with the address that
// objdump prints.
func checkAddress(t *testing.T, l listing) {
	t.Helper()
	name, _, _ := strings.Cut(l.text, " ")
	last := l.text[strings.LastIndexAny(l.text, " ,")+1:]
	want, err := strconv.ParseUint(last, 16, 64)
	if err != nil {
		want = 0
	}
	isAdr := name == "adr" || name == "adrp"
	isBranch := strings.HasPrefix(name, "b.") || strings.HasPrefix(name, "bc.") || names("b bl cbz cbnz tbz tbnz")[name]
	if got, ok := l.word.Target(l.pc); ok != isBranch || ok && got != want {
		t.Errorf("Word(%08x).Target(%#x) [%s] = %#x, %t, want %#x, %t", uint32(l.word), l.pc, l.text, got, ok, want, isBranch)
	}
	if got := l.word.IsBranch(); got != isBranch {
		t.Errorf("Word(%08x).IsBranch() [%s] = %t, want %t", uint32(l.word), l.text, got, isBranch)
	}
	if rd, got, ok := l.word.Adr(l.pc); ok != isAdr || ok && (got != want || X(rd) != registers(l.text)) {
		t.Errorf("Word(%08x).Adr(%#x) [%s] = x%d, %#x, %t, want %#x, %t", uint32(l.word), l.pc, l.text, rd, got, ok, want, isAdr)
	}
}
