//go:build rig

// Path calls of a guest against the same calls in a real chroot: results, errnos,
// what they fill, and the tree that they leave.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rigtest"
)

func TestPathCalls(t *testing.T) {
	program, err := os.ReadFile("testdata/pathcalls.py")
	if err != nil {
		t.Fatal(err)
	}
	m := rigtest.Start(t, machine.Options{})
	m.Run(t, rigtest.Options{Files: map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}}, "true")
	argv := []string{"/usr/bin/python3", "-c", string(program)}
	want := m.Run(t, rigtest.Options{Root: "trixie", Timeout: limit}, argv...)
	got := m.Run(t, rigtest.Options{Timeout: limit}, under(argv...)...)
	if want.Code != 0 || got.Code != 0 {
		t.Errorf("code %d and %d, want 0 and 0: %s%s", got.Code, want.Code, want.Stderr, got.Stderr)
	}
	lines := strings.Split(want.Stdout, "\n")
	if len(lines) < 600 {
		t.Errorf("the chroot made %d lines, want 600 at least", len(lines))
	}
	if diff := cmp.Diff(lines, strings.Split(got.Stdout, "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestStops: a path call that the tracer makes stops the guest once, one that the
// guest makes twice, and a call without a path not at all.
func TestStops(t *testing.T) {
	m := rigtest.Start(t, machine.Options{})
	m.Run(t, rigtest.Options{Files: map[string]string{relay: rigtest.Build(t, "cmd/svcrelay")}}, "true")
	count := func(loops int) map[string]int {
		text := fmt.Sprintf("import os\nfor i in range(%d): os.getppid(); os.access('/etc', 0); os.close(os.open('/etc', 0)); os.lstat('/etc')", loops)
		argv := slices.Insert(under("/usr/bin/python3", "-BSI", "-c", text), 2, "--stats=json")
		got := m.Run(t, rigtest.Options{Timeout: limit}, argv...)
		return stopsOf(t, got.Stderr)
	}
	few, many := count(10), count(110)
	delete(many, "brk") // the heap's, which grows as it likes
	delete(few, "brk")
	for name, n := range few {
		if many[name] -= n; many[name] == 0 {
			delete(many, name)
		}
	}
	want := map[string]int{"faccessat": 100, "openat": 100, "newfstatat": 100, "ends": 100}
	if diff := cmp.Diff(want, many); diff != "" {
		t.Errorf("100 times getppid, access, open, close, lstat: -want +got:\n%s", diff)
	}
}

// stopsOf reads what --stats=json prints.
func stopsOf(t *testing.T, text string) map[string]int {
	var stats struct {
		Calls map[string]int
		Ends  int
	}
	if err := json.Unmarshal([]byte(text), &stats); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	stats.Calls["ends"] = stats.Ends
	return stats.Calls
}
