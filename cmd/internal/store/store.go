// Package store keeps tables in a directory, one file per key:
//
//	DIR/tables/40/5d95c16d….svct    a table, named by its build-ID
//	DIR/tables/exec/….svct          one named by the hash of its code
//	DIR/manifest.json               what images they were made from
//
// It promises that a file under one of these names is whole at any moment, kill
// or not, however many builds write at once; that writing what is there already
// changes nothing; and that no path, link or not, leads it out of the directory.
//
// The manifest is a convenience of people and scripts. Whoever applies a table
// asks for it by key and trusts only what it validates.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"svcrelay/cachefmt"
)

// Dir is where a rootfs keeps its tables.
const Dir = "usr/lib/svcrelay"

// A Store is an open directory of tables.
type Store struct{ root *os.Root }

// Open opens the directory dir, which must exist.
func Open(dir string) (*Store, error) {
	if fi, err := os.Stat(dir); err == nil && !fi.IsDir() { // a pipe would wait
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root}, nil
}

// Create opens the directory dir, making it and its parents as needed.
func Create(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return Open(dir)
}

// CreateIn opens Dir below a rootfs, making it as needed. Links in the rootfs
// that lead out of it are refused.
func CreateIn(rootfs string) (*Store, error) { return in(rootfs, (*os.Root).MkdirAll) }

// OpenIn opens Dir below a rootfs. The error is fs.ErrNotExist when there is none.
func OpenIn(rootfs string) (*Store, error) {
	return in(rootfs, func(*os.Root, string, fs.FileMode) error { return nil })
}

func in(rootfs string, prepare func(*os.Root, string, fs.FileMode) error) (*Store, error) {
	outer, err := os.OpenRoot(rootfs)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	if err := prepare(outer, Dir, 0o755); err != nil {
		return nil, fmt.Errorf("%s: %w", rootfs, err)
	}
	if fi, err := outer.Stat(Dir); err == nil && !fi.IsDir() {
		return nil, fmt.Errorf("%s: %s: not a directory", rootfs, Dir)
	}
	root, err := outer.OpenRoot(Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rootfs, err)
	}
	return &Store{root}, nil
}

// Name is the directory as it was given, or below a rootfs as it was given.
func (s *Store) Name() string { return s.root.Name() }

// Close releases the directory.
func (s *Store) Close() error { return s.root.Close() }

// TablePath is where the table of a key lies, below the store's directory.
func TablePath(k cachefmt.Key) string { return path.Join("tables", k.Path()) }

// Put writes one table, given in its encoded form, and reports whether anything
// had to be written.
func (s *Store) Put(k cachefmt.Key, table []byte) (written bool, err error) {
	name := TablePath(k)
	if have, err := s.read(name, int64(len(table))); err == nil && string(have) == string(table) {
		return false, nil
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, err
	}
	return true, s.write(name, table)
}

// Get returns the table of a key, decoded and under its right name; its error is
// fs.ErrNotExist when there is none.
func (s *Store) Get(k cachefmt.Key) (*cachefmt.Table, error) { return s.load(TablePath(k)) }

func (s *Store) load(name string) (*cachefmt.Table, error) {
	b, err := s.read(name, cachefmt.MaxSize)
	if err != nil {
		return nil, err
	}
	t, err := cachefmt.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if want := TablePath(t.Key); want != name {
		return nil, fmt.Errorf("%s: holds the table of %v", name, t.Key)
	}
	return t, nil
}

// read returns a regular file of at most limit bytes.
func (s *Store) read(name string, limit int64) ([]byte, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s: not a regular file", name), err)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: bigger than 0x%x bytes", name, limit)
	}
	return b, err
}

// Tables yields every table of the store, or the error of one that is unusable.
func (s *Store) Tables(yield func(*cachefmt.Table, error) bool) {
	for _, dir := range s.list("tables") {
		for _, name := range s.list(dir) {
			if path.Ext(name) == ".svct" && !yield(s.load(name)) {
				return
			}
		}
	}
}

// list is the sorted paths of what a directory of the store holds: nothing, if
// it is none. A pipe in its place would wait to be opened the ordinary way.
func (s *Store) list(dir string) (paths []string) {
	f, err := s.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	slices.Sort(names)
	for _, name := range names {
		paths = append(paths, path.Join(dir, name))
	}
	return paths
}
