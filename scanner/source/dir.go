// A rootfs directory, which may belong to an enemy who changes it meanwhile.
//
// os.Root keeps every open inside the directory, but it refuses absolute
// symlinks, which a rootfs is full of; and it would wait for ever on a pipe
// called libc.so.6. So directories are walked without following any link,
// links are resolved by this package, and a file is opened without blocking and
// then compared with what was seen before.

package source

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

type dirWalk struct {
	*collector
	root  *os.Root
	links []string // wanted paths that are symlinks
}

func walkDir(c *collector, name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return c.fatal("", 0, err)
	}
	defer root.Close()
	w := &dirWalk{collector: c, root: root}
	if err := w.dir("", 0); err != nil {
		return err
	}
	for _, p := range w.links {
		if err := w.link(p, true); err != nil {
			return err
		}
	}
	for _, p := range c.match.paths() {
		if err := w.link(p, false); err != nil {
			return err
		}
	}
	return nil
}

// inLibraries reports whether a directory is one of the library folders, below
// one, or on the way to one.
func inLibraries(p string) bool {
	p = strings.TrimPrefix(p+"/", "usr/")
	return p == "" || strings.HasPrefix(p, "lib/") || strings.HasPrefix(p, "lib64/")
}

// isVirtual reports whether a directory shows the kernel's things, not files.
func isVirtual(p string) bool { return p == "proc" || p == "sys" || p == "dev" }

func (w *dirWalk) dir(p string, depth int) error {
	if depth > w.lim.depth {
		return w.problem(p, 0, refuse(TooDeep, "%d levels", depth))
	}
	entries, err := w.list(p)
	if err != nil {
		if p == "" || reasonOf(err) == TooManyNames {
			return w.fatal(p, 0, err)
		}
		return w.problem(p, 0, err)
	}
	for _, e := range entries {
		if err := w.entry(path.Join(p, e.Name()), e.Type(), depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *dirWalk) entry(p string, mode fs.FileMode, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	switch {
	case mode.IsDir() && (isVirtual(p) || w.opt.Libraries && !inLibraries(p)):
		return nil
	case mode.IsDir():
		return w.dir(p, depth+1)
	case mode.IsRegular():
		return w.file(p, p, w.match.interest(p))
	case mode&fs.ModeSymlink != 0:
		w.links = append(w.links, p)
		return nil
	case w.match.interest(p) == named:
		return w.problem(p, 0, refuse(NotRegular, "it is %s", modeName(mode)))
	}
	return nil
}

// list is the sorted part of a directory that matters: a directory of a million
// other names costs no memory.
func (w *dirWalk) list(p string) ([]fs.DirEntry, error) {
	f, err := w.root.OpenFile(cmp.Or(p, "."), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var kept []fs.DirEntry
	for {
		batch, err := f.ReadDir(512)
		for _, e := range batch {
			if !w.matters(path.Join(p, e.Name()), e.Type()) {
				continue
			}
			kept = append(kept, e)
			w.seen++
			if err := w.remember(len(p) + len(e.Name())); err != nil {
				return nil, err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(kept, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return kept, nil
}

func (w *dirWalk) matters(p string, mode fs.FileMode) bool {
	if mode.IsRegular() {
		return w.match.interest(p) != unwanted
	}
	return mode.IsDir() || w.match.interest(p) != unwanted
}

// link looks at the file that a wanted path leads to. A path that was seen to
// exist must lead to one.
func (w *dirWalk) link(p string, seen bool) error {
	want := w.match.interest(p)
	target, err := w.resolve(p, w.lookup)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if !seen || want != named {
			return nil
		}
		err = refuse(Dangling, "%s", detail(err))
	}
	if err != nil {
		return w.problem(p, 0, err)
	}
	return w.file(p, target, want)
}

func (w *dirWalk) lookup(name []byte) (*link, error) {
	p := string(name)
	fi, err := w.root.Lstat(p)
	if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		return nil, err
	}
	target, err := w.root.Readlink(p)
	return &link{target: target}, err
}

// file takes the regular file p, reached as name.
func (w *dirWalk) file(name, p string, want interest) error {
	if fresh, err := w.visit(p); err != nil || !fresh {
		return err
	}
	data, err := w.load(p)
	switch {
	case err == nil:
		return w.take(p, data)
	case want != named && (reasonOf(err) == NotELF || reasonOf(err) == NotRegular):
		return w.ctx.Err()
	}
	return w.problem(name, 0, err)
}

func (w *dirWalk) load(p string) ([]byte, error) {
	f, size, err := openRegular(w.root, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return w.read(f, size)
}

// openRegular opens a regular file and nothing else, without waiting.
func openRegular(root *os.Root, p string) (*os.File, int64, error) {
	seen, err := root.Lstat(cmp.Or(p, "."))
	if err != nil {
		return nil, 0, err
	}
	if !seen.Mode().IsRegular() {
		return nil, 0, refuse(NotRegular, "it is %s", modeName(seen.Mode()))
	}
	f, err := root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	size, err := sameRegular(f, seen)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, size, nil
}

// sameRegular is the size of f, which must be the regular file seen before.
func sameRegular(f *os.File, seen fs.FileInfo) (int64, error) {
	now, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !now.Mode().IsRegular() || !os.SameFile(seen, now) {
		return 0, refuse(NotRegular, "it changed while it was opened")
	}
	return now.Size(), nil
}
