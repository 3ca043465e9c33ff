// svcrelay verify: do the tables at hand fit the images at hand?

package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/cmd/internal/store"
	"svcrelay/scanner"
	"svcrelay/scanner/coverage"
	"svcrelay/scanner/elfimg"
)

type verify struct {
	imageFlags
	tables string
}

func verifyCommand() *cobra.Command {
	v := &verify{}
	cmd := &cobra.Command{
		Use:   "verify [SOURCE...]",
		Short: "check that every image has a right and complete table",
		Long: `Check each image of SOURCE (by default of the running system) against its table:
that there is one, that every entry of it is what the image's own words say, and
that nothing acceptable is missing. Where there is no table, say what building one
would give.

Tables are looked for in DIR, or in ` + store.Dir + ` of a SOURCE that is a
directory.`,
		Example: "  svcrelay verify\n  svcrelay verify rootfs.tar.zst --tables out",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"/"}
			}
			return v.run(cmd, args)
		},
	}
	v.register(cmd)
	cmd.Flags().StringVar(&v.tables, "tables", "", "look for tables in `DIR`")
	return cmd
}

func (v *verify) run(cmd *cobra.Command, sources []string) error {
	if err := v.check(); err != nil {
		return err
	}
	r := newReporter(cmd)
	out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, name := range sources {
		tables, err := v.open(name)
		if err != nil {
			return err
		}
		work := func(_ image, img *elfimg.Image, scan *scanner.Result) (outcome, error) {
			return compareTable(img, scan, tables)
		}
		err = each(cmd.Context(), &v.imageFlags, &r, []string{name}, work, func(m *image, found outcome) {
			if m.err != nil {
				r.refuse(m)
				return
			}
			found.report(out, &r, m)
		})
		if tables != nil {
			tables.Close()
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return r.done()
}

// open opens the tables for one source; nil when there are none.
func (v *verify) open(name string) (*store.Store, error) {
	if v.tables != "" {
		s, err := store.Open(v.tables)
		if err != nil {
			return nil, usagef("--tables: %w", err)
		}
		return s, nil
	}
	if fi, err := os.Stat(name); err != nil || !fi.IsDir() {
		return nil, nil // an archive brings no tables; what is missing is said later
	}
	s, err := store.OpenIn(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

// An outcome is what checking the table of one image gave.
type outcome struct {
	text     string
	bad      bool
	problems []error
}

func (o outcome) report(out io.Writer, r *reporter, m *image) {
	r.failed = r.failed || o.bad
	for _, p := range o.problems {
		r.fail(fmt.Errorf("%s: %w", m.name(), p))
	}
	fmt.Fprintf(out, "%s\t%s\n", m.name(), o.text)
}

// compareTable compares the table of a scanned image, if there is one, with what
// its scan would make.
func compareTable(img *elfimg.Image, scan *scanner.Result, tables *store.Store) (outcome, error) {
	want, err := tableOf(img, scan)
	if err != nil {
		return outcome{}, err
	}
	have, err := lookUp(tables, want.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text := fmt.Sprintf("no table; building one would give %s of %s",
			counted(len(want.Entries), "site"), counted(svcWords(scan.Sites), "svc word"))
		return outcome{text: text, bad: true}, nil
	case err != nil:
		return outcome{"bad table", true, []error{err}}, nil
	}
	if problems := differences(have, want, img); len(problems) > 0 {
		return outcome{"bad table", true, problems}, nil
	}
	return outcome{text: "ok, " + counted(len(have.Entries), "site")}, nil
}

func lookUp(tables *store.Store, k cachefmt.Key) (*cachefmt.Table, error) {
	if tables == nil {
		return nil, fs.ErrNotExist
	}
	return tables.Get(k)
}

// differences lists the entries of have that the image denies, then what a new
// build would change.
func differences(have, want *cachefmt.Table, img *elfimg.Image) (problems []error) {
	if have.Recogniser != want.Recogniser {
		problems = append(problems, fmt.Errorf("table of recogniser %d, this is %d: build it again", have.Recogniser, want.Recogniser))
	}
	denied := map[uint32]bool{}
	for err := range cachefmt.ValidateAll(have, img) {
		problems = append(problems, err)
		var m *cachefmt.Mismatch
		if errors.As(err, &m) {
			denied[m.Svc] = true
		}
	}
	for _, e := range want.Entries {
		switch old, ok := have.Find(e.Svc); {
		case !ok:
			problems = append(problems, fmt.Errorf("svc 0x%x: %s is not in the table", e.Svc, entryName(e)))
		case old != e && !denied[e.Svc]: // all that the words alone do not tell
			problems = append(problems, fmt.Errorf("svc 0x%x: table has flags %v and live 0x%08x, a scan gives %v and 0x%08x",
				e.Svc, old.Flags, uint32(old.Live), e.Flags, uint32(e.Live)))
		}
	}
	for _, e := range have.Entries {
		if _, ok := want.Find(e.Svc); !ok && have.Window <= want.Window {
			problems = append(problems, fmt.Errorf("svc 0x%x: %s is in the table, a scan refuses it", e.Svc, entryName(e)))
		}
	}
	return problems
}

func entryName(e cachefmt.Entry) string {
	if e.Number == cachefmt.NoNumber {
		return e.Kind.String()
	}
	return coverage.CallName(int(e.Number))
}
