// The manifest: which images the tables of a store were made from.

package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"svcrelay/cachefmt"
)

// A Manifest describes a store. Its JSON form is stable.
type Manifest struct {
	Format     int     `json:"format"`     // of this file
	Recogniser int     `json:"recogniser"` // the scanner's version of the last build
	Tables     []Entry `json:"tables"`     // sorted by file name
}

// An Entry describes one table.
type Entry struct {
	Table    string `json:"table"`     // its file, below the store
	Key      string `json:"key"`       // build-id:… or sha256:…
	Image    string `json:"image"`     // guest path it was made from
	Libc     string `json:"libc"`      // glibc, musl or empty
	Version  string `json:"version"`   // of that C library
	SvcWords int    `json:"svc_words"` // svc #0 words in the image
	Sites    int    `json:"sites"`     // entries of the table
	SHA256   string `json:"sha256"`    // of the table's file
}

const (
	manifestName   = "manifest.json"
	manifestFormat = 1
	maxManifest    = 64 << 20
)

// ReadManifest returns the manifest; an empty one when there is none.
func (s *Store) ReadManifest() (Manifest, error) {
	m := Manifest{Format: manifestFormat}
	b, err := s.read(manifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", manifestName, err)
	}
	if m.Format != manifestFormat {
		return Manifest{}, fmt.Errorf("%s: format %d, this version knows %d", manifestName, m.Format, manifestFormat)
	}
	return m, nil
}

// Record adds entries to the manifest, in place of earlier ones of the same
// table, and drops those whose table is gone. Builds that run side by side take
// turns, for as long as ctx lasts. An unreadable manifest is made anew; lost says
// then why it could not be read.
func (s *Store) Record(ctx context.Context, recogniser int, entries []Entry) (lost, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	m, lost := s.ReadManifest()
	if lost != nil {
		m = Manifest{Format: manifestFormat}
	}
	m.Recogniser = recogniser
	m.Tables = s.merge(m.Tables, entries)
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return lost, err
	}
	b = append(b, '\n')
	if have, err := s.read(manifestName, maxManifest); err == nil && string(have) == string(b) {
		return lost, nil
	}
	return lost, s.write(manifestName, b)
}

func (s *Store) merge(old, entries []Entry) []Entry {
	byTable := map[string]Entry{}
	for _, e := range append(old, entries...) {
		if _, err := s.root.Stat(e.Table); err == nil {
			byTable[e.Table] = e
		}
	}
	merged := make([]Entry, 0, len(byTable))
	for _, e := range byTable {
		merged = append(merged, e)
	}
	slices.SortFunc(merged, func(a, b Entry) int { return cmp.Compare(a.Table, b.Table) })
	return merged
}

// lock takes the store's lock, which is that of its directory: no file is needed.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	d, err := s.root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := lockFile(ctx, d); err != nil {
		d.Close()
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	return func() { d.Close() }, nil
}

// lockFile waits for a file's lock. A flock that waits would hear of no context.
func lockFile(ctx context.Context, f *os.File) error {
	const every = 50 * time.Millisecond
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

// Find returns the entry of the table of k.
func (m Manifest) Find(k cachefmt.Key) (Entry, bool) {
	i := slices.IndexFunc(m.Tables, func(e Entry) bool { return e.Table == TablePath(k) })
	if i < 0 {
		return Entry{}, false
	}
	return m.Tables[i], true
}
