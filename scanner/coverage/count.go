// From sites to counts: what stays comparable when a new build moves every
// address.

package coverage

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
)

// A Counter is one figure of a whole build.
type Counter uint8

const (
	SvcWords Counter = iota
	Adjacent
	Nearby
	Bridges
	Calls
	Proven
	AsyncCancel
	Edges
	HookIsSvc
	numCounters
)

// A trend says what a change of a counter means for one and the same image.
type trend int8

const (
	moreIsBetter trend = iota
	fewerIsBetter
	neverChanges
)

var counters = [numCounters]struct {
	slug, label string
	trend       trend
}{
	SvcWords:    {"svc-words", "svc words", neverChanges},
	Adjacent:    {"adjacent", "number adjacent", moreIsBetter},
	Nearby:      {"nearby", "number nearby", moreIsBetter},
	Bridges:     {"bridges", "bridges", moreIsBetter},
	Calls:       {"calls", "bridge calls", moreIsBetter},
	Proven:      {"proven", "proven", moreIsBetter},
	AsyncCancel: {"async-cancel", "async cancel", moreIsBetter}, // one that is no longer noticed is unsafe
	Edges:       {"edges", "edge in window", moreIsBetter},      // likewise
	HookIsSvc:   {"hook-is-svc", "hook is the svc", fewerIsBetter},
}

// String returns c's slug.
func (c Counter) String() string { return counters[c].slug }

// A Key is what accepted sites are counted by.
type Key struct {
	Number   int // or scanner.NoNumber
	Kind     scanner.Kind
	Function string // "" when no symbol told
}

// A Refusal is what refused sites are counted by.
type Refusal struct {
	Reason scanner.Reason
	Kind   scanner.Kind
}

// Counts is what one build covers.
type Counts struct {
	Totals   [numCounters]int
	Accepted map[Key]int
	Unproven map[Key]int // of the accepted ones with a number
	Refused  map[Refusal]int
	// TableOnly: from a table, which lists accepted sites and knows no
	// functions: only Accepted means anything.
	TableOnly bool
}

// TableCounts returns the counts of a table, to which the caller adds each entry
// with Accept.
func TableCounts() Counts { return Counts{Accepted: map[Key]int{}, TableOnly: true} }

// Accept adds one accepted site of a table.
func (c *Counts) Accept(number int, kind scanner.Kind) { c.Accepted[Key{number, kind, ""}]++ }

// Counts counts b's sites.
func (b *Build) Counts() Counts {
	c := newCounts()
	for i := range b.Result.Sites {
		c.add(&b.Result.Sites[i])
	}
	return c
}

func newCounts() Counts {
	return Counts{Accepted: map[Key]int{}, Unproven: map[Key]int{}, Refused: map[Refusal]int{}}
}

func (c *Counts) add(s *scanner.Site) {
	for counter, is := range [numCounters]bool{
		SvcWords:    s.Kind != scanner.Call,
		Adjacent:    s.Distance == 1,
		Nearby:      s.Distance > 1,
		Bridges:     s.Kind == scanner.Bridge,
		Calls:       s.Kind == scanner.Call,
		Proven:      s.Flags&scanner.Proven != 0,
		AsyncCancel: s.Flags&scanner.AsyncCancel != 0,
		Edges:       s.Flags&scanner.EdgeInWindow != 0,
		HookIsSvc:   s.Flags&scanner.HookIsSvc != 0,
	} {
		if is {
			c.Totals[counter]++
		}
	}
	if s.Verdict != scanner.Accept {
		c.Refused[Refusal{s.Reason, s.Kind}]++
		return
	}
	key := Key{s.Number, s.Kind, s.Function}
	c.Accepted[key]++
	if s.Number != scanner.NoNumber && s.Flags&scanner.Proven == 0 {
		c.Unproven[key]++
	}
}

// cell returns how many accepted sites number has, by kind.
func (c Counts) cell(number int) Cell {
	var cell Cell
	for key, n := range c.Accepted {
		if key.Number == number {
			cell.add(key.Kind, n)
		}
	}
	return cell
}

func (c Counts) accepted() Cell {
	var cell Cell
	for key, n := range c.Accepted {
		cell.add(key.Kind, n)
	}
	return cell
}

// refused returns how many sites are refused for reason; for all when it is
// ReasonNone.
func (c Counts) refused(reason scanner.Reason) Cell {
	var cell Cell
	for r, n := range c.Refused {
		if reason == scanner.ReasonNone || r.Reason == reason {
			cell.add(r.Kind, n)
		}
	}
	return cell
}

// A Cell is a number of sites by kind.
type Cell struct {
	Svc    int `json:"svc"`
	Bridge int `json:"bridge"`
	Call   int `json:"call"`
}

func (c *Cell) add(kind scanner.Kind, n int) {
	switch kind {
	case scanner.Svc:
		c.Svc += n
	case scanner.Bridge:
		c.Bridge += n
	case scanner.Call:
		c.Call += n
	}
}

func (c Cell) total() int { return c.Svc + c.Bridge + c.Call }

// String is "5" for svcs, "2b" for bridges, "2c" for calls through one, those
// there are joined by +, and "-" for none.
func (c Cell) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		unit string
	}{{c.Svc, ""}, {c.Bridge, "b"}, {c.Call, "c"}} {
		if p.n != 0 {
			parts = append(parts, strconv.Itoa(p.n)+p.unit)
		}
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, "+")
}

// CallName is the word for a syscall number in text: "-" for scanner.NoNumber.
func CallName(number int) string {
	if number == scanner.NoNumber {
		return "-"
	}
	return sysno.Name(number)
}

func compareKeys(a, b Key) int {
	return cmp.Or(
		cmp.Compare(a.Number, b.Number),
		cmp.Compare(a.Kind, b.Kind),
		strings.Compare(a.Function, b.Function),
	)
}

func compareRefusals(a, b Refusal) int {
	return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Kind, b.Kind))
}

// unionKeys returns the keys of both maps, sorted.
func unionKeys[K comparable](a, b map[K]int, compare func(K, K) int) []K {
	all := maps.Clone(a)
	if all == nil {
		all = map[K]int{}
	}
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), compare)
}
