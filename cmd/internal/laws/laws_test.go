package laws

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestTree holds the project itself to the laws.
func TestTree(t *testing.T) {
	broken, err := Check(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range broken {
		t.Error(line)
	}
}

func TestCheck(t *testing.T) {
	imports := func(pkg, what string) string { return "package " + pkg + "\n\nimport _ \"" + what + "\"\n" }
	const machine = "# made in /work/" + "main\n"
	for _, tt := range []struct {
		name, content string
		want          []string
	}{
		{"go.mod", "module svcrelay\n", nil},
		{"NOTES.md", "", []string{"the top level is fixed and has no NOTES.md"}},
		{"docs/x.md", "", []string{"the top level is fixed and has no docs"}},
		{".corpus/x.md", machine, nil},
		{".git/config", machine, nil},
		{"out/x.go", "not go", nil},
		{"scanner/scanner.test", machine, nil},

		{"scanner/x.go", imports("scanner", "unsafe"), []string{"unsafe belongs into a file ending in _unsafe.go"}},
		{"scanner/x_unsafe.go", imports("scanner", "unsafe"), nil},
		{"scanner/x.go", imports("scanner", "golang.org/x/sys/unix"), []string{"x/sys/unix belongs under runtime or cmd"}},
		{"cachefmt/x_test.go", imports("cachefmt", "golang.org/x/sys/unix"), []string{"x/sys/unix belongs under runtime or cmd"}},
		{"runtime/tracer/x.go", imports("tracer", "golang.org/x/sys/unix"), nil},
		{"cmd/svcrelay/x.go", imports("main", "golang.org/x/sys/unix"), nil},

		{"scanner/x.go", imports("scanner", "svcrelay/scanner/a64"), nil},
		{"scanner/x.go", imports("scanner", "svcrelay/cachefmt"), []string{"scanner (level 2) must not import cachefmt (level 3)"}},
		{"scanner/x_test.go", imports("scanner", "svcrelay/cachefmt"), nil},
		{"scanner/x.go", imports("scanner", "svcrelay/scanner/source"), []string{"scanner (level 2) must not import scanner/source (level 2)"}},
		{"runtime/sysno/x.go", imports("sysno", "svcrelay/runtime/abi"), []string{"runtime/sysno (level 0) must not import runtime/abi (level 0)"}},
		{"cmd/svcrelay/x.go", imports("main", "svcrelay/rewriter"), nil},
		{"cmd/svcrelay/x.go", imports("main", "svcrelay/cmd/internal/x"), nil},
		{"cmd/internal/x/x.go", imports("x", "svcrelay/cmd/svcrelay/command"), []string{"cmd/internal/x (level 5) must not import cmd/svcrelay/command (level 6)"}},
		{"rewriter/x.go", imports("rewriter", "svcrelay/scanner/new"), []string{"package scanner/new has no level yet"}},
		{"scanner/x.go", "packag scanner", []string{"scanner/x.go:1:1: expected 'package', found packag"}},
		{"scanner/testdata/x.go", "not go", nil},

		{"scanner/x_test.go", "package x\nfunc f() { t.Skip() }", []string{"calls t.Skip: a test that does not run proves nothing"}},
		{"scanner/x_test.go", "package x\nfunc f() { b.Skipf(`x`) }", []string{"calls b.Skipf: a test that does not run proves nothing"}},
		{"scanner/x.go", "package x\nfunc f() { tb.SkipNow() }", []string{"calls tb.SkipNow: a test that does not run proves nothing"}},
		{"scanner/x_test.go", "package x\nfunc f() { if testing.Short() { return } }", []string{"calls testing.Short: a test that does not run proves nothing"}},
		{"scanner/x.go", "package x\nfunc f() { r.Skip(4); lines.SkipNow() }", nil},
		{"testdata/x.txtar", "exec a\n[!exec:b] [linux] skip 'no b'\n", []string{"a script skips"}},
		{"testdata/x.txt", "skip\n", []string{"a script skips"}},
		{"testdata/x.txtar", "exec skip\n-- f --\nskip\n", nil},

		{"testdata/x.bin", "\x7fELF\x00/tmp/" + "w/a.c\x00", []string{"names /tmp/" + "w/"}},
		{"Makefile", machine, []string{"names /work/" + "main"}},
	} {
		got, err := Check(fstest.MapFS{tt.name: {Data: []byte(tt.content)}})
		for i := range tt.want {
			tt.want[i] = tt.name + ": " + tt.want[i]
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("Check(%s holding %q): error %v, -want +got:\n%s", tt.name, tt.content, err, diff)
		}
	}
}
