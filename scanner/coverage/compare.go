// One build against what it is known to cover.
//
// A build-ID names the bytes, so that every difference comes from the scanner,
// or from symbols that were stripped after the link: a site that lost its name
// is then found again among the nameless, and is no loss.

package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svcrelay/scanner"
)

// Severity says whether a finding fails a check.
type Severity uint8

const (
	Note Severity = iota
	Fail
)

// String returns "note" or "fail".
func (s Severity) String() string {
	if s == Fail {
		return "fail"
	}
	return "note"
}

// A Finding is one thing to know about a build.
type Finding struct {
	Severity Severity
	Case     string // what was checked: a call's name, a counter's slug, a structural check
	Text     string // printable ASCII, one line
}

// A Report is what checking one build found.
type Report struct {
	Build    *Build
	Known    bool // does the golden have its build-ID
	Findings []Finding
}

// Failed reports whether one of r's findings is a failure.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Fail })
}

func sortedReports(reports []Report) []Report {
	return slices.SortedStableFunc(slices.Values(reports), func(a, b Report) int { return compareBuilds(a.Build, b.Build) })
}

// Check compares b with the golden's section of its build-ID, and makes the
// structural checks.
func Check(g *Golden, b *Build) Report {
	_, known := g.Find(b.BuildID)
	return Report{Build: b, Known: known, Findings: Compare(g, b)}
}

// Compare returns the failures and notes about b, failures first. For a build
// that g does not know these are the structural ones and a note that it is new.
func Compare(g *Golden, b *Build) []Finding {
	findings := StructuralChecks(b)
	if s, ok := g.Find(b.BuildID); ok {
		findings = append(findings, compareCounts(s.Counts, b)...)
	} else {
		findings = append(findings, Finding{Note, "golden", fmt.Sprintf(
			"build-ID %s is new: only structural checks were made", escape(b.BuildID))})
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return findings
}

func compareCounts(want Counts, b *Build) []Finding {
	have := b.Counts()
	findings := compareAccepted(want, have, b)
	for _, key := range unionKeys(want.Unproven, have.Unproven, compareKeys) {
		if w, h := want.Unproven[key], have.Unproven[key]; h != w {
			findings = append(findings, Finding{severity(h > w), caseOf(key.Number), fmt.Sprintf(
				"%s: not proven at %s, golden has %d", place(key), plural(h, siteNoun(key.Kind)), w)})
		}
	}
	for c, w := range want.Totals {
		if h := have.Totals[c]; h != w {
			findings = append(findings, Finding{severity(worse(Counter(c), h, w)), Counter(c).String(),
				fmt.Sprintf("%s: %d, golden has %d", counters[c].label, h, w)})
		}
	}
	for _, r := range unionKeys(want.Refused, have.Refused, compareRefusals) {
		if w, h := want.Refused[r], have.Refused[r]; h != w {
			findings = append(findings, Finding{Note, r.Reason.String(), fmt.Sprintf(
				"refused as %s: %s, golden has %d", r.Reason, plural(h, siteNoun(r.Kind)), w)})
		}
	}
	return findings
}

func severity(fails bool) Severity {
	if fails {
		return Fail
	}
	return Note
}

// worse reports whether a counter that was want for these bytes may not be have.
func worse(c Counter, have, want int) bool {
	switch counters[c].trend {
	case moreIsBetter:
		return have < want
	case fewerIsBetter:
		return have > want
	}
	return have != want
}

// compareAccepted names each function that lost or gained sites of a call.
func compareAccepted(want, have Counts, b *Build) []Finding {
	var findings []Finding
	renamed := renames(want.Accepted, have.Accepted)
	for _, key := range unionKeys(want.Accepted, have.Accepted, compareKeys) {
		w, h := want.Accepted[key], have.Accepted[key]
		if h == w {
			continue
		}
		lost := w - h - renamed[key]
		text := fmt.Sprintf("%s: %s, golden has %d", place(key), plural(h, siteNoun(key.Kind)), w)
		switch {
		case lost > 0:
			text += refusedThere(b, key)
		case h < w:
			text += "; as many have another name here"
		}
		findings = append(findings, Finding{severity(lost > 0), caseOf(key.Number), text})
	}
	return findings
}

// renames returns how many of a key's lost sites turn up under another name: a
// named function's among the nameless, a nameless one's anywhere.
func renames(want, have map[Key]int) map[Key]int {
	named, nameless := map[Key]int{}, map[Key]int{} // gains, by key without function
	keys := unionKeys(want, have, compareKeys)
	for _, key := range keys {
		if gain := have[key] - want[key]; gain > 0 && key.Function == "" {
			nameless[key.anywhere()] += gain
		} else if gain > 0 {
			named[key.anywhere()] += gain
		}
	}
	found := map[Key]int{}
	for _, key := range keys {
		pool := nameless
		if key.Function == "" {
			pool = named
		}
		n := min(want[key]-have[key], pool[key.anywhere()])
		if n > 0 {
			found[key] = n
			pool[key.anywhere()] -= n
		}
	}
	return found
}

func (k Key) anywhere() Key { return Key{k.Number, k.Kind, ""} }

// refusedThere says what became of a lost site: which sites of the function,
// with that number or none, are refused. All functions without a name would be
// too many to tell anything.
func refusedThere(b *Build, key Key) string {
	if key.Function == "" {
		return ""
	}
	var refused []string
	for _, s := range b.Result.Sites {
		if s.Verdict == scanner.Refuse && s.Function == key.Function &&
			(s.Number == key.Number || s.Number == scanner.NoNumber) {
			refused = append(refused, fmt.Sprintf("0x%x %s", s.Vaddr, s.Reason))
		}
	}
	const most = 4
	if len(refused) == 0 {
		return ""
	}
	if more := len(refused) - most; more > 0 {
		refused = append(refused[:most], fmt.Sprintf("%d more", more))
	}
	return "; refused there: " + strings.Join(refused, ", ")
}

// place is "openat in open64".
func place(key Key) string {
	call := CallName(key.Number)
	if key.Number == scanner.NoNumber {
		call = "any call"
	}
	if key.Function == "" {
		return call + " in functions without a name"
	}
	return call + " in " + escape(key.Function)
}

// caseOf is the Case of findings about a call.
func caseOf(number int) string {
	if number == scanner.NoNumber {
		return "bridges"
	}
	return CallName(number)
}

func siteNoun(kind scanner.Kind) string {
	if kind == scanner.Svc {
		return "svc site"
	}
	return kind.String()
}
