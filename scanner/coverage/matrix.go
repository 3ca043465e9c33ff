// The matrix: builds across, calls down. A terminal holds about 8 builds and CI
// has logs of dozens, so that columns are narrow (three header lines: version,
// image, build-ID) and more builds go into further blocks.

package coverage

import (
	"fmt"
	"io"
	"slices"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
)

// A Row is one line of the matrix: a cell for each build.
type Row struct {
	Label string
	Cells []string
	row
}

// row says what a Row counts.
type row struct {
	section section
	number  int // of a call
}

type section uint8

const (
	callRows section = iota
	totalRows
	refusedRows
)

// A Matrix is what builds cover, call by call.
type Matrix struct {
	Builds []*Build // in the order of the columns
	Rows   []Row
}

// NewMatrix counts the sites of builds.
func NewMatrix(builds []*Build) *Matrix {
	m := &Matrix{Builds: sortedBuilds(builds)}
	counts := make([]Counts, len(builds))
	for i, b := range m.Builds {
		counts[i] = b.Counts()
	}
	for _, number := range matrixNumbers(counts) {
		m.add(sysno.Name(number), row{section: callRows, number: number}, counts,
			func(c Counts) Cell { return c.cell(number) })
	}
	m.addTotals(counts)
	for _, reason := range scanner.Reasons() {
		m.add(reason.String(), row{section: refusedRows}, counts,
			func(c Counts) Cell { return c.refused(reason) })
	}
	m.Rows = slices.DeleteFunc(m.Rows, Row.needless)
	return m
}

// matrixNumbers are all relayed numbers, and any other that was accepted.
func matrixNumbers(counts []Counts) []int {
	var numbers []int
	for _, call := range sysno.All() {
		if sysno.Relayed(call.Nr) {
			numbers = append(numbers, call.Nr)
		}
	}
	for _, c := range counts {
		for key := range c.Accepted {
			if key.Number != scanner.NoNumber {
				numbers = append(numbers, key.Number)
			}
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func (m *Matrix) addTotals(counts []Counts) {
	for c := range numCounters {
		m.add(counters[c].label, row{section: totalRows}, counts, func(counts Counts) Cell {
			return Cell{Svc: counts.Totals[c]}
		})
		if c == SvcWords {
			m.add("accepted", row{section: totalRows}, counts, Counts.accepted)
			m.add("refused", row{section: totalRows}, counts, func(c Counts) Cell { return c.refused(scanner.ReasonNone) })
		}
	}
}

func (m *Matrix) add(label string, r row, counts []Counts, cell func(Counts) Cell) {
	line := Row{Label: label, row: r}
	for _, c := range counts {
		line.Cells = append(line.Cells, cell(c).String())
	}
	m.Rows = append(m.Rows, line)
}

// needless rows are refusals that no build has. A call that no build has stays:
// that is what one looks for.
func (r Row) needless() bool {
	return r.section == refusedRows && !slices.ContainsFunc(r.Cells, func(cell string) bool { return cell != "-" })
}

// WriteText writes the builds, a line each, then the matrix in blocks of at most
// width characters; in one block when width is 0.
func (m *Matrix) WriteText(w io.Writer, width int) error {
	if err := m.writeBuilds(w); err != nil {
		return err
	}
	for first := 0; first < len(m.Builds); {
		end := m.blockEnd(first, width)
		if err := m.writeBlock(w, first, end); err != nil {
			return err
		}
		first = end
	}
	return nil
}

func (m *Matrix) writeBuilds(w io.Writer) error {
	return writeTable(w, func(line func(...string)) {
		for _, b := range m.Builds {
			line(escape(b.ShortID()), escape(b.Image), escape(b.Libc), escape(b.Version), escape(b.Source))
		}
	})
}

// blockEnd returns the end of the block of columns that starts at first: at
// least one.
func (m *Matrix) blockEnd(first, width int) int {
	used := 0
	for _, r := range m.Rows {
		used = max(used, len(r.text()))
	}
	for i := first; i < len(m.Builds); i++ {
		used += gap + m.columnWidth(i)
		if width > 0 && used > width && i > first {
			return i
		}
	}
	return len(m.Builds)
}

func (m *Matrix) columnWidth(i int) int {
	width := 0
	for _, word := range header(m.Builds[i]) {
		width = max(width, len(word))
	}
	for _, r := range m.Rows {
		width = max(width, len(r.Cells[i]))
	}
	return width
}

// header is what stands above a column.
func header(b *Build) [3]string {
	return [3]string{shorten(versionText(b)), shorten(escape(b.Role())), escape(b.ShortID())}
}

// versionText is the version, with the name of any libc but glibc.
func versionText(b *Build) string {
	switch {
	case b.Version == "":
		return escape(b.Libc)
	case b.Libc == "glibc" || b.Libc == "":
		return escape(b.Version)
	}
	return escape(b.Libc) + " " + escape(b.Version)
}

// shorten keeps a column narrow.
func shorten(s string) string {
	const most = 10
	if len(s) > most {
		return s[:most-1] + "~"
	}
	return s
}

func (r Row) text() string {
	if r.section == refusedRows {
		return "  " + r.Label
	}
	return r.Label
}

func (m *Matrix) writeBlock(w io.Writer, first, end int) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return writeTable(w, func(line func(...string)) {
		for i := range len(header(m.Builds[first])) {
			words := []string{""}
			for _, b := range m.Builds[first:end] {
				words = append(words, header(b)[i])
			}
			line(words...)
		}
		last := callRows
		for _, r := range m.Rows {
			if r.section != last {
				line(append([]string{sectionTitle(r.section)}, make([]string, end-first)...)...)
				last = r.section
			}
			line(append([]string{r.text()}, r.Cells[first:end]...)...)
		}
	})
}

func sectionTitle(s section) string {
	if s == refusedRows {
		return "refused as"
	}
	return ""
}
