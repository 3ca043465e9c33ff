package coverage

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/scanner"
)

func junitText(t *testing.T, reports ...Report) string {
	t.Helper()
	var text strings.Builder
	if err := WriteJUnit(&text, reports); err != nil {
		t.Fatal(err)
	}
	checkPrintable(t, text.String())
	return text.String()
}

// outline is one line for each suite and for each case with something to say.
func outline(s junitSuites) []string {
	lines := []string{fmt.Sprintf("%s: %d tests, %d failures", s.Name, s.Tests, s.Failures)}
	for _, suite := range s.Suites {
		lines = append(lines, fmt.Sprintf("%s: %d tests, %d failures", suite.Name, suite.Tests, suite.Failures))
		for _, c := range suite.Cases {
			if c.Failure != nil {
				lines = append(lines, "failure "+c.Name+": "+c.Failure.Text)
			}
			if c.Output != "" {
				lines = append(lines, "output "+c.Name+": "+c.Output)
			}
		}
	}
	return lines
}

func TestJUnit(t *testing.T) {
	lost := libc31()
	s := &lost.Result.Sites[0]
	s.Verdict, s.Reason, s.Hook = scanner.Refuse, scanner.NumberConflict, 0
	lost.Result.Sites[2].Flags = 0
	g := merged(t, libc31())
	text := junitText(t, Check(g, libc43()), Check(g, lost))
	if !strings.HasPrefix(text, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<testsuites ") || !strings.HasSuffix(text, "</testsuites>\n") {
		t.Errorf("JUnit starts or ends oddly:\n%s", text)
	}
	var got junitSuites
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	structural := len(structures)
	want := []string{
		fmt.Sprintf("svcrelay check: %d tests, 3 failures", 2*structural+4+4),
		// openat, newfstatat; proven, number-conflict
		fmt.Sprintf("libc-2.31.so glibc 2.31 31313131: %d tests, 3 failures", structural+4),
		"failure openat: openat in open: 1 svc site, golden has 2; refused there: 0x1100 number-conflict",
		"failure newfstatat: newfstatat in __xstat: not proven at 1 svc site, golden has 0",
		"failure proven: proven: 3, golden has 4",
		"output number-conflict: refused as number-conflict: 1 svc site, golden has 0",
		// bridges, openat, newfstatat; golden
		fmt.Sprintf("libc.so.6 glibc 2.43 43434343: %d tests, 0 failures", structural+4),
		"output golden: build-ID 4343434343 is new: only structural checks were made",
	}
	if diff := cmp.Diff(want, outline(got)); diff != "" {
		t.Errorf("JUnit (-want +got):\n%s", diff)
	}
	if c := got.Suites[0].Cases[0]; c.Class != "svcrelay.libc-2_31_so glibc 2_31 31313131" || c.Name != "svcs-listed" {
		t.Errorf("first case = %q %q", c.Class, c.Name)
	}
}

// A call that lost all of its sites still has its case.
func TestJUnitKeepsLostCalls(t *testing.T) {
	b := ld43()
	b.Result.Sites = nil
	names := caseNames(Check(merged(t, ld43()), b))
	if !slices.Contains(names, "openat") {
		t.Errorf("cases %q, want openat among them", names)
	}
}

func TestJUnitOfHostileNames(t *testing.T) {
	g := merged(t, hostileBuild())
	g.Sections[0].Counts.Accepted[Key{nr("openat"), scanner.Svc, hostile}]++
	text := junitText(t, Check(g, hostileBuild()), Check(&Golden{}, hostileBuild()))
	var got junitSuites
	if err := xml.Unmarshal([]byte(text), &got); err != nil || got.Failures != 1 {
		t.Errorf("JUnit of hostile names: %v, %d failures, want 1:\n%s", err, got.Failures, text)
	}
}

func TestJUnitOfNothing(t *testing.T) {
	var got junitSuites
	if err := xml.Unmarshal([]byte(junitText(t)), &got); err != nil || got.Tests != 0 {
		t.Errorf("JUnit of nothing: %v, %d tests", err, got.Tests)
	}
}
