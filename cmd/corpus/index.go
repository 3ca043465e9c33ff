// index.tsv: every file of the corpus with its hash. It is the memory that lets
// a second run trust the files without asking anybody, and the list that tests
// read instead of guessing names.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"svcrelay/cmd/internal/debian"
)

// Kinds of row.
const (
	kindDeb   = "deb"
	kindImage = "image"
	kindDebug = "debug"
)

const header = "path\tkind\tsuite\tpackage\tversion\tsize\tsha256\tbuild-id"

// A row is one file of the corpus.
type row struct {
	path    string // below the corpus folder, slash-separated
	kind    string
	suite   string
	pkg     string // the package it is, or came out of
	version string
	sum     debian.Sum
	buildID string // "" when it has none
}

func (r row) String() string {
	id := cmp.Or(r.buildID, "-")
	return strings.Join([]string{r.path, r.kind, r.suite, r.pkg, r.version,
		strconv.FormatInt(r.sum.Size, 10), r.sum.SHA256, id}, "\t")
}

func parseRow(line string) (row, error) {
	w := strings.Split(line, "\t")
	if len(w) != strings.Count(header, "\t")+1 {
		return row{}, fmt.Errorf("%d columns", len(w))
	}
	size, err := strconv.ParseInt(w[5], 10, 64)
	if err != nil {
		return row{}, fmt.Errorf("size: %w", err)
	}
	if !filepath.IsLocal(w[0]) {
		return row{}, fmt.Errorf("path %q leads outside", w[0])
	}
	r := row{path: w[0], kind: w[1], suite: w[2], pkg: w[3], version: w[4],
		sum: debian.Sum{Size: size, SHA256: w[6]}, buildID: w[7]}
	if r.buildID == "-" {
		r.buildID = ""
	}
	return r, nil
}

// readIndex returns the rows of an index file, none when there is no file or
// it is not one that this program wrote: the corpus can always be fetched anew.
func readIndex(name string) ([]row, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != header {
		return nil, nil
	}
	var rows []row
	for _, line := range lines[1:] {
		r, err := parseRow(line)
		if err != nil {
			return nil, nil
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func formatIndex(rows []row) []byte {
	// Two suites may share one debug file.
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.suite, b.suite))
	})
	var buf bytes.Buffer
	fmt.Fprintln(&buf, header)
	for _, r := range rows {
		fmt.Fprintln(&buf, r)
	}
	return buf.Bytes()
}

// writeIndex leaves an index that already says the same alone.
func writeIndex(name string, rows []row) error {
	text := formatIndex(rows)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return debian.WriteFile(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
