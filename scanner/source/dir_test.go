package source

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes a directory from lines: "path" is an image tagged with its base
// name, "path=text" a file, "path -> target" a symlink, "path => target" a hard
// link, "path/" a directory, "path|" a pipe.
func tree(t *testing.T, lines ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, line := range lines {
		if err := plant(root, line); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	return root
}

func plant(root, line string) error {
	name, target, isLink := strings.Cut(line, " -> ")
	old, oldName, isHard := strings.Cut(line, " => ")
	text, body, isText := strings.Cut(line, "=")
	if isHard {
		name = old
	} else if isText {
		name = text
	}
	p := filepath.Join(root, strings.TrimSuffix(name, "|"))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	switch {
	case isLink:
		return os.Symlink(target, p)
	case isHard:
		return os.Link(filepath.Join(root, oldName), p)
	case isText:
		return os.WriteFile(p, []byte(body), 0o600)
	case strings.HasSuffix(name, "/"):
		return os.MkdirAll(p, 0o755)
	case strings.HasSuffix(name, "|"):
		return syscall.Mkfifo(p, 0o600)
	}
	return os.WriteFile(p, []byte(elf(filepath.Base(name))), 0o600)
}

func TestDirLayouts(t *testing.T) {
	for _, c := range []struct {
		name string
		tree []string
		want []string
	}{
		{"lib", []string{"lib/libc.so.6", "lib/ld-linux-aarch64.so.1"}, []string{"lib/ld-linux-aarch64.so.1", "lib/libc.so.6"}},
		{"lib, multiarch", []string{"lib/aarch64-linux-gnu/libc.so.6", "lib/ld-linux-aarch64.so.1 -> aarch64-linux-gnu/ld-2.31.so", "lib/aarch64-linux-gnu/ld-2.31.so"},
			[]string{"lib/aarch64-linux-gnu/ld-2.31.so", "lib/aarch64-linux-gnu/libc.so.6"}},
		{"usr/lib", []string{"usr/lib/libc.so.6", "usr/lib/ld-linux-aarch64.so.1"}, []string{"usr/lib/ld-linux-aarch64.so.1", "usr/lib/libc.so.6"}},
		{"usr/lib, multiarch", []string{"usr/lib/aarch64-linux-gnu/libc.so.6"}, []string{"usr/lib/aarch64-linux-gnu/libc.so.6"}},
		{"lib64", []string{"lib64/libc.so.6", "lib/ld-linux-aarch64.so.1 -> ../lib64/ld-2.33.so", "lib64/ld-2.33.so"}, []string{"lib64/ld-2.33.so", "lib64/libc.so.6"}},
		{"usr/lib64", []string{"usr/lib64/libc.so.6", "lib64 -> usr/lib64"}, []string{"usr/lib64/libc.so.6"}},
		{"lib -> usr/lib", []string{"lib -> usr/lib", "usr/lib/libc.so.6", "lib64 -> /usr/lib"}, []string{"usr/lib/libc.so.6"}},
		{"old names", []string{"lib/libc.so.6 -> libc-2.31.so", "lib/libc-2.31.so", "lib/libpthread.so.0 -> libpthread-2.31.so", "lib/libpthread-2.31.so", "lib/librt.so.1 -> librt-2.31.so", "lib/librt-2.31.so"},
			[]string{"lib/libc-2.31.so", "lib/libpthread-2.31.so", "lib/librt-2.31.so"}},
		{"musl", []string{"lib/ld-musl-aarch64.so.1", "lib/libc.musl-aarch64.so.1 -> ld-musl-aarch64.so.1"}, []string{"lib/ld-musl-aarch64.so.1"}},
		{"musl of Debian", []string{"lib/ld-musl-aarch64.so.1 -> aarch64-linux-musl/libc.so", "lib/aarch64-linux-musl/libc.so", "usr/lib/libc.so=GROUP"}, []string{"lib/aarch64-linux-musl/libc.so"}},
		{"odd target by an absolute link", []string{"lib/libc.so.6 -> /opt/g/odd", "opt/g/odd"}, []string{"opt/g/odd"}},
		{"odd target through links", []string{"lib/libc.so.6 -> ../x/odd", "x -> /y/z", "y/z -> .././opt", "opt/odd"}, []string{"opt/odd"}},
		{"hard links and copies", []string{"b/libc.so.6", "a/libc.so.6 => b/libc.so.6", "c/libc.so.6"}, []string{"a/libc.so.6"}},
		{"flatpak runtime", []string{"usr/lib/libc-2.31.so", "var/lib/flatpak/files/lib/libc.so.6"}, []string{"usr/lib/libc-2.31.so", "var/lib/flatpak/files/lib/libc.so.6"}},
		{"kernel's directories", []string{"proc/1/libc.so.6", "sys/libc.so.6", "dev/libc.so.6", "opt/dev/libc.so.6"}, []string{"opt/dev/libc.so.6"}},
		{"debug files", []string{"usr/lib/debug/lib/libc-2.31.so", "usr/lib/debug/libc.so.6"}, nil},
		{"no image", []string{"etc/passwd=root", "lib/"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := walkName(tree(t, c.tree...), Options{})
			if err != nil || r.problems != nil {
				t.Fatalf("Walk: %v, problems %v", err, r.problems)
			}
			var got []string
			for _, i := range r.images {
				got = append(got, i.Path)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Walk (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDirOptions(t *testing.T) {
	root := tree(t, "lib -> usr/lib", "usr/lib/libm.so.6", "usr/lib/libm.a=text", "bin/sh", "bin/script=#!/bin/sh", "usr/lib/libx.so -> /bin/sh")
	for _, c := range []struct {
		opt  Options
		want result
	}{
		{Options{}, result{}},
		{Options{Globs: []string{"libm*"}}, result{Images: []string{"usr/lib/libm.so.6=libm"}}},
		{Options{Globs: []string{"/lib/libm.so.6"}}, result{Images: []string{"usr/lib/libm.so.6=libm"}}},
		{Options{Globs: []string{"/lib/libm.so.6", "/lib/none"}}, result{Images: []string{"usr/lib/libm.so.6=libm"}}},
		{Options{Globs: []string{"/lib/libx.so"}}, result{Images: []string{"bin/sh=sh"}}},
		{Options{Globs: []string{"bin/*"}}, result{Images: []string{"bin/sh=sh"}}},
		{Options{Globs: []string{"script"}}, result{Problems: []string{"not an ELF file: bin/script"}}},
		// bin/sh is there because a link in a library folder leads to it.
		{Options{Globs: []string{"*"}, Libraries: true}, result{Images: []string{"usr/lib/libm.so.6=libm", "bin/sh=sh"}}},
		{Options{Globs: []string{"*"}}, result{Images: []string{"bin/sh=sh", "usr/lib/libm.so.6=libm"}}},
		{Options{Globs: []string{"*"}, MaxImage: 100}, result{Problems: []string{"image too big: bin/sh", "image too big: usr/lib/libm.so.6"}}},
	} {
		r, err := walkName(root, c.opt)
		if diff := cmp.Diff(c.want, r.result(err)); diff != "" {
			t.Errorf("Walk with %+v (-want +got):\n%s", c.opt, diff)
		}
	}
}

// TestDirHostile: nothing outside is read, nothing that waits is opened. A pipe
// opened the ordinary way would hang this test.
func TestDirHostile(t *testing.T) {
	base := tree(t, "secret/libc.so.6", "root/good/libc.so.6",
		"root/a/libc.so.6 -> ../../secret/libc.so.6", "root/b -> ../secret", "root/b2/libc.so.6 -> ../b/libc.so.6",
		"root/c/libc.so.6|", "root/d/librt.so.1 -> ../pipe", "root/pipe|", "root/e/libc.so.6 -> libc.so.6",
		"root/f/libc.so.6 -> /secret/libc.so.6", "root/g/libc.so.6 -> /good/libc.so.6/x", "root/h/libc.so.6=text", "root/i/libc.so.6/x=text",
		"root/j/libc.so.6 -> /h", "root/n/libc.so -> ../nowhere", "root/z/glob -> ../pipe")
	if err := os.Symlink(filepath.Join(base, "secret/libc.so.6"), filepath.Join(base, "root/k.so.6")); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(base, "root/librt.so.1"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := walkName(filepath.Join(base, "root"), Options{Globs: []string{"k.so.6", "glo*"}})
	want := result{Images: []string{"good/libc.so.6=libc"}, Problems: []string{
		"not a regular file: c/libc.so.6",
		"not an ELF file: h/libc.so.6",
		"not a regular file: librt.so.1",
		"link leads outside the source: a/libc.so.6",
		"link leads outside the source: b2/libc.so.6",
		"not a regular file: d/librt.so.1",
		"too many links: e/libc.so.6",
		"link target is not in the source: f/libc.so.6",
		"link target is not in the source: g/libc.so.6",
		"not a regular file: j/libc.so.6",
		"link target is not in the source: k.so.6",
	}}
	if diff := cmp.Diff(want, r.result(err)); diff != "" {
		t.Errorf("Walk (-want +got):\n%s", diff)
	}
}

// TestDirRace: what a path leads to may change after it was looked at. Here the
// change has happened already, which is the worst moment.
func TestDirRace(t *testing.T) {
	base := tree(t, "out/libc.so.6", "root/lib -> ../out", "root/link -> libc.so.6", "root/libc.so.6", "root/other", "root/pipe|")
	if err := os.Symlink(filepath.Join(base, "out"), filepath.Join(base, "root/abs")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(base, "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, c := range []struct {
		path string
		want Reason
	}{
		{"lib/libc.so.6", Unreadable},
		{"abs/libc.so.6", Unreadable},
		{"link", NotRegular},
		{"pipe", NotRegular},
		{"none", Unreadable},
		{"", NotRegular},
	} {
		f, _, err := openRegular(root, c.path)
		if err == nil {
			f.Close()
			t.Errorf("openRegular(%q) opened it", c.path)
		} else if got := reasonOf(err); got != c.want {
			t.Errorf("openRegular(%q): %v, want %v", c.path, err, c.want)
		}
	}
	for _, c := range []struct{ seen, opened string }{{"libc.so.6", "other"}, {"libc.so.6", "pipe"}, {"pipe", "pipe"}} {
		seen, err := root.Lstat(c.seen)
		if err != nil {
			t.Fatal(err)
		}
		f, err := root.OpenFile(c.opened, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sameRegular(f, seen); err == nil || reasonOf(err) != NotRegular {
			t.Errorf("sameRegular of %s for %s: %v, want %v", c.opened, c.seen, err, NotRegular)
		}
		f.Close()
	}
}

// TestDirDepth has directories of one level less, as many, and one more.
func TestDirDepth(t *testing.T) {
	for _, c := range []struct {
		depth int
		ok    bool
	}{{4, true}, {5, true}, {6, false}} {
		root := tree(t, strings.Repeat("d/", c.depth)+"libc.so.6")
		lim := defaultLimits
		lim.depth = 5
		n := 0
		err := walk(context.Background(), root, Options{}, lim, func(Image) error { n++; return nil })
		if (err == nil) != c.ok || (n == 1) != c.ok {
			t.Errorf("walk of %d levels: %d images, %v, want ok %v", c.depth, n, err, c.ok)
		}
	}
}

func TestDirCancel(t *testing.T) {
	root := tree(t, "a/libc.so.6", "b/librt.so.1")
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := Walk(ctx, root, Options{}, func(Image) error { n++; cancel(); return nil })
	if err != context.Canceled || n != 1 {
		t.Errorf("Walk = %v after %d images, want %v after 1", err, n, context.Canceled)
	}
}

func TestDetectDirectory(t *testing.T) {
	if got, err := Detect(t.TempDir()); got != Dir || err != nil {
		t.Errorf("Detect of a directory = %v, %v", got, err)
	}
}
