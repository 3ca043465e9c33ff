// From packages to a corpus, one suite at a time. What is on disk and right is
// kept; the network is asked only for a suite of which a package is missing or
// wrong, and then from its signature down.

package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"svcrelay/cmd/internal/debian"
)

// A builder makes the corpus under dir.
type builder struct {
	dir    string
	update bool // ask the archive even when all is there
	open   func(suite string) (*debian.Suite, error)
	say    func(what string)
	rows   []row
}

func (b *builder) file(r row) string { return filepath.Join(b.dir, filepath.FromSlash(r.path)) }

func (b *builder) indexFile() string { return filepath.Join(b.dir, "index.tsv") }

// right reports whether the row's file is on disk as the row says.
func (b *builder) right(r row) bool { return debian.Matches(b.file(r), r.sum) }

// of returns the known rows of a suite and kind.
func (b *builder) of(suite string, kinds ...string) []row {
	var got []row
	for _, r := range b.rows {
		if r.suite == suite && slices.Contains(kinds, r.kind) {
			got = append(got, r)
		}
	}
	return got
}

// replace forgets the rows of a suite and kinds and takes others.
func (b *builder) replace(suite string, rows []row, kinds ...string) {
	b.rows = slices.DeleteFunc(b.rows, func(r row) bool {
		return r.suite == suite && slices.Contains(kinds, r.kind)
	})
	b.rows = append(b.rows, rows...)
}

// build brings one suite up to date and records it in the index.
func (b *builder) build(rel release) error {
	debs := b.of(rel.suite, kindDeb)
	changed := b.update || !b.haveDebs(debs)
	if changed {
		var err error
		if debs, err = b.fetchDebs(rel); err != nil {
			return err
		}
		b.replace(rel.suite, debs, kindDeb)
	}
	out := b.of(rel.suite, kindImage, kindDebug)
	if changed || len(out) == 0 || !b.allRight(out) {
		out, err := b.unpack(rel.suite, debs)
		if err != nil {
			return err
		}
		b.replace(rel.suite, out, kindImage, kindDebug)
	}
	return writeIndex(b.indexFile(), b.rows)
}

// haveDebs reports whether every wanted package is known and on disk.
func (b *builder) haveDebs(debs []row) bool {
	for _, name := range packages {
		if !slices.ContainsFunc(debs, func(r row) bool { return r.pkg == name }) {
			return false
		}
	}
	return b.allRight(debs)
}

func (b *builder) allRight(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return !b.right(r) })
}

// fetchDebs asks the archive for the suite's packages.
func (b *builder) fetchDebs(rel release) ([]row, error) {
	suite, err := b.open(rel.suite)
	if err != nil {
		return nil, err
	}
	found, err := find(suite.Packages(arch), packages)
	if err != nil {
		return nil, fmt.Errorf("suite %s: %w", rel.suite, err)
	}
	var rows []row
	for _, p := range found {
		if p.Name == "libc6" && !isGlibc(p.Version, rel.glibc) {
			b.say(fmt.Sprintf("note: %s has moved on from glibc %s to %s", rel.suite, rel.glibc, p.Version))
		}
		r := row{path: path.Join("debs", rel.suite, p.LocalName()), kind: kindDeb,
			suite: rel.suite, pkg: p.Name, version: p.Version, sum: p.Sum}
		if err := suite.Fetch(p, b.file(r)); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// opener opens suites where the machine's apt configuration says, which it reads
// when the first suite is asked for.
func opener(lists string, say func(string)) func(string) (*debian.Suite, error) {
	machine := sync.OnceValues(debian.ReadMachine)
	return func(suite string) (*debian.Suite, error) {
		m, err := machine()
		if err != nil {
			return nil, err
		}
		archive, err := m.Archive(suite)
		if err != nil {
			return nil, err
		}
		return debian.Open(debian.NewFetcher(m.Config, say), archive, lists)
	}
}
