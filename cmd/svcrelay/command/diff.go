// svcrelay diff: what one set of images or tables covers that another does not.

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/cmd/internal/store"
	"svcrelay/scanner"
	"svcrelay/scanner/coverage"
	"svcrelay/scanner/source"
)

type diff struct {
	imageFlags
	json bool
}

func diffCommand() *cobra.Command {
	d := &diff{}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "show what B covers and A does not, and the other way round",
		Long: `Compare what is accepted in A and in B, by call and function. Each is a SOURCE, a
table, a pack, or a directory of tables. The images of a source are paired with
those of the other by what they are: libc with libc, ld.so with ld.so. Tables know
no functions; with one of them calls are compared as wholes.`,
		Example: "  svcrelay diff libc6_2.36_arm64.deb libc6_2.41_arm64.deb",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.run(cmd, args[0], args[1])
		},
	}
	d.register(cmd)
	cmd.Flags().BoolVar(&d.json, "json", false, "print JSON")
	return cmd
}

// A side is what one argument holds, by role: libc, ld.so or a file name.
type side map[string]coverage.Counts

func (d *diff) run(cmd *cobra.Command, a, b string) error {
	if err := d.check(); err != nil {
		return err
	}
	r := newReporter(cmd)
	from, err := d.side(cmd.Context(), &r, a)
	if err != nil {
		return err
	}
	to, err := d.side(cmd.Context(), &r, b)
	if err != nil {
		return err
	}
	r.progress.clear()
	out := cmd.OutOrStdout()
	pairs := pairs(from, to)
	for i, p := range pairs {
		if err := d.print(out, p, i); err != nil {
			return err
		}
	}
	if len(pairs) == 0 {
		r.fail(errors.New("nothing to compare"))
	}
	return r.done()
}

// A pair is what both sides have of one role; a side without it counts nothing.
type pair struct {
	role string
	a, b coverage.Counts
}

// soleRole is the role of a table that came without a name.
const soleRole = "table"

func pairs(a, b side) []pair {
	if len(a) == 1 && len(b) == 1 { // whatever they are called
		return []pair{{role(a, b), only(a), only(b)}}
	}
	var all []pair
	for name := range a {
		all = append(all, pair{name, a[name], b[name]})
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			all = append(all, pair{name, a[name], b[name]})
		}
	}
	slices.SortFunc(all, func(x, y pair) int { return strings.Compare(x.role, y.role) })
	return all
}

// role names a pair of single images, by the side that knows a name.
func role(a, b side) string {
	for _, s := range []side{a, b} {
		for name := range s {
			if name != soleRole {
				return name
			}
		}
	}
	return soleRole
}

func only(s side) coverage.Counts {
	for _, c := range s {
		return c
	}
	return coverage.Counts{}
}

func (d *diff) print(w io.Writer, p pair, i int) error {
	difference := coverage.Diff(p.a, p.b)
	if d.json {
		return json.NewEncoder(w).Encode(struct {
			Image string `json:"image"`
			coverage.Difference
		}{p.role, difference})
	}
	if i > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n", p.role)
	return difference.WriteText(w)
}

// side reads one argument: a directory of tables, a source, a table or a pack.
func (d *diff) side(ctx context.Context, r *reporter, name string) (side, error) {
	switch kind, err := source.Detect(name); {
	case err == nil && kind == source.Dir:
		if found := storeSide(r, name); len(found) > 0 {
			return found, nil
		}
	case err != nil:
		tables, tableErr := readTables(name)
		if errors.Is(tableErr, cachefmt.ErrMagic) {
			tableErr = err // neither: what the source lacks says more
		}
		if tableErr != nil {
			r.fail(fmt.Errorf("%s: %w", name, tableErr))
		}
		return tableSide(tables), nil
	}
	found := side{}
	err := each(ctx, &d.imageFlags, r, []string{name}, buildOf, func(m *image, b *coverage.Build) {
		if m.err != nil {
			r.refuse(m)
			return
		}
		found[b.Role()] = b.Counts()
	})
	return found, err
}

// storeSide reads a directory of tables.
func storeSide(r *reporter, name string) side {
	s, err := store.Open(name)
	if err != nil {
		r.fail(err)
		return nil
	}
	defer s.Close()
	manifest, err := s.ReadManifest()
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", name, err))
	}
	found := side{}
	for t, err := range s.Tables {
		if err != nil {
			r.fail(fmt.Errorf("%s: %w", name, err))
			continue
		}
		role := t.Key.String()
		if e, ok := manifest.Find(t.Key); ok {
			role = (&coverage.Build{Image: path.Base(e.Image), Libc: e.Libc}).Role()
		}
		found[role] = countsOfTable(t)
	}
	return found
}

// tableSide names the tables of one file by their keys.
func tableSide(tables []*cachefmt.Table) side {
	if len(tables) == 1 {
		return side{soleRole: countsOfTable(tables[0])}
	}
	found := side{}
	for _, t := range tables {
		found[t.Key.String()] = countsOfTable(t)
	}
	return found
}

func countsOfTable(t *cachefmt.Table) coverage.Counts {
	c := coverage.TableCounts()
	for _, e := range t.Entries {
		nr := int(e.Number)
		if e.Number == cachefmt.NoNumber {
			nr = scanner.NoNumber
		}
		c.Accept(nr, e.Kind)
	}
	return c
}
