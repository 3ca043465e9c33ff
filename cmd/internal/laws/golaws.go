// Laws about Go sources, by syntax: what a file imports, what it is called.

package laws

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "svcrelay"

// levels gives each package its height: it may import what is lower, and nothing
// else of the module. A package that is not listed has to find its place first.
var levels = map[string]int{
	"runtime/sysno":           0,
	"runtime/abi":             0,
	"runtime/blob":            0,
	"scanner/elfimg/elftest":  0,
	"runtime/genfile":         0,
	"runtime/sysno/gen":       1,
	"runtime/abi/gen":         1,
	"runtime/loadplan":        1,
	"scanner/a64":             1,
	"scanner/elfimg":          1,
	"scanner":                 2,
	"scanner/source":          2,
	"runtime/blob/guestbuild": 2,
	"scanner/coverage":        3,
	"runtime/blob/gen":        3,
	"cachefmt":                3,
	"relaygen":                3,
	"runtime/policy":          3,
	"runtime/guestfs":         3,
	"rewriter":                4,
	"runtime/tracer":          4,
	"cmd/svcrelay/command":    6,
	"cmd/internal/depend":     6,
	"cmd/internal/kernel":     7,
	"cmd/internal/rootfs":     7,
	"cmd/internal/vm":         6,
	"cmd/internal/machine":    8,
	"cmd/internal/rigtest":    9,
}

// level of a package's folder; commands stand on top, what they share below them.
func level(dir string) (int, bool) {
	l, ok := levels[dir]
	switch {
	case ok:
		return l, true
	case strings.HasPrefix(dir, "cmd/internal/"):
		return 5, true
	case strings.HasPrefix(dir, "cmd/"):
		return 10, true
	}
	return 0, false
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// isFixture reports whether the go command ignores the file.
func isFixture(name string) bool { return slices.Contains(strings.Split(name, "/"), "testdata") }

func goLaws(name string, content []byte) []string {
	if path.Ext(name) != ".go" || isFixture(name) {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	var broken []string
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		broken = append(broken, importLaws(name, imported)...)
	}
	return append(broken, skips(file)...)
}

func importLaws(name, imported string) []string {
	below, ours := strings.CutPrefix(imported, module+"/")
	switch {
	case imported == "unsafe" && !strings.HasSuffix(name, "_unsafe.go"):
		return []string{"unsafe belongs into a file ending in _unsafe.go"}
	case imported == "golang.org/x/sys/unix" && !strings.HasPrefix(name, "runtime/") && !strings.HasPrefix(name, "cmd/"):
		return []string{"x/sys/unix belongs under runtime or cmd"}
	case ours && !isTest(name):
		return direction(path.Dir(name), below)
	}
	return nil
}

// direction checks one import inside the module. Tests are free: the compiler
// refuses a cycle, and a test of something low may well use something high.
func direction(from, to string) []string {
	var broken []string
	for _, dir := range []string{from, to} {
		if _, ok := level(dir); !ok {
			broken = append(broken, fmt.Sprintf("package %s has no level yet", dir))
		}
	}
	high, _ := level(from)
	low, _ := level(to)
	if broken == nil && low >= high {
		broken = append(broken, fmt.Sprintf("%s (level %d) must not import %s (level %d)", from, high, to, low))
	}
	return broken
}

// skips finds calls that leave a test unrun, in whatever helper they hide.
func skips(file *ast.File) []string {
	var broken []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := skipCall(call); name != "" {
			broken = append(broken, "calls "+name+": a test that does not run proves nothing")
		}
		return true
	})
	return broken
}

// skipCall names the call when it is t.Skip, t.SkipNow, t.Skipf or testing.Short.
func skipCall(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name := x.Name + "." + sel.Sel.Name
	isT := slices.Contains([]string{"t", "b", "f", "tb"}, x.Name)
	if isT && strings.HasPrefix(sel.Sel.Name, "Skip") || name == "testing.Short" {
		return name
	}
	return ""
}
