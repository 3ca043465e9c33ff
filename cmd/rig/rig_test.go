package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/frame"
)

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		status frame.Status
		want   int
	}{
		{frame.Status{}, 0},
		{frame.Status{Code: 7}, 7},
		{frame.Status{Code: -1, Signal: 31}, 159},
		{frame.Status{Err: "no program", Code: 127, Wall: time.Second}, statusFailed},
	} {
		if got := statusOf(exit(tt.status)); got != tt.want {
			t.Errorf("exit(%+v) = %d, want %d", tt.status, got, tt.want)
		}
	}
	if got := statusOf(usageError{errors.New("no")}); got != statusUsage {
		t.Errorf("statusOf(usage error) = %d, want %d", got, statusUsage)
	}
}

func TestResolve(t *testing.T) {
	p := place{root: "forky", puts: []string{"a:b", "/c:/d:e"}}
	files, err := p.resolve([]string{"true"})
	if err != nil || p.request.Root != "/r/forky" || p.request.Op != frame.OpRun || p.request.Argv[0] != "true" {
		t.Errorf("resolve = %+v, %v", p.request, err)
	}
	want := map[string]string{"/r/forky/b": "a", "/r/forky//d:e": "/c"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files -want +got:\n%s", diff)
	}
	for _, p := range []place{{root: "sid"}, {puts: []string{"a"}}, {puts: []string{":b"}}, {puts: []string{"a:"}}} {
		var usage usageError
		if _, err := p.resolve(nil); !errors.As(err, &usage) {
			t.Errorf("resolve(%+v) = %v, want a usage error", p, err)
		}
	}
}

// TestUsage: wrong command lines are told from failures, before any machine is
// started.
func TestUsage(t *testing.T) {
	for _, line := range []string{"run", "exec", "nonsense", "boot x", "run --nonsense", "run --root sid true", "fetch x"} {
		cmd := command()
		cmd.SetArgs(strings.Fields(line))
		if got := statusOf(cmd.Execute()); got != statusUsage {
			t.Errorf("rig %s: status %d, want %d", line, got, statusUsage)
		}
	}
}

// TestTestFiles: this package's test would find its sources and the module's
// testdata.
func TestTestFiles(t *testing.T) {
	dir, files, err := testFiles("x.test")
	if err != nil || dir != "/go/cmd/rig" {
		t.Fatalf("testFiles = %s, %v, want /go/cmd/rig", dir, err)
	}
	for name, last := range map[string]string{
		"/go.test": "x.test", "/go/go.mod": "go.mod", "/go/testdata": "testdata", "/go/cmd/rig/main.go": "main.go",
	} {
		if !strings.HasSuffix(files[name], last) {
			t.Errorf("%s comes from %q, want %s", name, files[name], last)
		}
	}
	if _, ok := files["/go/cmd/rig/agent"]; ok {
		t.Error("packages below go along")
	}
	if _, err := os.Stat(files["/go/cmd/rig/main.go"]); err != nil {
		t.Error(err)
	}
}
