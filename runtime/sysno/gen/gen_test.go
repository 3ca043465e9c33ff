package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const parent = ".."

func loadReal(t *testing.T) *table {
	t.Helper()
	tab, err := load(parent)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	outs, err := generate(loadReal(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(outs) != 3 {
		t.Fatalf("%d outputs, want 3", len(outs))
	}
	for _, o := range outs {
		have, err := os.ReadFile(filepath.Join(parent, o.name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, o.data) {
			t.Errorf("%s is not what syscalls.tsv makes: run go generate ./runtime/sysno\n%s", o.name, cmp.Diff(string(have), string(o.data)))
		}
	}
}

func TestRunWritesTheSameFilesElsewhere(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join(parent, source))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, source), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, ""); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 4 {
		t.Errorf("%d files after run, want syscalls.tsv and three: no temporary one may stay", len(entries))
	}
	outs, err := generate(loadReal(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outs {
		if got, err := os.ReadFile(filepath.Join(dir, o.name)); err != nil || !bytes.Equal(got, o.data) {
			t.Errorf("run wrote another %s than generate makes (%v)", o.name, err)
		}
	}
}

func TestRunNamesWhatIsMissing(t *testing.T) {
	if err := run(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), source) {
		t.Errorf("run without a table = %v, want an error that names %s", err, source)
	}
	if err := run(parent, t.TempDir()); err == nil || !strings.Contains(err.Error(), "unistd.h") {
		t.Errorf("check without headers = %v, want an error that names unistd.h", err)
	}
}

// small is a whole table that the tests below spoil line by line.
const small = `# comment
levels	29	36
class	run	Runs.
class	refuse	Does not.
class	answer	Answers.
relay	path	Translated.
relay	answer	Answered.
sigsys	ENOSYS	38	No such call.
sigsys	tracer	-	By the tracer.
word	dirfd	value	A directory.
word	path	pointer	A path.
word	fd	value	A file.
word	addr	any	An address.
`

func TestParse(t *testing.T) {
	tab, err := parse(small + "3\tone_two\t3.7\tdirfd path\trun\tpath\tseed\t34~35\tx\tA note.\n9\tx\t4.1\t-\trefuse\t-\t-\tnever\tENOSYS\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []call{
		{nr: 3, name: "one_two", since: "3.7", args: []string{"dirfd", "path"}, relay: []string{"path"}, class: "run", seed: true,
			androidSome: 34, androidAll: 35, androidText: "34~35", sigsys: "x", note: "A note."},
		{nr: 9, name: "x", since: "4.1", class: "refuse", androidText: "never", sigsys: "ENOSYS"},
	}
	if d := cmp.Diff(want, tab.calls, cmp.AllowUnexported(call{})); d != "" {
		t.Errorf("parse (-want +got):\n%s", d)
	}
	if tab.max() != 9 || tab.at(4) != nil || tab.at(9).name != "x" {
		t.Errorf("max, at(4), at(9) = %d, %v, %v", tab.max(), tab.at(4), tab.at(9))
	}
}

func TestAndroidField(t *testing.T) {
	for _, row := range []struct {
		field     string
		some, all int
		ok        bool
	}{
		{"never", 0, 0, true}, {"29", 29, 29, true}, {"36", 36, 36, true}, {"36~", 36, 0, true}, {"34~35", 34, 35, true},
		{"28", 0, 0, false}, {"37", 0, 0, false}, {"35~35", 0, 0, false}, {"35~34", 0, 0, false}, {"35~37", 0, 0, false},
		{"~35", 0, 0, false}, {"", 0, 0, false}, {"always", 0, 0, false}, {"34.2", 0, 0, false}, {"99999999999999999999", 0, 0, false},
	} {
		sigsys := "ENOSYS"
		if row.field == "29" {
			sigsys = "-"
		}
		tab, err := parse(small + "3\tx\t3.7\t-\trun\t-\t-\t" + row.field + "\t" + sigsys + "\n")
		if (err == nil) != row.ok {
			t.Errorf("android field %q: error %v, want ok %t", row.field, err, row.ok)
			continue
		}
		if row.ok && (tab.calls[0].androidSome != row.some || tab.calls[0].androidAll != row.all) {
			t.Errorf("android field %q = %d, %d, want %d, %d", row.field, tab.calls[0].androidSome, tab.calls[0].androidAll, row.some, row.all)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const good = "3\tx\t3.7\tfd\trun\t-\t-\t29\t-\n"
	if _, err := parse(small + good); err != nil {
		t.Fatalf("the row the others are made from: %v", err)
	}
	for _, row := range []struct{ lines, want string }{
		{"", "no calls"},
		{"3\tx\t3.7\tfd\trun\t-\t-\t29\n", "8 fields"},
		{"3\tx\t3.7\tfd\trun\t-\t-\t29\t-\tNote.\tmore\n", "11 fields"},
		{"-1\tx\t3.7\tfd\trun\t-\t-\t29\t-\n", "number"},
		{"4096\tx\t3.7\tfd\trun\t-\t-\t29\t-\n", "number"},
		{"x\tx\t3.7\tfd\trun\t-\t-\t29\t-\n", "number"},
		{good + good, "does not ascend"},
		{good + "2\ty\t3.7\tfd\trun\t-\t-\t29\t-\n", "does not ascend"},
		{good + "4\tx\t3.7\tfd\trun\t-\t-\t29\t-\n", "second row"},
		{"3\tX\t3.7\tfd\trun\t-\t-\t29\t-\n", "malformed"},
		{"3\tx\t3\tfd\trun\t-\t-\t29\t-\n", "malformed"},
		{"3\tx\t3.7\tfdd\trun\t-\t-\t29\t-\n", "unknown argument word"},
		{"3\tx\t3.7\tfd fd fd fd fd fd fd\trun\t-\t-\t29\t-\n", "7 arguments"},
		{"3\tx\t3.7\tdirfd fd path\trun\t-\t-\t29\t-\n", "not followed"},
		{"3\tx\t3.7\tdirfd\trun\t-\t-\t29\t-\n", "not followed"},
		{"3\tx\t3.7\tfd\tran\t-\t-\t29\t-\n", "unknown class"},
		{"3\tx\t3.7\tfd\trun\tpaths\t-\t29\t-\n", "relay"},
		{"3\tx\t3.7\tfd\trun\tpath+path\t-\t29\t-\n", "relay"},
		{"3\tx\t3.7\tfd\trefuse\tpath\t-\t29\t-\n", "refused and relayed"},
		{"3\tx\t3.7\tfd\trun\tpath\tyes\t29\t-\n", "seed field"},
		{"3\tx\t3.7\tfd\trun\t-\tseed\t29\t-\n", "seed call"},
		{"3\tx\t3.7\tfd\trun\tanswer\tseed\t29\t-\n", "seed call"},
		{"3\tx\t3.7\tfd\trun\t-\t-\t29\t-\tno sentence\n", "no sentence"},
		{"class\trun\tAgain.\n", "twice"},
		{"class\tnew\tno sentence\n", "no sentence"},
		{"word\tnew\tround\tA shape.\n", "shape"},
		{"word\tnew\tNo shape.\n", "2 fields"},
		{"levels\t36\t29\n", "no range"},
		{"levels\t29\t256\n", "no range"},
		{"levels\t29\n", "fields"},
	} {
		_, err := parse(small + row.lines)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("parse(%q) = %v, want an error with %q", row.lines, err, row.want)
		}
	}
}

func TestSigsysField(t *testing.T) {
	for _, row := range []struct{ class, android, sigsys, want string }{
		{"run", "29", "-", ""}, {"run", "30", "ENOSYS", ""}, {"run", "29~30", "tracer", ""}, {"run", "36~", "other", ""}, {"answer", "never", "tracer", ""},
		{"answer", "29", "-", ""}, {"refuse", "never", "ENOSYS", ""}, {"refuse", "29", "-", ""},
		{"run", "29", "ENOSYS", "no level traps"}, {"run", "29", "", "no level traps"}, {"run", "30", "-", "no answer"}, {"run", "never", "", "no answer"},
		{"run", "never", "EPERM", "no answer"}, {"run", "never", "x", "no answer"}, {"run", "29~", "-", "no answer"},
		{"answer", "never", "ENOSYS", "does not fit"}, {"refuse", "never", "tracer", "does not fit"}, {"refuse", "never", "other", "does not fit"},
	} {
		_, err := parse(small + "3\tx\t3.7\tfd\t" + row.class + "\t-\t-\t" + row.android + "\t" + row.sigsys + "\n4\tother\t3.7\t-\trun\t-\t-\t29\t-\n")
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("class %s, android %s, sigsys %q: error %v, want %q", row.class, row.android, row.sigsys, err, row.want)
		}
	}
}

func TestGoName(t *testing.T) {
	for in, want := range map[string]string{"openat": "Openat", "set_robust_list": "SetRobustList", "rt_sigaction": "RtSigaction", "path2": "Path2"} {
		if got := goName(in); got != want {
			t.Errorf("goName(%q) = %q, want %q", in, got, want)
		}
	}
}
