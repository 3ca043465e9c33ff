// The HTML page: one file that loads nothing, runs nothing and reads well on a
// telephone, by night and by keyboard. What a colour says is also said by a
// shape, a word or a place. The page itself is page.html.

package coverage

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"svcrelay/scanner"
)

//go:embed page.html
var pageFile embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFile, "page.html"))

// WriteHTML writes the page of reports.
func WriteHTML(w io.Writer, reports []Report) error {
	reports = sortedReports(reports)
	p := page{Reasons: reasonRows(reports), Open: len(reports) <= mostOpen}
	var builds []*Build
	for i, r := range reports {
		builds = append(builds, r.Build)
		p.Builds = append(p.Builds, newPageBuild(r, i))
	}
	p.addMatrix(NewMatrix(builds), reports)
	p.Summary, p.Failed = summarise(reports)
	return pageTemplate.Execute(w, p)
}

// mostOpen is how many maps are shown at once; of more builds each is opened by
// hand.
const mostOpen = 12

// A page is what page.html shows.
type page struct {
	Summary                string
	Failed                 bool
	Open                   bool // show all maps at once
	Builds                 []pageBuild
	Calls, Totals, Refused []pageRow
	Reasons                []pageReason
}

type pageBuild struct {
	Anchor, Image, Libc, Version, Role, ID, Short, Source string
	First                                                 bool // of another role than the build before
	Status, Class                                         string
	Svcs, Accepted, Refused, Proven                       int
	Findings                                              []Finding
	Strips                                                []strip
	Size                                                  string
	Sites, Refusals                                       []pageSite
}

type pageSite struct{ Call, Function, Kind, Vaddr, Hook, Distance, Note string }

type pageRow struct {
	Label, Number string
	Cells         []pageCell
}

type pageCell struct {
	Text, Class, Title string
	First              bool
}

type pageReason struct {
	Slug, Sentence string
	Cell           Cell
}

func newPageBuild(r Report, i int) pageBuild {
	b, counts := r.Build, r.Build.Counts()
	all, size := strips(b)
	p := pageBuild{
		Anchor: "build-" + strconv.Itoa(i+1), Image: escape(b.Image), Libc: escape(b.Libc), Version: versionText(b),
		Role: escape(b.Role()), ID: escape(b.BuildID), Short: escape(b.ShortID()), Source: escape(b.Source),
		Svcs: counts.Totals[SvcWords], Accepted: counts.accepted().total(), Proven: counts.Totals[Proven],
		Refused:  counts.refused(scanner.ReasonNone).total(),
		Findings: r.Findings, Strips: all, Size: byteSize(size),
	}
	p.Status, p.Class = status(r)
	for _, s := range b.Result.Sites {
		switch {
		case s.Verdict == scanner.Accept:
			p.Sites = append(p.Sites, newPageSite(s, "hook "+s.HookReason.String()))
		case s.Reason != scanner.NumberNotRelayed:
			p.Refusals = append(p.Refusals, newPageSite(s, s.Reason.String()))
		}
	}
	return p
}

func newPageSite(s scanner.Site, note string) pageSite {
	if s.Flags != 0 {
		note += ", " + strings.ReplaceAll(s.Flags.String(), ",", ", ")
	}
	distance := "-"
	if s.Distance > 0 {
		distance = strconv.Itoa(s.Distance)
	}
	return pageSite{
		Call: CallName(s.Number), Function: escape(s.Function), Kind: s.Kind.String(),
		Vaddr: fmt.Sprintf("0x%x", s.Vaddr), Hook: fmt.Sprintf("0x%x", s.Hook),
		Distance: distance, Note: note,
	}
}

// status is the word for a report's outcome, and its class in the page.
func status(r Report) (text, class string) {
	fails := 0
	for _, f := range r.Findings {
		if f.Severity == Fail {
			fails++
		}
	}
	switch {
	case fails > 0:
		return plural(fails, "failure"), "fail"
	case !r.Known:
		return "new", "new"
	}
	return "as known", "ok"
}

// summarise is the first line of the page.
func summarise(reports []Report) (text string, failed bool) {
	fails, fresh := 0, 0
	for _, r := range reports {
		if r.Failed() {
			fails++
		} else if !r.Known {
			fresh++
		}
	}
	text = plural(len(reports), "build") + ", "
	if fails > 0 {
		text += strconv.Itoa(fails) + " with failures"
	} else {
		text += "no failure"
	}
	if fresh > 0 {
		text += ", " + strconv.Itoa(fresh) + " without golden counts"
	}
	return text, fails > 0
}

func (p *page) addMatrix(m *Matrix, reports []Report) {
	for i := range p.Builds {
		p.Builds[i].First = i > 0 && p.Builds[i].Role != p.Builds[i-1].Role
	}
	for _, r := range m.Rows {
		line := pageRow{Label: r.Label}
		for i, text := range r.Cells {
			line.Cells = append(line.Cells, newPageCell(text, r, reports[i], p.Builds[i].First))
		}
		switch r.section {
		case callRows:
			line.Number = strconv.Itoa(r.number)
			p.Calls = append(p.Calls, line)
		case totalRows:
			p.Totals = append(p.Totals, line)
		case refusedRows:
			p.Refused = append(p.Refused, line)
		}
	}
}

func newPageCell(text string, r Row, report Report, first bool) pageCell {
	cell := pageCell{Text: text, First: first}
	if text == "-" {
		cell.Text, cell.Class = "\u2013", "none"
	}
	if r.section != callRows {
		return cell
	}
	fails, _ := findingTexts(report, caseOf(r.number))
	if fails != nil {
		cell.Class = "lost"
	}
	for _, text := range append(fails, functions(report.Build, r.number)...) {
		if cell.Title != "" {
			cell.Title += "\n"
		}
		cell.Title += text
	}
	return cell
}

// functions says in which functions of b a call has its accepted sites.
func functions(b *Build, number int) []string {
	var lines []string
	for _, s := range b.Result.Sites {
		if s.Verdict == scanner.Accept && s.Number == number {
			lines = append(lines, fmt.Sprintf("%s in %s at 0x%x", s.Kind, escape(s.Function), s.Vaddr))
		}
	}
	return lines
}

// reasonRows counts the refusals of all builds, all reasons included: the page
// explains each.
func reasonRows(reports []Report) []pageReason {
	all := newCounts()
	for _, r := range reports {
		for refusal, n := range r.Build.Counts().Refused {
			all.Refused[refusal] += n
		}
	}
	var rows []pageReason
	for _, reason := range scanner.Reasons() {
		rows = append(rows, pageReason{reason.String(), reason.Explain(), all.refused(reason)})
	}
	slices.SortStableFunc(rows, func(a, b pageReason) int { return b.Cell.total() - a.Cell.total() })
	return rows
}

// byteSize is a power of two of at least 4 KiB.
func byteSize(n uint64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
