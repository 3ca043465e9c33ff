// svcrelay diff: what one set of images or tables covers that another does not.

package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
those of the other by what they are: libc with libc, ld.so with ld.so; a table or
a pack by build-ID. Tables know no functions; with one of them calls are compared
as wholes.

With --json, one object per pair of images, each on a line: image, which says what
they are, and the calls that changed.`,
		Example: "  svcrelay diff libc6_2.36_arm64.deb libc6_2.41_arm64.deb",
		Args:    needsTwo,
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.run(cmd, args[0], args[1])
		},
	}
	d.register(cmd)
	cmd.Flags().BoolVar(&d.json, "json", false, "print one JSON object per pair of images")
	return cmd
}

func needsTwo(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return errors.New("diff needs two: A and B")
	}
	return nil
}

// A part is one image or table of an argument.
type part struct {
	name   string // how to call it in a message
	role   string // libc, ld.so or a file name; "" when nothing tells
	key    string // of its table
	counts coverage.Counts
}

func (d *diff) run(cmd *cobra.Command, a, b string) error {
	if err := d.check(); err != nil {
		return err
	}
	r := newReporter(cmd)
	from, err := d.parts(cmd.Context(), &r, a)
	if err != nil {
		return err
	}
	to, err := d.parts(cmd.Context(), &r, b)
	if err != nil {
		return err
	}
	if r.failed { // half a comparison would look like a loss
		return r.done()
	}
	pairs, err := pairUp(from, to)
	if err != nil {
		return err
	}
	r.progress.clear()
	for i, p := range pairs {
		if err := d.print(cmd.OutOrStdout(), p, i); err != nil {
			return err
		}
	}
	return r.done()
}

// A pair is what both sides have of one role; a side without it counts nothing.
type pair struct {
	role string
	a, b coverage.Counts
}

// pairUp pairs the parts of two arguments: one with one, else libc with libc and
// so on. Tables without a name are paired with those of the same key.
func pairUp(a, b []part) ([]pair, error) {
	if len(a) == 1 && len(b) == 1 {
		return []pair{{cmp.Or(a[0].role, b[0].role, "table"), a[0].counts, b[0].counts}}, nil
	}
	nameAlike(a, b)
	nameAlike(b, a)
	byRole := map[string]*pair{}
	for side, parts := range [][]part{a, b} {
		seen := map[string]string{}
		for _, p := range parts {
			if p.role == "" {
				return nil, fmt.Errorf("%s: nothing tells which image it is of; compare it with a single one", p.name)
			}
			if other, ok := seen[p.role]; ok {
				return nil, fmt.Errorf("%s and %s are both %s; compare them one by one", other, p.name, p.role)
			}
			seen[p.role] = p.name
			if byRole[p.role] == nil {
				byRole[p.role] = &pair{role: p.role}
			}
			if side == 0 {
				byRole[p.role].a = p.counts
			} else {
				byRole[p.role].b = p.counts
			}
		}
	}
	var all []pair
	for _, p := range byRole {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(x, y pair) int { return strings.Compare(x.role, y.role) })
	return all, nil
}

// nameAlike gives the nameless parts the roles of those that have their keys.
func nameAlike(parts, named []part) {
	for i := range parts {
		p := &parts[i]
		k := slices.IndexFunc(named, func(q part) bool { return q.key == p.key })
		switch {
		case p.role != "":
		case k >= 0:
			p.role = cmp.Or(named[k].role, p.key)
		case len(parts) == 1 && len(named) == 1:
			p.role = named[0].role
		}
	}
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
	fmt.Fprintln(w, source.Printable(p.role))
	return difference.WriteText(w)
}

// parts reads one argument: a directory of tables, a source, a table or a pack.
func (d *diff) parts(ctx context.Context, r *reporter, name string) ([]part, error) {
	switch kind, err := source.Detect(name); {
	case err == nil && kind == source.Dir:
		if found := storeParts(r, name); len(found) > 0 {
			return found, nil
		}
	case err != nil:
		tables, tableErr := readTables(name)
		if errors.Is(tableErr, cachefmt.ErrMagic) || errors.Is(tableErr, fs.ErrNotExist) {
			r.fail(err) // neither: what the source lacks says more
		} else if tableErr != nil {
			r.fail(fmt.Errorf("%s: %w", name, tableErr))
		}
		return tableParts(name, tables), nil
	}
	var found []part
	err := each(ctx, &d.imageFlags, r, []string{name}, buildOf, func(m *image, b *coverage.Build) {
		if m.err != nil {
			r.refuse(m)
			return
		}
		if len(b.Svcs) > 0 || m.kind == source.File {
			found = append(found, part{m.name(), b.Role(), keyText(b.BuildID), b.Counts()})
		}
	})
	return found, err
}

// keyText is a build's ID as its table's key prints it.
func keyText(id string) string {
	if strings.Contains(id, ":") {
		return id
	}
	return "build-id:" + id
}

// storeParts reads a directory of tables.
func storeParts(r *reporter, name string) []part {
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
	var found []part
	for t, err := range s.Tables {
		if err != nil {
			r.fail(fmt.Errorf("%s: %w", name, err))
			continue
		}
		p := part{name + ": " + store.TablePath(t.Key), "", t.Key.String(), countsOfTable(t)}
		if e, ok := manifest.Find(t.Key); ok {
			p.role = (&coverage.Build{Image: path.Base(e.Image), Libc: e.Libc}).Role()
			if e.SvcWords == 0 {
				continue
			}
		}
		found = append(found, p)
	}
	return found
}

// tableParts is the tables of one file.
func tableParts(name string, tables []*cachefmt.Table) (found []part) {
	for _, t := range tables {
		found = append(found, part{name + ": " + t.Key.String(), "", t.Key.String(), countsOfTable(t)})
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
