// The map of a build: its text cut into buckets of one size, a strip for each,
// with a mark for every site. One strip for the whole text would not do: 50 of
// libc's 61 accepted sites lie within 70 KiB of its 1.2 MB.

package coverage

import (
	"fmt"
	"strconv"

	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// mostStrips is about how many strips a map has; pages of 64 KiB for a libc.
const mostStrips = 24

// A strip is one bucket of a build's text.
type strip struct {
	From              string // address
	Accepted, Refused int
	Text              []bar
	Marks             []mark // those drawn last, and so on top, are last

	index uint64 // address / bucket size
}

// A bar is text within a strip, in percent of its width.
type bar struct{ X, Width string }

// A mark is one site.
type mark struct {
	X     string // in percent
	Shape string // id of what the page draws
	Title string
}

// strips maps the sites of b. Marks of sites outside the text are left out:
// structural checks report those.
func strips(b *Build) (all []strip, size uint64) {
	all, shift := emptyStrips(b.Exec)
	place := map[uint64]int{}
	for i, s := range all {
		place[s.index] = i
	}
	for layer := range layers {
		for _, site := range b.Result.Sites {
			i, ok := place[site.Vaddr>>shift]
			if shape, on := shapeOf(site); ok && on == layer {
				all[i].Marks = append(all[i].Marks, mark{percent(site.Vaddr, shift), shape, siteTitle(site)})
			}
		}
	}
	for _, site := range b.Result.Sites {
		if i, ok := place[site.Vaddr>>shift]; ok && site.Verdict == scanner.Accept {
			all[i].Accepted++
		} else if ok {
			all[i].Refused++
		}
	}
	return all, 1 << shift
}

// emptyStrips cuts ranges into buckets of a power of two, 4 KiB or more.
func emptyStrips(ranges []elfimg.Range) (all []strip, shift uint) {
	var total uint64
	for _, r := range ranges {
		total += r.Size
	}
	shift = 12
	for total>>shift >= mostStrips {
		shift++
	}
	for all = cut(ranges, shift); len(all) > 2*mostStrips && shift < 62; all = cut(ranges, shift) {
		shift++ // text in many small ranges
	}
	return all, shift
}

// cut returns the buckets that ranges, which ascend, have text in.
func cut(ranges []elfimg.Range, shift uint) []strip {
	var all []strip
	for _, r := range ranges {
		for at := r.Vaddr; r.Size > 0 && at-r.Vaddr < r.Size; at = (at>>shift + 1) << shift {
			if n := len(all); n == 0 || all[n-1].index != at>>shift {
				all = append(all, strip{From: fmt.Sprintf("0x%06x", at>>shift<<shift), index: at >> shift})
			}
			end := min(r.Vaddr+r.Size, (at>>shift+1)<<shift)
			last := &all[len(all)-1]
			last.Text = append(last.Text, bar{percent(at, shift), share(end-at, shift)})
		}
	}
	return all
}

// percent is where vaddr lies in its bucket.
func percent(vaddr uint64, shift uint) string { return share(vaddr&(1<<shift-1), shift) }

func share(n uint64, shift uint) string {
	return strconv.FormatFloat(100*float64(n)/float64(uint64(1)<<shift), 'f', 2, 64) + "%"
}

// layers is how many layers of marks there are, the commonest lowest.
const layers = 4

// shapeOf returns the id of a site's mark and its layer.
func shapeOf(s scanner.Site) (shape string, layer int) {
	switch {
	case s.Reason == scanner.NumberNotRelayed:
		return "quiet", 0
	case s.Verdict != scanner.Accept:
		return "refused", 1
	case s.Kind == scanner.Call:
		return "call", 2
	case s.Kind == scanner.Bridge:
		return "bridge", 3
	}
	return "accepted", 2
}

// siteTitle says in one line what a mark is.
func siteTitle(s scanner.Site) string {
	text := "number not known"
	switch {
	case s.Number != scanner.NoNumber:
		text = CallName(s.Number)
	case s.Kind == scanner.Bridge:
		text = "bridge"
	}
	if s.Function != "" {
		text += fmt.Sprintf(" in %s+0x%x", escape(s.Function), s.Offset)
	}
	text += fmt.Sprintf(": %s at 0x%x, ", s.Kind, s.Vaddr)
	if s.Verdict != scanner.Accept {
		return text + "refused, " + s.Reason.String()
	}
	return text + fmt.Sprintf("hook at 0x%x", s.Hook)
}
