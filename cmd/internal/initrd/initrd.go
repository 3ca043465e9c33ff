// Package initrd writes a cpio archive of the "newc" kind, from which a kernel
// fills its first file system.
//
// It promises an archive that depends on nothing but the calls: no times, no
// owners but root, folders before what lies in them. It refuses names that are
// not clean and relative, since the kernel would unpack them somewhere else.
package initrd

import (
	"fmt"
	"io"
	"io/fs"
	"path"
)

// File types of a mode.
const (
	typeDir  = 0o040000
	typeChar = 0o020000
	typeFile = 0o100000
	typeLink = 0o120000
)

// trailer is the name of the entry that ends an archive.
const trailer = "TRAILER!!!"

// A Writer writes one archive. The first error sticks and Close returns it.
type Writer struct {
	w    io.Writer
	ino  int
	done map[string]bool // folders
	err  error
}

// NewWriter starts an archive.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, done: map[string]bool{".": true}} }

// Dir adds a folder, once.
func (w *Writer) Dir(name string, perm fs.FileMode) {
	if !w.done[name] {
		w.add(entry{name: name, mode: typeDir | perm.Perm()})
		w.done[name] = true
	}
}

// File adds a regular file.
func (w *Writer) File(name string, perm fs.FileMode, data []byte) {
	w.add(entry{name: name, mode: typeFile | perm.Perm(), data: data})
}

// Link adds a symbolic link.
func (w *Writer) Link(name, target string) {
	w.add(entry{name: name, mode: typeLink | 0o777, data: []byte(target)})
}

// Char adds a character device.
func (w *Writer) Char(name string, perm fs.FileMode, major, minor int) {
	w.add(entry{name: name, mode: typeChar | perm.Perm(), major: major, minor: minor})
}

// Close ends the archive.
func (w *Writer) Close() error {
	w.write(entry{name: trailer})
	return w.err
}

type entry struct {
	name         string
	mode         fs.FileMode
	data         []byte
	major, minor int
}

// add writes an entry behind the folders that it lies in.
func (w *Writer) add(e entry) {
	if w.err == nil && (!fs.ValidPath(e.name) || e.name == "." || e.name == trailer) {
		w.err = fmt.Errorf("initrd: name %q refused", e.name)
	}
	if w.err != nil {
		return
	}
	if dir := path.Dir(e.name); dir != "." {
		w.Dir(dir, 0o755)
	}
	w.write(e)
}

// write appends one entry: 110 bytes of hexadecimal fields, the name with its
// zero, the data; name and data each padded to four bytes.
func (w *Writer) write(e entry) {
	if w.err != nil {
		return
	}
	w.ino++
	head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		w.ino, uint32(e.mode), 0, 0, 1, 0, len(e.data), 0, 0, e.major, e.minor, len(e.name)+1, 0, e.name)
	for _, part := range [][]byte{[]byte(head), pad(len(head)), e.data, pad(len(e.data))} {
		if _, err := w.w.Write(part); err != nil {
			w.err = fmt.Errorf("initrd: %s: %w", e.name, err)
			return
		}
	}
}

// pad returns what is missing to a multiple of four.
func pad(n int) []byte { return make([]byte, -n&3) }
