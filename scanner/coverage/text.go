// Small helpers for text output.

package coverage

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// gap is the number of spaces between columns.
const gap = 2

// writeTable aligns the cells of the lines that each hands to its argument. A
// line of fewer cells than its neighbours would end their columns: tabwriter
// aligns only what lies in one unbroken column.
func writeTable(w io.Writer, each func(line func(cells ...string))) error {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 8, gap, ' ', 0)
	each(func(cells ...string) { fmt.Fprintln(tw, strings.Join(cells, "\t")) })
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
