// JUnit XML, which every CI system reads: a suite for each build, a case for
// each call and each structural check. There is no schema of it; what is
// written here is what Jenkins, GitLab and GitHub's readers have in common.

package coverage

import (
	"encoding/xml"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes reports as JUnit XML.
func WriteJUnit(w io.Writer, reports []Report) error {
	all := junitSuites{Name: "svcrelay check"}
	for _, r := range sortedReports(reports) {
		suite := newSuite(r)
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func newSuite(r Report) junitSuite {
	suite := junitSuite{Name: r.Build.Label()}
	for _, name := range caseNames(r) {
		c := newCase(r, name)
		suite.Cases = append(suite.Cases, c)
		suite.Tests++
		if c.Failure != nil {
			suite.Failures++
		}
	}
	return suite
}

// caseNames are the structural checks, then the calls that the build covers by
// number, then whatever else has a finding: a call that it no longer covers does.
func caseNames(r Report) []string {
	var names []string
	for _, s := range structures {
		names = append(names, s.name)
	}
	for _, key := range unionKeys(r.Build.Counts().Accepted, nil, compareKeys) {
		names = append(names, caseOf(key.Number))
	}
	for _, f := range r.Findings {
		names = append(names, f.Case)
	}
	return unique(names)
}

// unique drops repeats and keeps the order.
func unique(names []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

func newCase(r Report, name string) junitCase {
	c := junitCase{Class: "svcrelay." + dotless(r.Build.Label()), Name: name}
	fails, notes := findingTexts(r, name)
	if fails != nil {
		c.Failure = &junitFailure{Message: fails[0], Type: "coverage", Text: strings.Join(fails, "\n")}
	}
	c.Output = strings.Join(notes, "\n")
	return c
}

func findingTexts(r Report, name string) (fails, notes []string) {
	for _, f := range r.Findings {
		switch {
		case f.Case != name:
		case f.Severity == Fail:
			fails = append(fails, f.Text)
		default:
			notes = append(notes, f.Text)
		}
	}
	return fails, notes
}

// dotless keeps a label one component of a class name: readers split at dots.
func dotless(s string) string { return strings.ReplaceAll(s, ".", "_") }
