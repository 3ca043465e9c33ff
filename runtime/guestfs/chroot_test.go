// A real chroot with real bind mounts is the truth. These tests need root.
package guestfs

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var (
	seeds = flag.Int("guestfs.seeds", 40, "trees to compare with a chroot")
	first = flag.Uint64("guestfs.first", 1, "seed of the first of them")
)

// TestChroot compares what calls that change nothing show, inode by inode, for
// root and for a user that may not search everything.
func TestChroot(t *testing.T) {
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newForest(seed, 9)
			base := folder(t)
			f.make(t, base)
			s := setup{Root: base + "/root", Binds: f.bindsIn(base), Proving: seed%2 == 0}
			if seed%3 == 0 {
				s.UID = 65534
			}
			compareReads(t, f, start(t, "chroot", s), start(t, "resolve", s), 150)
		})
	}
}

func compareReads(t *testing.T, f *forest, truth, ours *child, paths int) {
	t.Helper()
	ops := []string{"stat", "lstat", "open", "opennofollow", "opendir", "readlink", "access", "nosymlinks", "nomagiclinks", "noxdev", "beneath", "inroot"}
	for i := range paths {
		if i%10 == 9 {
			compare(t, truth, ours, request{Op: "chdir", Path: f.path()}, same)
		}
		path := f.path()
		for _, op := range ops {
			equal := same
			if op == "beneath" || op == "noxdev" {
				equal = sameTwice
			}
			compare(t, truth, ours, request{Op: op, Path: path}, equal)
		}
	}
}

// sameTwice knows that the kernel, when it walks without locks and comes to a ..
// that it must refuse, walks the path again, and counts the symlinks of both walks:
// ELOOP after 21.
func sameTwice(want, got reply) bool {
	return same(want, got) || want.Errno == syscall.ELOOP && got.Errno == syscall.EXDEV
}

func same(want, got reply) bool {
	got.Host, want.Host = "", ""
	return want == got
}

func compare(t *testing.T, truth, ours *child, q request, equal func(want, got reply) bool) {
	t.Helper()
	want, got := truth.ask(q), ours.ask(q)
	if !equal(want, got) {
		t.Errorf("%s %.200q %.200q by %q\n got %+v\nwant %+v", q.Op, q.Path, q.Path2, got.Host, got, want)
	}
}

// TestChrootChanges runs the same changes in two equal forests, one through a
// chroot, and compares each error and what is there in the end.
func TestChrootChanges(t *testing.T) {
	ops := []string{"creat", "creatnew", "mkdir", "mkdir", "mknod", "rmdir", "unlink", "rename", "rename", "link", "linkfollow", "symlink", "symlink", "chmod", "truncate", "chdir"}
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newForest(seed, 6)
			a, b := folder(t), folder(t)
			f.make(t, a)
			f.make(t, b)
			truth := start(t, "chroot", setup{Root: a + "/root", Binds: f.bindsIn(a)})
			ours := start(t, "resolve", setup{Root: b + "/root", Binds: f.bindsIn(b), Proving: seed%2 == 0})
			pinned := pins(f, b)
			for range 150 {
				if now := pins(f, b); now != pinned {
					break
				}
				q := request{Op: pick(f.rnd, ops), Path: f.path(), Path2: f.path()}
				if q.Op == "symlink" {
					q.Path2 = f.linkText()
				}
				compare(t, truth, ours, q, func(want, got reply) bool {
					return want.Errno == got.Errno && want.Mode == got.Mode && want.Text == got.Text
				})
				if t.Failed() {
					return // the trees are no longer the same
				}
			}
			if want, got := listing(t, a), listing(t, b); want != got {
				t.Errorf("after the same calls\n got %s\nwant %s", got, want)
			}
		})
	}
}

// pins tells what the binds sit on and show. A mount keeps them when they are
// renamed or removed by another path; text does not, and there the sequence ends.
func pins(f *forest, base string) string {
	var out strings.Builder
	for _, b := range f.binds {
		host, _ := inode(base + "/" + b.area + b.sub)
		place, _ := inode(base + "/" + b.covers)
		fmt.Fprintln(&out, host, place)
	}
	return out.String()
}

// listing names everything below base, with types and link texts.
func listing(t *testing.T, base string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text, _ := os.Readlink(p)
		fmt.Fprintf(&out, "%s %v %s\n", p[len(base):], d.Type(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestChrootMissing binds at places that do not exist. A mount needs them, so the
// chroot is a second forest in which they were made.
func TestChrootMissing(t *testing.T) {
	for seed := *first; seed < *first+uint64(*seeds)/2; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newForest(seed, 0)
			dirs := f.areas[0].dirs
			for i, guest := range []string{pick(f.rnd, dirs) + "/new", pick(f.rnd, dirs) + "/not/there", pick(f.rnd, dirs) + "/not/here/x"} {
				f.binds = append(f.binds, plannedBind{area: f.areas[i+1].name, in: f.areas[i+1], guest: guest, dir: true})
			}
			a, b := folder(t), folder(t)
			f.make(t, a)
			f.make(t, b)
			label := labels(t, a, b)
			for _, bind := range f.bindsIn(a) {
				if err := os.MkdirAll(a+"/root"+bind.Guest, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			truth := start(t, "chroot", setup{Root: a + "/root", Binds: f.bindsIn(a)})
			ours := start(t, "resolve", setup{Root: b + "/root", Binds: f.bindsIn(b), Proving: seed%2 == 0})
			equal := func(want, got reply) bool {
				if got.Virtual {
					return want.Errno == 0 && label(want) == "placeholder"
				}
				return want.Errno == got.Errno && want.Text == got.Text && label(want) == label(got)
			}
			for i := range 200 {
				if i%10 == 0 {
					compareChdir(t, truth, ours, f.path())
				}
				for _, op := range []string{"stat", "lstat", "opendir", "readlink"} {
					compare(t, truth, ours, request{Op: op, Path: f.path()}, equal)
				}
			}
		})
	}
}

// compareChdir sends both back where only one of them could go.
func compareChdir(t *testing.T, truth, ours *child, path string) {
	t.Helper()
	virtual := false
	compare(t, truth, ours, request{Op: "chdir", Path: path}, func(want, got reply) bool {
		virtual = got.Virtual
		return want.Errno == got.Errno && (virtual || want.Text == got.Text)
	})
	if virtual {
		compare(t, truth, ours, request{Op: "chdir", Path: "/"}, same)
	}
}

// labels tells where an inode is in either forest.
func labels(t *testing.T, bases ...string) func(reply) string {
	t.Helper()
	at := map[string]string{}
	for _, base := range bases {
		err := filepath.WalkDir(base, func(p string, _ fs.DirEntry, err error) error {
			id, _ := inode(p)
			at[id] = p[len(base):]
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return func(p reply) string {
		if !p.Stat {
			return ""
		}
		if l, ok := at[fmt.Sprintf("%d:%d", p.Dev, p.Ino)]; ok {
			return l
		}
		return "placeholder"
	}
}
