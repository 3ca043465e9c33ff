package coverage

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

func diffText(t *testing.T, a, b Counts) string {
	t.Helper()
	var text strings.Builder
	if err := Diff(a, b).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	checkPrintable(t, text.String())
	return text.String()
}

func TestDiffText(t *testing.T) {
	a, b := libc31(), libc43()
	b.Result.Sites = append(b.Result.Sites, svc(0x1700, "statx", 1, "statx"), svc(0x1710, "statx", 1, "statx"))
	a.Result.Sites = append(a.Result.Sites, svc(0x1700, "statx", 1, "statx"), svc(0x1800, "mkdirat", 1, "mkdir"), svc(0x1900, "mkdirat", 1, "mkdir"), svc(0x1a00, "getcwd", 1, "getcwd"))
	b.Result.Sites = append(b.Result.Sites, svc(0x1800, "mkdirat", 1, "mkdir"), svc(0x1900, "getcwd", 1, "getcwd"))
	want := strings.TrimPrefix(`
bridges     -        0 -> 1b  gained
mkdirat     mkdir    2 -> 1   fewer
openat      open     2 -> 1c  moved
openat      openat   0 -> 1c  gained
newfstatat  -        0 -> 1   gained
newfstatat  __xstat  1 -> 0   lost
newfstatat  fstatat  0 -> 1   gained
statx       statx    1 -> 2   more
total    svc-words           9 -> 8
total    adjacent            7 -> 6
total    bridges             0 -> 1
total    calls               0 -> 2
total    proven              8 -> 9
total    async-cancel        1 -> 0
refused  number-in-register  1 -> 0
accepted 7 -> 9, 1 lost, 1 fewer, 1 moved, 1 more, 4 gained
`, "\n")
	if diff := cmp.Diff(want, diffText(t, a.Counts(), b.Counts())); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
}

func TestDiffOfTheSame(t *testing.T) {
	if got, want := diffText(t, libc43().Counts(), libc43().Counts()), "accepted 5 -> 5, no difference\n"; got != want {
		t.Errorf("diff of the same = %q, want %q", got, want)
	}
}

// A table knows numbers and kinds only, so that its image does not differ from it.
func TestDiffWithTable(t *testing.T) {
	table := func() Counts {
		c := TableCounts()
		for _, s := range libc43().Result.Sites {
			if s.Verdict == scanner.Accept {
				c.Accept(s.Number, s.Kind)
			}
		}
		return c
	}
	more := table()
	more.Accept(nr("statx"), scanner.Svc)
	for _, row := range []struct {
		name string
		a, b Counts
		want string
	}{
		{"table and its image", table(), libc43().Counts(), "accepted 5 -> 5, no difference\n"},
		{"image and its table", libc43().Counts(), table(), "accepted 5 -> 5, no difference\n"},
		{"tables", table(), more, "statx  -  0 -> 1  gained\naccepted 5 -> 6, 1 gained\n"},
		{"empty table", TableCounts(), libc31().Counts(), "openat      -  0 -> 2  gained\nnewfstatat  -  0 -> 1  gained\naccepted 0 -> 3, 2 gained\n"},
	} {
		if got := diffText(t, row.a, row.b); got != row.want {
			t.Errorf("%s: diff = %q, want %q", row.name, got, row.want)
		}
	}
}

// A stripped image is compared by call alone, one without sites by function.
func TestDiffWithoutNames(t *testing.T) {
	stripped := libc43()
	for i := range stripped.Result.Sites {
		stripped.Result.Sites[i].Function = ""
	}
	if got, want := diffText(t, libc43().Counts(), stripped.Counts()), "accepted 5 -> 5, no difference\n"; got != want {
		t.Errorf("diff with stripped = %q, want %q", got, want)
	}
	none := build("libc.so.6", "", "", "00")
	if got := diffText(t, none.Counts(), libc43().Counts()); !strings.Contains(got, "openat      open     0 -> 1c  gained\n") {
		t.Errorf("diff with nothing names no function:\n%s", got)
	}
}

func TestDiffJSON(t *testing.T) {
	a, b := ld43(), ld43()
	b.Result.Sites = nil
	got, err := json.Marshal(Diff(a.Counts(), b.Counts()))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"sites":[{"nr":56,"name":"openat","function":"","a":{"svc":1,"bridge":0,"call":0},"b":{"svc":0,"bridge":0,"call":0},"change":"lost"}],` +
		`"totals":[{"name":"svc-words","a":1,"b":0},{"name":"adjacent","a":1,"b":0},{"name":"proven","a":1,"b":0}],"refused":[],"accepted":[1,0]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	same, err := json.Marshal(Diff(a.Counts(), a.Counts()))
	if want := `{"sites":[],"totals":[],"refused":[],"accepted":[1,1]}`; err != nil || string(same) != want {
		t.Errorf("JSON of no difference = %s, %v, want %s", same, err, want)
	}
}

func TestDiffOfHostileNames(t *testing.T) {
	diffText(t, libc43().Counts(), hostileBuild().Counts())
}
