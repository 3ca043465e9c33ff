// svcrelay build: tables for every image of the sources.

package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/cmd/internal/store"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
	"svcrelay/scanner/source"
)

type build struct {
	imageFlags
	reporter
	dir  string
	pack string
	json bool

	built  map[cachefmt.Key]first
	packed []*cachefmt.Table // for --pack
	rows   []row
}

// A row is one table that was built, and from what.
type row struct {
	Source string `json:"source"`
	store.Entry
	name string
}

// A first is the image that a key was met in first: a build-ID is a claim, and
// two images may make it.
type first struct{ image, sum string }

func buildCommand() *cobra.Command {
	b := &build{built: map[cachefmt.Key]first{}}
	cmd := &cobra.Command{
		Use:   "build SOURCE...",
		Short: "make the site tables of the images in SOURCE",
		Long: `Make the site table of every C library and dynamic linker in each SOURCE, and
write it to DIR/tables by build-ID, with DIR/manifest.json beside.

For a rootfs directory DIR is ROOTFS/` + store.Dir + ` unless -o says otherwise.
Running it again, or twice at once, changes nothing that is right already.

With --json, one object whose "tables" lists what was built: source, table, key,
image, libc, version, svc_words, sites and sha256 of each.`,
		Example: "  svcrelay build /path/to/rootfs\n  svcrelay build rootfs.tar.zst -o out --image 'libpthread*'",
		Args:    needs(1, "a SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b.reporter = newReporter(cmd)
			return b.run(cmd.Context(), cmd.OutOrStdout(), args)
		},
	}
	b.register(cmd)
	cmd.Flags().StringVarP(&b.dir, "output", "o", "", "write to `DIR`")
	cmd.Flags().StringVar(&b.pack, "pack", "", "write all tables also as one pack, to `FILE`")
	cmd.Flags().BoolVar(&b.json, "json", false, "print one JSON object with all tables")
	return cmd
}

func (b *build) run(ctx context.Context, out io.Writer, sources []string) error {
	if err := b.check(); err != nil {
		return err
	}
	groups, err := b.group(sources)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := b.into(ctx, g); err != nil {
			return err
		}
	}
	if len(b.rows) == 0 && !b.failed {
		b.fail(errors.New("no image that a table could be made for"))
	}
	if err := b.writePack(); err != nil {
		return err
	}
	b.progress.clear()
	if err := b.print(out, len(sources) > 1); err != nil {
		return err
	}
	return b.done()
}

// A group is the sources that share one store.
type group struct {
	open    func() (*store.Store, error)
	sources []string
}

// group puts all sources into one store, or each rootfs into its own.
func (b *build) group(sources []string) ([]group, error) {
	if b.dir != "" {
		return []group{{func() (*store.Store, error) { return store.Create(b.dir) }, sources}}, nil
	}
	var groups []group
	for _, name := range sources {
		if fi, err := os.Stat(name); err == nil && !fi.IsDir() {
			return nil, usagef("%s is no rootfs directory: -o DIR must say where its tables go", source.Printable(name))
		}
		groups = append(groups, group{func() (*store.Store, error) { return store.CreateIn(name) }, []string{name}})
	}
	return groups, nil
}

// into builds one group. The store is made when its first table is there, so
// that a source without images leaves nothing behind.
func (b *build) into(ctx context.Context, g group) error {
	w := &writer{build: b, open: g.open, seen: map[cachefmt.Key]bool{}}
	defer w.close()
	err := each(ctx, &b.imageFlags, &b.reporter, g.sources, makeTable, w.put)
	if w.store != nil {
		lost, recordErr := w.store.Record(ctx, scanner.RecogniserVersion, w.entries)
		if lost != nil {
			w.note(fmt.Errorf("%s: %w; it is made anew, with the tables of this run", w.store.Name(), lost))
		}
		if err == nil {
			err = recordErr
		}
	}
	return err
}

// A writer puts the tables of one group into their store.
type writer struct {
	*build
	open    func() (*store.Store, error)
	store   *store.Store
	entries []store.Entry
	seen    map[cachefmt.Key]bool // written here by this run
	broken  bool                  // the store cannot be used
}

func (w *writer) close() {
	if w.store != nil {
		w.store.Close()
	}
}

// A made is the table of one image and its line in the manifest.
type made struct {
	table *cachefmt.Table
	bytes []byte
	entry store.Entry
}

// makeTable runs on the scanners: it turns the sites of an image into its table.
func makeTable(m image, img *elfimg.Image, scan *scanner.Result) (made, error) {
	t, err := tableOf(img, scan)
	if err != nil {
		return made{}, err
	}
	b, err := t.Encode()
	if err != nil {
		return made{}, err
	}
	sum := sha256.Sum256(b)
	e := store.Entry{
		Table: store.TablePath(t.Key), Key: t.Key.String(), Image: m.path, SvcWords: svcWords(scan.Sites),
		Sites: len(t.Entries), SHA256: hex.EncodeToString(sum[:]),
	}
	e.Libc, e.Version = img.Libc()
	return made{t, b, e}, nil
}

func svcWords(sites []scanner.Site) (n int) {
	for _, s := range sites {
		if s.Kind != scanner.Call {
			n++
		}
	}
	return n
}

// put writes one table, in the order of the sources.
func (w *writer) put(m *image, t made) {
	if m.err != nil {
		w.refuse(m)
		return
	}
	if !w.ready() {
		return
	}
	if err := w.write(m, t); err != nil {
		w.fail(fmt.Errorf("%s: %w", m.name(), err))
	}
}

// ready reports whether the store can be written, and tells once if not.
func (w *writer) ready() bool {
	if w.store != nil || w.broken {
		return !w.broken
	}
	var err error
	if w.store, err = w.open(); err != nil {
		w.broken = true
		w.fail(err)
		return false
	}
	w.store.Sweep()
	return true
}

func (w *writer) write(from *image, m made) error {
	key := m.table.Key
	have, ok := w.built[key]
	switch {
	case ok && have.sum != m.entry.SHA256:
		return fmt.Errorf("%v is also that of %s, whose code is another", key, have.image)
	case !ok:
		w.built[key] = first{m.entry.Image, m.entry.SHA256}
		if w.pack != "" {
			w.packed = append(w.packed, m.table)
		}
	case w.seen[key]:
		return nil
	}
	w.seen[key] = true
	if _, err := w.store.Put(key, m.bytes); err != nil {
		w.broken = true // the next one will fare no better
		return err
	}
	w.entries = append(w.entries, m.entry)
	w.rows = append(w.rows, row{from.source, m.entry, from.name()})
	return nil
}

func (b *build) writePack() error {
	if len(b.packed) == 0 {
		return nil
	}
	return store.WriteFile(b.pack, func(w io.Writer) error { return cachefmt.WritePack(w, b.packed) })
}

// print lists the tables; with several sources, each image with its own.
func (b *build) print(out io.Writer, several bool) error {
	if b.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Tables []row `json:"tables"`
		}{append([]row{}, b.rows...)})
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range b.rows {
		name := source.Printable(r.Image)
		if several {
			name = r.name
		}
		fmt.Fprintf(w, "%s\t%s\t%s of %s\t%s\n", name, libcText(r.Libc, r.Version),
			counted(r.Sites, "site"), counted(r.SvcWords, "svc word"), r.Table)
	}
	return w.Flush()
}

func libcText(name, version string) string {
	if name == "" {
		return "-"
	}
	return source.Printable(name + " " + version)
}
