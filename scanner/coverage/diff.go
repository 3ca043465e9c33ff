// The difference of two builds: what a new glibc gained and lost, by call and
// function. Kinds stand side by side in one row because 2.41 turned the svcs of
// open and openat into calls through its bridge, which is no loss.

package coverage

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"svcrelay/scanner"
)

// A Change says what became of the sites of one call in one function.
type Change string

const (
	Lost   Change = "lost"   // none are left
	Fewer  Change = "fewer"  // of the same kinds
	Moved  Change = "moved"  // of other kinds: one call through a bridge can stand for two svcs
	More   Change = "more"   // of the same kinds
	Gained Change = "gained" // there were none
)

// A Delta is one call in one function whose sites differ.
type Delta struct {
	Number   int    `json:"nr"` // scanner.NoNumber for bridges
	Name     string `json:"name"`
	Function string `json:"function"` // "" when not known
	A        Cell   `json:"a"`
	B        Cell   `json:"b"`
	Change   Change `json:"change"`
}

// A TotalDelta is one counter that differs.
type TotalDelta struct {
	Name string `json:"name"`
	A    int    `json:"a"`
	B    int    `json:"b"`
}

// A RefusedDelta is one reason for which other numbers of sites are refused.
type RefusedDelta struct {
	Reason string `json:"reason"`
	A      Cell   `json:"a"`
	B      Cell   `json:"b"`
}

// A Difference is everything in which two builds differ.
type Difference struct {
	Sites    []Delta        `json:"sites"`
	Totals   []TotalDelta   `json:"totals"`   // empty when one side is a table
	Refused  []RefusedDelta `json:"refused"`  // likewise
	Accepted [2]int         `json:"accepted"` // sites of both
}

// Diff compares what a and b cover. When a side knows no function at all, as a
// table or a stripped image does, calls are compared as wholes.
func Diff(a, b Counts) Difference {
	d := Difference{
		Sites: []Delta{}, Totals: []TotalDelta{}, Refused: []RefusedDelta{},
		Accepted: [2]int{a.accepted().total(), b.accepted().total()},
	}
	keepNames := named(a) && named(b)
	as, bs := cells(a, keepNames), cells(b, keepNames)
	for _, key := range unionCells(as, bs) {
		if x, y := as[key], bs[key]; x != y {
			d.Sites = append(d.Sites, Delta{key.Number, caseOf(key.Number), key.Function, x, y, changeOf(x, y)})
		}
	}
	if !a.TableOnly && !b.TableOnly {
		d.addTotals(a, b)
	}
	return d
}

// named reports whether c knows the function of any site.
func named(c Counts) bool {
	for key := range c.Accepted {
		if key.Function != "" {
			return true
		}
	}
	return len(c.Accepted) == 0 && !c.TableOnly
}

// cells joins the kinds of each call and function; Kind is zero in their keys.
func cells(c Counts, keepNames bool) map[Key]Cell {
	all := map[Key]Cell{}
	for key, n := range c.Accepted {
		if !keepNames {
			key.Function = ""
		}
		where := Key{key.Number, 0, key.Function}
		cell := all[where]
		cell.add(key.Kind, n)
		all[where] = cell
	}
	return all
}

func unionCells(a, b map[Key]Cell) []Key {
	var keys []Key
	for _, m := range []map[Key]Cell{a, b} {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

func changeOf(a, b Cell) Change {
	x, y := a.total(), b.total()
	switch {
	case y == 0:
		return Lost
	case x == 0:
		return Gained
	case kinds(a) != kinds(b):
		return Moved
	case y < x:
		return Fewer
	}
	return More
}

func kinds(c Cell) [3]bool { return [3]bool{c.Svc > 0, c.Bridge > 0, c.Call > 0} }

func (d *Difference) addTotals(a, b Counts) {
	for c := range numCounters {
		if x, y := a.Totals[c], b.Totals[c]; x != y {
			d.Totals = append(d.Totals, TotalDelta{c.String(), x, y})
		}
	}
	for _, reason := range scanner.Reasons() {
		if x, y := a.refused(reason), b.refused(reason); x != y {
			d.Refused = append(d.Refused, RefusedDelta{reason.String(), x, y})
		}
	}
}

// WriteText writes d as lines like "openat  open64  1 -> -  lost", then a summary.
func (d Difference) WriteText(w io.Writer) error {
	err := writeTable(w, func(line func(...string)) {
		for _, s := range d.Sites {
			line(s.Name, escape(s.Function), arrow(s.A, s.B), string(s.Change))
		}
	})
	if err != nil {
		return err
	}
	err = writeTable(w, func(line func(...string)) {
		for _, t := range d.Totals {
			line("total", t.Name, fmt.Sprintf("%d -> %d", t.A, t.B))
		}
		for _, r := range d.Refused {
			line("refused", r.Reason, arrow(r.A, r.B))
		}
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, d.summary())
	return err
}

func arrow(a, b Cell) string { return number(a) + " -> " + number(b) }

// number is a cell with 0 for none, which an arrow reads better with.
func number(c Cell) string {
	if c == (Cell{}) {
		return "0"
	}
	return c.String()
}

// summary is the last line: sites, and how many rows of each change.
func (d Difference) summary() string {
	rows := map[Change]int{}
	for _, s := range d.Sites {
		rows[s.Change]++
	}
	text := fmt.Sprintf("accepted %d -> %d", d.Accepted[0], d.Accepted[1])
	for _, c := range []Change{Lost, Fewer, Moved, More, Gained} {
		if rows[c] > 0 {
			text += fmt.Sprintf(", %d %s", rows[c], c)
		}
	}
	if cmp.Or(len(d.Sites), len(d.Totals), len(d.Refused)) == 0 {
		text += ", no difference"
	}
	return text
}
