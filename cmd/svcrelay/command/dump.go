// svcrelay dump: what is in a table or in a pack of them.

package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/runtime/sysno"
)

func dumpCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dump TABLE...",
		Short: "print the entries of tables and packs",
		Long: `Print the entries of each TABLE, which is a table or a pack of them.

With --json, one object per table, each on a line: key, recogniser, window, and
entries with svc, hook, word, kind, nr, name, distance, flags, live, start and end.`,
		Example: "  svcrelay dump usr/lib/svcrelay/tables/40/5d95c16d01f311a64e09de408605e6410de79c.svct",
		Args:    needs(1, "a TABLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := newReporter(cmd)
			for i, name := range args {
				tables, err := readTables(name)
				if err != nil {
					r.fail(fmt.Errorf("%s: %w", name, err))
				}
				for k, t := range tables {
					if i+k > 0 && !asJSON {
						fmt.Fprintln(cmd.OutOrStdout())
					}
					if err := dumpTable(cmd.OutOrStdout(), t, asJSON); err != nil {
						return err
					}
				}
			}
			return r.done()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per table")
	return cmd
}

// maxTableFile bounds a file that is read as a table or a pack.
const maxTableFile = 64 << 20

// zstdMagic begins a pack, which is one zstd stream; no table begins so.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// readTables reads a file that holds a table or a pack. What could be read is
// returned beside an error.
func readTables(name string) ([]*cachefmt.Table, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, unwrapPath(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxTableFile+1))
	if err != nil {
		return nil, unwrapPath(err)
	}
	if len(b) > maxTableFile {
		return nil, fmt.Errorf("more than 0x%x bytes, which is no table or pack", maxTableFile)
	}
	if bytes.HasPrefix(b, zstdMagic) {
		return readPack(bytes.NewReader(b))
	}
	t, err := cachefmt.Decode(b)
	if err != nil {
		return nil, err
	}
	return []*cachefmt.Table{t}, nil
}

// openRegular opens a regular file and nothing else, without waiting.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: name, Err: cmp.Or(err, errors.New("not a regular file"))}
	}
	return f, nil
}

func readPack(in io.Reader) (tables []*cachefmt.Table, err error) {
	p, err := cachefmt.NewPackReader(in)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	for t, err := range p.All() {
		if err != nil {
			return tables, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// unwrapPath drops the file name from an error whose printer adds it.
func unwrapPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

func dumpTable(w io.Writer, t *cachefmt.Table, asJSON bool) error {
	if !asJSON {
		return t.Dump(w)
	}
	return json.NewEncoder(w).Encode(tableJSONOf(t))
}

type tableJSON struct {
	Key        string      `json:"key"`
	Recogniser int         `json:"recogniser"`
	Window     int         `json:"window"`
	Entries    []entryJSON `json:"entries"`
}

type entryJSON struct {
	Svc      string   `json:"svc"`
	Hook     string   `json:"hook"`
	Word     string   `json:"word"`
	Kind     string   `json:"kind"`
	Nr       *int     `json:"nr"`
	Name     *string  `json:"name"`
	Distance int      `json:"distance"`
	Flags    []string `json:"flags"`
	Live     string   `json:"live"`
	Start    string   `json:"start"`
	End      string   `json:"end"`
}

func tableJSONOf(t *cachefmt.Table) tableJSON {
	j := tableJSON{Key: t.Key.String(), Recogniser: int(t.Recogniser), Window: t.Window, Entries: []entryJSON{}}
	for _, e := range t.Entries {
		entry := entryJSON{
			Svc: hexText(uint64(e.Svc)), Hook: hexText(uint64(e.Hook)), Word: fmt.Sprintf("0x%08x", uint32(e.Word)),
			Kind: e.Kind.String(), Distance: int(e.Distance), Flags: e.Flags.Slugs(),
			Live: fmt.Sprintf("0x%08x", uint32(e.Live)), Start: hexText(uint64(e.Start)), End: hexText(uint64(e.End)),
		}
		if e.Number != cachefmt.NoNumber {
			entry.Nr, entry.Name = new(int(e.Number)), new(sysno.Name(int(e.Number)))
		}
		j.Entries = append(j.Entries, entry)
	}
	return j
}
