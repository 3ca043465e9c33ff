// Trees and paths out of a seed: a root, folders to bind into it, and paths that
// meet them often.
package guestfs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An area is one tree on the host: the root or something to bind.
type area struct {
	name  string
	dirs  []string // below it, "" first
	files []string
	links []string
}

func (a *area) all() []string { return slices.Concat(a.dirs, a.files, a.links) }

// A forest is what one seed makes.
type forest struct {
	rnd   *rand.Rand
	areas []*area
	steps []func(base string) error // what makes it, for any folder
	binds []plannedBind
}

type plannedBind struct {
	area, sub string // host side
	guest     string
	covers    string // the place on the host that it lies over
	dir       bool
	in        *area
}

var longName = strings.Repeat("L", 255)

func (f *forest) name() string {
	names := []string{"a", "b", "c", "d", "e", "f", "...", ".h", "x y", "a", "b", "c"}
	if f.rnd.IntN(40) == 0 {
		return longName
	}
	return names[f.rnd.IntN(len(names))]
}

func pick[T any](r *rand.Rand, s []T) T { return s[r.IntN(len(s))] }

func newForest(seed uint64, binds int) *forest {
	f := &forest{rnd: rand.New(rand.NewPCG(seed, 3))}
	for i := range 4 {
		a := &area{name: []string{"root", "one", "two", "three"}[i], dirs: []string{""}}
		f.areas = append(f.areas, a)
		f.do(func(base string) error { return os.Mkdir(base+"/"+a.name, 0o755) })
		f.grow(a)
	}
	f.chain()
	for range binds {
		f.bind()
	}
	f.link()
	f.modes()
	return f
}

func (f *forest) do(step func(base string) error) { f.steps = append(f.steps, step) }

// make builds the forest in a folder.
func (f *forest) make(t *testing.T, base string) {
	t.Helper()
	for _, step := range f.steps {
		if err := step(base); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *forest) grow(a *area) {
	for range 6 + f.rnd.IntN(20) {
		p := pick(f.rnd, a.dirs) + "/" + f.name()
		if strings.Count(p, "/") > 5 || slices.Contains(a.all(), p) {
			continue
		}
		if f.rnd.IntN(3) > 0 {
			a.dirs = append(a.dirs, p)
			f.do(func(base string) error { return os.Mkdir(base+"/"+a.name+p, 0o755) })
			continue
		}
		a.files = append(a.files, p)
		f.do(func(base string) error { return os.WriteFile(base+"/"+a.name+p, []byte(p), 0o644) })
	}
}

// chain makes more links in a row than may be followed.
func (f *forest) chain() {
	a := f.areas[0]
	for i := range 42 {
		name, text := fmt.Sprintf("/l%d", i), fmt.Sprintf("l%d", i-1)
		if i == 0 {
			text = "."
		}
		a.links = append(a.links, name)
		f.do(func(base string) error { return os.Symlink(text, base+"/"+a.name+name) })
	}
}

// bind chooses what a mount could do as well: not over what is bound already, and
// at a place that is not hidden.
func (f *forest) bind() {
	host := pick(f.rnd, f.areas)
	at, prefix := f.areas[0], ""
	if len(f.binds) > 0 && f.rnd.IntN(2) == 0 {
		b := pick(f.rnd, f.binds)
		if b.dir {
			at, prefix = b.in, b.guest
			if b.sub != "" {
				return
			}
		}
	}
	b := plannedBind{area: host.name, in: host, dir: f.rnd.IntN(4) > 0 || len(host.files) == 0}
	targets := at.dirs[1:]
	if b.dir {
		b.sub = pick(f.rnd, host.dirs)
	} else {
		b.sub, targets = pick(f.rnd, host.files), at.files
	}
	if len(targets) == 0 {
		return
	}
	target := pick(f.rnd, targets)
	b.guest, b.covers = prefix+target, at.name+target
	for _, o := range f.binds {
		inside := o.guest == prefix || !within(b.guest, o.guest)
		if within(o.guest, b.guest) || !inside {
			return
		}
	}
	f.binds = append(f.binds, b)
}

// link puts symlinks everywhere, after the binds are known: they lead to guest
// paths.
func (f *forest) link() {
	for _, a := range f.areas {
		for range 4 + f.rnd.IntN(12) {
			p := pick(f.rnd, a.dirs) + "/" + f.name()
			if slices.Contains(a.all(), p) {
				continue
			}
			text := f.linkText()
			a.links = append(a.links, p)
			f.do(func(base string) error { return os.Symlink(text, base+"/"+a.name+p) })
		}
	}
}

// modes takes search permission away; root does not mind, another user does. A
// mount needs no way to its host side any more and text does, so that stays open.
func (f *forest) modes() {
	for _, a := range f.areas {
		p, mode := pick(f.rnd, a.dirs), pick(f.rnd, []os.FileMode{0o700, 0o744, 0o600, 0o711})
		needed := slices.ContainsFunc(f.binds, func(b plannedBind) bool { return b.in == a && b.sub != p && within(b.sub, p) })
		if p != "" && !needed {
			f.do(func(base string) error { return os.Chmod(base+"/"+a.name+p, mode) })
		}
	}
}

func (f *forest) linkText() string {
	switch f.rnd.IntN(8) {
	case 0:
		return pick(f.rnd, []string{".", "..", "/", "//", "./", "../..", "missing", "/missing/x", "a/", "l39", "/l40"})
	case 1:
		return f.name()
	}
	p := f.guestPath()
	if f.rnd.IntN(2) == 0 {
		p = strings.TrimPrefix(p, "/")
		p = strings.Repeat("../", f.rnd.IntN(4)) + p
	}
	if p == "" {
		return "."
	}
	return p
}

// guestPath is the place of something, through any bind.
func (f *forest) guestPath() string {
	a, prefix := f.areas[0], ""
	if len(f.binds) > 0 && f.rnd.IntN(2) == 0 {
		b := pick(f.rnd, f.binds)
		if !b.dir {
			return b.guest
		}
		a, prefix = b.in, b.guest
		below := slices.DeleteFunc(a.all(), func(p string) bool { return !within(p, b.sub) })
		if len(below) > 0 {
			return prefix + strings.TrimPrefix(pick(f.rnd, below), b.sub)
		}
	}
	return "/" + strings.TrimPrefix(prefix+pick(f.rnd, a.all()), "/")
}

// path is what a program may ask for.
func (f *forest) path() string {
	parts := strings.Split(f.guestPath(), "/")
	for range f.rnd.IntN(4) {
		i := f.rnd.IntN(len(parts))
		extra := pick(f.rnd, []string{"..", ".", "", f.name(), "missing", f.name() + "/..", "l3", "l38", "l39", "l40", longName, longName + "L", "../" + f.name()})
		parts = slices.Insert(parts, i, extra)
	}
	p := strings.Join(parts, "/")
	switch f.rnd.IntN(8) {
	case 0, 1:
		p += "/"
	case 2:
		p += pick(f.rnd, []string{"/.", "/..", "//", "/./", "/../", "/missing", "/l2/"})
	}
	if f.rnd.IntN(4) > 0 {
		return "/" + strings.TrimPrefix(p, "/")
	}
	return p
}

// bindsIn are the binds for a forest made in base.
func (f *forest) bindsIn(base string) []Bind {
	var binds []Bind
	for _, b := range f.binds {
		binds = append(binds, Bind{Host: base + "/" + b.area + b.sub, Guest: b.guest})
	}
	return binds
}

// folder is a new one that every user can search.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for p := dir; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func inode(path string) (id string, mode uint32) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return err.Error(), 0
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), st.Mode
}
