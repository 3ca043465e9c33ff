// A table as text, for people and for diff. One fact a line, offsets in hex of
// one width: so a diff of two dumps shows exactly what differs.

package cachefmt

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Dump writes t as text, the same for equal tables.
func (t *Table) Dump(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range t.rows() {
		if _, err := fmt.Fprintln(tw, row); err != nil {
			return err
		}
	}
	return tw.Flush()
}

// rows are the lines of a dump, cells separated by tabs. The C reader prints the
// same lines.
func (t *Table) rows() []string {
	rows := []string{
		"key\t" + t.Key.String(),
		fmt.Sprintf("format\t%d", FormatVersion),
		fmt.Sprintf("recogniser\t%d", t.Recogniser),
		fmt.Sprintf("window\t%d", t.Window),
	}
	for _, r := range t.Exec {
		rows = append(rows, fmt.Sprintf("exec\t%s\t%s", hex32(r.Offset), hex32(r.Size)))
	}
	rows = append(rows, fmt.Sprintf("entries\t%d", len(t.Entries)))
	if len(t.Entries) > 0 {
		rows = append(rows, "", "svc\thook\tword\tlive\tstart\tend\tkind\tnumber\tdistance\tflags")
	}
	for _, e := range t.Entries {
		rows = append(rows, e.String())
	}
	return rows
}

// String is e's line of a dump: tab-separated cells in the order of the encoding.
func (e Entry) String() string {
	return strings.Join([]string{
		hex32(e.Svc), hex32(e.Hook), hex32(uint32(e.Word)), hex32(uint32(e.Live)),
		hex32(e.Start), hex32(e.End), e.Kind.String(), numberText(uint32(e.Number)),
		decimal(uint32(e.Distance)), e.Flags.String(),
	}, "\t")
}

func hex32(n uint32) string { return fmt.Sprintf("0x%08x", n) }

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func numberText(n uint32) string {
	if n == NoNumber {
		return "-"
	}
	return decimal(n)
}
