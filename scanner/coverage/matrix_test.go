package coverage

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
)

func matrixText(t *testing.T, width int, builds ...*Build) string {
	t.Helper()
	var text strings.Builder
	if err := NewMatrix(builds).WriteText(&text, width); err != nil {
		t.Fatal(err)
	}
	checkPrintable(t, text.String())
	return text.String()
}

// without drops the lines of calls that no build has.
func without(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 1 && strings.Trim(strings.Join(fields[1:], ""), "-") == "" {
			if _, isCall := sysno.ByName(fields[0]); isCall {
				continue
			}
		}
		kept.WriteString(line)
	}
	return kept.String()
}

func TestMatrixText(t *testing.T) {
	want := strings.TrimPrefix(`
31313131  libc-2.31.so           glibc  2.31  rootfs
43434343  libc.so.6              glibc  2.43  rootfs
1d1d1d1d  ld-linux-aarch64.so.1  glibc  2.43  rootfs

                      2.31      2.43      2.43
                      libc      libc      ld.so
                      31313131  43434343  1d1d1d1d
openat                2         2c        1
newfstatat            1         2         -

svc words             5         4         1
accepted              3         2+1b+2c   1
refused               2         1         -
number adjacent       3         2         1
number nearby         1         1         -
bridges               -         1         -
bridge calls          -         2         -
proven                4         5         1
async cancel          1         -         -
edge in window        -         -         -
hook is the svc       -         -         -
refused as
  number-not-relayed  1         1         -
  number-in-register  1         -         -
`, "\n")
	if diff := cmp.Diff(want, without(matrixText(t, 0, ld43(), libc43(), libc31()))); diff != "" {
		t.Errorf("matrix (-want +got):\n%s", diff)
	}
}

// Every relayed call has its row, whether a build has it or not, by number.
func TestMatrixHasAllRelayedCalls(t *testing.T) {
	var want, got []string
	for _, c := range sysno.All() {
		if sysno.Relayed(c.Nr) {
			want = append(want, c.Name)
		}
	}
	for _, r := range NewMatrix([]*Build{ld43()}).Rows {
		if r.section == callRows {
			got = append(got, r.Label)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// A number that only other options accept has a row too.
func TestMatrixShowsOtherAcceptedNumbers(t *testing.T) {
	odd := svc(0x1100, "getpid", 1, "getpid")
	odd.Verdict = scanner.Accept
	if text := matrixText(t, 0, build("x", "", "", "00", odd)); !strings.Contains(text, "\ngetpid") {
		t.Errorf("no row for getpid in:\n%s", text)
	}
}

// Blocks are as wide as they may be and no wider.
func TestMatrixWraps(t *testing.T) {
	builds := []*Build{libc31(), libc43(), ld43()}
	full := matrixText(t, 0, builds...)
	widest := 0
	for _, line := range strings.Split(full, "\n")[4:] {
		widest = max(widest, len(line))
	}
	const blockHead = "\n\n                      2."
	for _, row := range []struct{ width, blocks int }{{0, 1}, {widest - 1, 2}, {widest, 1}, {widest + 1, 1}, {1, 3}} {
		text := matrixText(t, row.width, builds...)
		if got := strings.Count(text, blockHead); got != row.blocks {
			t.Errorf("width %d: %d blocks, want %d:\n%s", row.width, got, row.blocks, text)
		}
	}
}

func TestMatrixOfNothing(t *testing.T) {
	if got := matrixText(t, 80); got != "" {
		t.Errorf("matrix of no build = %q, want nothing", got)
	}
}

func TestMatrixOfHostileNames(t *testing.T) {
	matrixText(t, 0, hostileBuild(), libc43())
}

// full is a device without room for more than some writes.
type full int

var errFull = errors.New("no room")

func (f *full) Write(p []byte) (int, error) {
	if *f--; *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// No writer hides that what it wrote did not arrive.
func TestWritersReportErrors(t *testing.T) {
	g, reports := merged(t, libc43()), []Report{Check(&Golden{}, libc43())}
	for name, write := range map[string]func(*full) error{
		"matrix": func(f *full) error { return NewMatrix([]*Build{libc43()}).WriteText(f, 0) },
		"golden": func(f *full) error { return g.Write(f) },
		"diff":   func(f *full) error { return Diff(libc31().Counts(), libc43().Counts()).WriteText(f) },
		"junit":  func(f *full) error { return WriteJUnit(f, reports) },
		"html":   func(f *full) error { return WriteHTML(f, reports) },
	} {
		writes := 0
		for ; writes < 10_000; writes++ {
			room := full(writes)
			if err := write(&room); err == nil {
				break
			} else if !errors.Is(err, errFull) {
				t.Fatalf("%s with room for %d writes: %v, want %v", name, writes, err, errFull)
			}
		}
		if writes == 0 || writes == 10_000 {
			t.Errorf("%s: first success with room for %d writes", name, writes)
		}
	}
}
