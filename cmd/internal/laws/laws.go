// Package laws checks what holds for the whole source tree and no single package
// can check for itself: the layout of the top level, which packages may import
// which, where unsafe and system calls may live, that no test skips, and that no
// file knows the machine or the servers it was made with.
//
// It reads the tree and says what is wrong with it. It changes nothing and needs
// neither git nor the go command.
package laws

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// top is all that the top level may hold.
var top = []string{
	"rewriter", "scanner", "relaygen", "cachefmt", "runtime", "cmd", "testdata",
	"go.mod", "go.sum", "Makefile", "README.md", "RATIONALE.md", "LICENSE", ".ci", ".gitignore",
}

// outside are folders that are kept out of version control, and version control.
var outside = []string{".git", ".corpus", ".tools", "out"}

// A law looks at one file, by its slash-separated name, and says what breaks it.
type law func(name string, content []byte) []string

var laws = []law{topLevel, goLaws, noSkipCommand, knowsNoMachine}

// Check returns one line for each thing that is wrong with the tree.
func Check(tree fs.FS) ([]string, error) {
	var broken []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(outside, name) {
				return fs.SkipDir
			}
			return nil
		}
		if ext := path.Ext(name); ext == ".test" || ext == ".prof" {
			return nil // what `go test -c` and profiles leave, ignored as well
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, check := range laws {
			for _, what := range check(name, content) {
				broken = append(broken, name+": "+what)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("source tree: %w", err)
	}
	return broken, nil
}

func topLevel(name string, _ []byte) []string {
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(top, first) {
		return nil
	}
	return []string{"the top level is fixed and has no " + first}
}

// foreign are names that would tie the project to the place it was made in, or
// to one server. They are joined here so that this file does not hold them.
var foreign = []string{
	"/work/" + "main", "/work/" + "shared", "../" + "shared/", "/tmp/" + "w/",
	"deb." + "debian.org", "archive." + "debian.org", "snapshot." + "debian.org",
	"proxy." + "golang.org", "sum." + "golang.org",
}

// knowsNoMachine looks into binaries too: a compiler writes its folder into them.
func knowsNoMachine(_ string, content []byte) []string {
	var broken []string
	for _, f := range foreign {
		if strings.Contains(string(content), f) {
			broken = append(broken, "names "+f)
		}
	}
	return broken
}

// noSkipCommand finds the skip command of test scripts.
func noSkipCommand(name string, content []byte) []string {
	if ext := path.Ext(name); ext != ".txtar" && ext != ".txt" {
		return nil
	}
	var broken []string
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "-- ") {
			break // the script ends where its files begin
		}
		w := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
		for len(w) > 0 && strings.HasPrefix(w[0], "[") {
			w = w[1:] // conditions
		}
		if len(w) > 0 && w[0] == "skip" {
			broken = append(broken, "a script skips")
		}
	}
	return broken
}
