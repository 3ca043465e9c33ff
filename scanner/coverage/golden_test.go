package coverage

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

func goldenText(t *testing.T, g *Golden) string {
	t.Helper()
	var text strings.Builder
	if err := g.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

const goldenOf43 = `golden 1

build 4343434343 libc.so.6 glibc 2.43
count svc-words 4
count adjacent 2
count nearby 1
count bridges 1
count calls 2
count proven 5
count async-cancel 0
count edges 0
count hook-is-svc 0
site - bridge - 1
site openat call open 1
site openat call openat 1
site newfstatat svc - 1
site newfstatat svc fstatat 1
refuse number-not-relayed svc 1
`

func TestGoldenText(t *testing.T) {
	if diff := cmp.Diff(goldenOf43, goldenText(t, merged(t, libc43()))); diff != "" {
		t.Errorf("golden (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("golden 1\n", goldenText(t, &Golden{})); diff != "" {
		t.Errorf("empty golden (-want +got):\n%s", diff)
	}
}

// What was parsed is what was written, for every build there is here.
func TestGoldenRoundTrip(t *testing.T) {
	unproven := libc31()
	unproven.BuildID, unproven.Result.Sites[0].Flags = "0", 0
	want := merged(t, ld43(), libc43(), libc31(), hostileBuild(), unproven)
	text := goldenText(t, want)
	checkPrintable(t, text)
	got, err := ParseGolden(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parsed (-want +got):\n%s", diff)
	}
}

// Order, comments, empty lines and CRLF do not matter; Write sorts.
func TestParseGoldenIsLenientAboutOrder(t *testing.T) {
	lines := strings.Split(goldenOf43, "\n")
	shuffled := []string{"# kept by hand", "", lines[0], "", "# a comment", lines[2]}
	for i := len(lines) - 1; i > 2; i-- {
		shuffled = append(shuffled, lines[i], "")
	}
	g, err := ParseGolden(strings.NewReader(strings.Join(shuffled, "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(goldenOf43, goldenText(t, g)); diff != "" {
		t.Errorf("golden (-want +got):\n%s", diff)
	}
}

func TestParseGoldenErrors(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	swap := func(from, to string) string { return strings.Replace(goldenOf43, from, to, 1) }
	for _, row := range []struct {
		name, text string
		line       int
		want       error
	}{
		{"empty", "", 1, ErrHeader},
		{"comment only", "# golden 1\n", 1, ErrHeader},
		{"version", swap("golden 1", "golden 2"), 1, ErrHeader},
		{"no header", swap("golden 1\n", ""), 2, ErrHeader},
		{"space behind", swap("golden 1", "golden 1 "), 1, ErrHeader},
		{"no section", "golden 1\nsite openat svc open 1\n", 2, ErrNoSection},
		{"count before any", "golden 1\n\ncount edges 1\n", 3, ErrNoSection},
		{"build of three words", swap(" 2.43", ""), 3, ErrNoSection},
		{"build without ID", swap("4343434343", "-"), 3, ErrNoID},
		{"image not escaped", swap("libc.so.6", "%41"), 3, ErrWord},
		{"second build the same", goldenOf43 + goldenOf43[len("golden 1\n"):], 20, ErrDuplicate},
		{"verb", swap("site -", "sight -"), 13, ErrLine},
		{"two spaces", swap("site -", "site  -"), 13, ErrLine},
		{"space before", swap("site -", " site -"), 13, ErrLine},
		{"site word more", swap("openat call open 1", "openat call open 1 1"), 14, ErrLine},
		{"refuse word less", swap("refuse number-not-relayed svc 1", "refuse svc 1"), 18, ErrLine},
		{"call", swap("openat call", "opnat call"), 14, ErrWord},
		{"known call by number", swap("openat call", "syscall-56 call"), 14, ErrWord},
		{"bare number", swap("openat call", "999 call"), 14, ErrWord},
		{"number with zero", swap("openat call", "syscall-0999 call"), 14, ErrWord},
		{"no number", swap("openat call", "syscall--1 call"), 14, ErrWord},
		{"kind", swap("openat call", "openat cull"), 14, ErrWord},
		{"function", swap("call open ", "call %6f "), 14, ErrWord},
		{"site twice", goldenOf43 + "site openat call open 2\n", 19, ErrDuplicate},
		{"refusal twice", goldenOf43 + "refuse number-not-relayed svc 1\n", 19, ErrDuplicate},
		{"reason", swap("number-not-relayed", "number-odd"), 18, ErrWord},
		{"reason none", swap("number-not-relayed", "none"), 18, ErrWord},
		{"refused kind", swap("relayed svc", "relayed svd"), 18, ErrWord},
		{"zero sites", swap("call open 1", "call open 0"), 14, ErrNumber},
		{"negative", swap("adjacent 2", "adjacent -2"), 5, ErrNumber},
		{"plus", swap("adjacent 2", "adjacent +2"), 5, ErrNumber},
		{"leading zero", swap("adjacent 2", "adjacent 02"), 5, ErrNumber},
		{"too large", swap("adjacent 2", "adjacent 2147483648"), 5, ErrNumber},
		{"no digits", swap("adjacent 2", "adjacent "), 5, ErrNumber},
		{"counter", swap("adjacent 2", "adjacents 2"), 5, ErrWord},
		{"counter twice", goldenOf43 + "count adjacent 2\n", 19, ErrDuplicate},
		{"counter missing", swap("count hook-is-svc 0\n", ""), 17, ErrMissing},
		{"counter missing above", swap("count hook-is-svc 0\n", "") + "build aa x - -\n", 18, ErrMissing},
		{"long line", goldenOf43 + long, 19, nil},
	} {
		g, err := ParseGolden(strings.NewReader(row.text))
		var fault *ParseError
		if g != nil || !errors.As(err, &fault) || fault.Line != row.line || row.want != nil && !errors.Is(err, row.want) {
			t.Errorf("%s: ParseGolden = %v, %v, want line %d: %v", row.name, g, err, row.line, row.want)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%s: error of %d characters", row.name, len(err.Error()))
		}
	}
}

func TestParseGoldenCounts(t *testing.T) {
	for _, row := range []struct {
		word string
		want int
	}{{"0", 0}, {"1", 1}, {"2147483647", 1<<31 - 1}} {
		g, err := ParseGolden(strings.NewReader(strings.Replace(goldenOf43, "adjacent 2", "adjacent "+row.word, 1)))
		if err != nil || g.Sections[0].Counts.Totals[Adjacent] != row.want {
			t.Errorf("count %s: %v, %v, want %d", row.word, g, err, row.want)
		}
	}
}

func TestCallNumberUndoesCallName(t *testing.T) {
	for _, number := range []int{scanner.NoNumber, -2, 0, 56, 244, 999, 1 << 20} {
		if got, ok := callNumber(CallName(number)); got != number || !ok {
			t.Errorf("callNumber(%q) = %d, %t, want %d, true", CallName(number), got, ok, number)
		}
	}
}

// A read error is an error, wherever it comes.
func TestParseGoldenReadError(t *testing.T) {
	if _, err := ParseGolden(io.MultiReader(strings.NewReader("golden 1\n"), brokenReader{})); !errors.Is(err, errFull) {
		t.Errorf("ParseGolden = %v, want %v", err, errFull)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errFull }

func TestMerge(t *testing.T) {
	old := merged(t, libc31(), libc43())
	before := goldenText(t, old)
	changed := libc43()
	changed.Result.Sites = changed.Result.Sites[:1]
	g, err := old.Merge([]*Build{changed, ld43(), changed})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range g.Sections {
		ids = append(ids, fmt.Sprint(s.BuildID, " ", s.Counts.accepted()))
	}
	if diff := cmp.Diff([]string{"3131313131 3", "4343434343 1", "1d1d1d1d1d 1"}, ids); diff != "" {
		t.Errorf("sections after Merge (-want +got):\n%s", diff)
	}
	if goldenText(t, old) != before {
		t.Error("Merge changed the golden that it was asked of")
	}
	if _, err := old.Merge([]*Build{build("x.so", "", "", "")}); !errors.Is(err, ErrNoID) {
		t.Errorf("Merge of a build without ID = %v, want %v", err, ErrNoID)
	}
}

// FuzzParseGolden: an error or a golden, never both; and what parses is written
// as text that parses to the same.
func FuzzParseGolden(f *testing.F) {
	f.Add(goldenOf43)
	f.Add("golden 1\n")
	f.Add(strings.Replace(goldenOf43, "open 1", "%0a%20 2147483647", 1))
	f.Add(goldenOf43 + "unproven syscall-999 call - 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGolden(strings.NewReader(text))
		if (g == nil) == (err == nil) {
			t.Fatalf("ParseGolden = %v, %v", g, err)
		}
		if err != nil {
			return
		}
		var first, second strings.Builder
		if err := g.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ParseGolden(strings.NewReader(first.String()))
		if err != nil {
			t.Fatalf("what was written does not parse: %v\n%s", err, first.String())
		}
		if err := again.Write(&second); err != nil {
			t.Fatal(err)
		}
		if len(g.Sections) != len(again.Sections) || first.String() != second.String() {
			t.Fatalf("written twice:\n%s\n%s", first.String(), second.String())
		}
		for _, s := range g.Sections {
			if other, ok := again.Find(s.BuildID); !ok || !reflect.DeepEqual(s, other) {
				t.Fatalf("section %s: %v, parsed again %v", s.BuildID, s, other)
			}
		}
	})
}
