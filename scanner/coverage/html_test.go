package coverage

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svcrelay/scanner"
)

func htmlText(t *testing.T, reports ...Report) string {
	t.Helper()
	var text strings.Builder
	if err := WriteHTML(&text, reports); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// elements are the start tags of a page. Its own text is well-formed but for
// the void elements of HTML, so that encoding/xml can read it.
func elements(t *testing.T, text string) []xml.StartElement {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "br"}, xml.HTMLEntity
	var all []xml.StartElement
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("page at %d: %v", d.InputOffset(), err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			all, depth = append(all, e.Copy()), depth+1
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%d elements are not closed", depth)
	}
	return all
}

func attribute(e xml.StartElement, name string) string {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attr[i].Value
}

func sampleReports(t *testing.T) []Report {
	lost := libc31()
	s := &lost.Result.Sites[0]
	s.Verdict, s.Reason, s.Hook = scanner.Refuse, scanner.NumberConflict, 0
	g := merged(t, libc31(), ld43())
	return []Report{Check(g, lost), Check(g, libc43()), Check(g, ld43()), Check(g, hostileBuild())}
}

func TestHTMLIsSelfContained(t *testing.T) {
	text := htmlText(t, sampleReports(t)...)
	if found := regexp.MustCompile(`(?i)https?:|//|@import|url\(|<script|<iframe|<img|\ssrc=|\son[a-z]+=`).FindString(text); found != "" {
		t.Errorf("the page holds %q", found)
	}
	for _, e := range elements(t, text) {
		if to := attribute(e, "href"); to != "" && to[0] != '#' && to != "data:," {
			t.Errorf("%s leads to %q, want it to stay in the page", e.Name.Local, to)
		}
	}
}

func TestHTMLIsAccessible(t *testing.T) {
	ids, linked := map[string]bool{}, map[string]bool{}
	rows := map[string]int{}
	for _, e := range elements(t, htmlText(t, sampleReports(t)...)) {
		rows[e.Name.Local]++
		switch e.Name.Local {
		case "th":
			if scope := attribute(e, "scope"); scope != "row" && scope != "col" {
				t.Errorf("th with scope %q", scope)
			}
		case "svg":
			if attribute(e, "aria-hidden") == "" && (attribute(e, "role") != "img" || attribute(e, "aria-label") == "") {
				t.Errorf("svg neither hidden nor labelled: %v", e.Attr)
			}
		case "html":
			if attribute(e, "lang") == "" {
				t.Error("html without lang")
			}
		}
		if id := attribute(e, "id"); id != "" {
			if ids[id] {
				t.Errorf("id %q is used twice", id)
			}
			ids[id] = true
		}
		for _, to := range []string{attribute(e, "href"), "#" + attribute(e, "aria-labelledby")} {
			if len(to) > 1 && to[0] == '#' {
				linked[to[1:]] = true
			}
		}
	}
	for id := range linked {
		if !ids[id] {
			t.Errorf("nothing has the id %q, which something refers to", id)
		}
	}
	if rows["th"] < 100 || rows["title"] < 10 || rows["use"] < 10 {
		t.Errorf("elements %v: a part of the page is missing", rows)
	}
}

func TestHTMLContents(t *testing.T) {
	text := htmlText(t, sampleReports(t)...)
	for _, want := range []string{
		"4 builds, 1 with failures, 2 without golden counts",
		`<td class="lost" title="openat in open: 1 svc site, golden has 2; refused there: 0x1100 number-conflict` + "\nsvc in open at 0x1200" + `"><span role="img" aria-label="failed:">&#9660;</span> 1</td>`,
		`<use href="#bridge" class="bridge" x="19.73%"><title>bridge: bridge at 0x1328, hook at 0x1300</title></use>`,
		`<title>openat in open&#43;0x0: call at 0x1500, hook at 0x1500</title>`,
		`<title>number not known in syscall&#43;0x0: svc at 0x1500, refused, number-in-register</title>`,
		`class="quiet" x="25.00%"><title>getpid in getpid&#43;0x8: svc at 0x1400, refused, number-not-relayed</title>`,
		`<th scope="col" class="first"><b>2.43</b>ld.so`, "<td title=\"call in open at 0x1500\ncall in openat at 0x1600\">2c</td>", `<td class="none">`, "4343434343 is new", `<td class="status ok">as known</td>`, `<td class="status new">new</td>`, `<td class="status fail">1 failure</td>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, r := range scanner.Reasons() {
		if !strings.Contains(text, r.Explain()) {
			t.Errorf("the page does not explain %s", r)
		}
	}
}

func TestHTMLIsDeterministic(t *testing.T) {
	reports := sampleReports(t)
	first := htmlText(t, reports...)
	slices.Reverse(reports)
	if second := htmlText(t, reports...); first != second {
		t.Error("the order of the reports changes the page")
	}
}

func TestHTMLOfHostileNames(t *testing.T) {
	text := htmlText(t, Check(&Golden{}, hostileBuild()))
	for _, bad := range []string{"<script", "\x1b", "\u202e", "\xff", "a b\n"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page carries %q of a hostile name", bad)
		}
	}
	if !strings.Contains(text, "a%20b%0a") {
		t.Error("the hostile name is not shown at all")
	}
}

// Many builds start folded, few do not; none is a page too.
func TestHTMLFoldsManyBuilds(t *testing.T) {
	for n, open := range map[int]int{0: 0, 1: 1, mostOpen: mostOpen, mostOpen + 1: 0} {
		var reports []Report
		for range n {
			reports = append(reports, Check(&Golden{}, ld43()))
		}
		got := 0
		for _, e := range elements(t, htmlText(t, reports...)) {
			if slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "open" }) {
				got++
			}
		}
		if got != open {
			t.Errorf("%d builds: %d maps are open, want %d", n, got, open)
		}
	}
}
