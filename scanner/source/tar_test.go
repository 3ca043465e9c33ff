package source

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"
)

func TestTar(t *testing.T) {
	lib := "usr/lib/aarch64-linux-gnu/"
	for _, c := range []struct {
		name string
		opt  Options
		in   []entry
		want result
	}{
		{"modern", Options{}, []entry{
			{name: "/tmp/GlobalHead.1.1", kind: tar.TypeXGlobalHeader}, {name: "./", kind: tar.TypeDir}, {name: "./" + lib, kind: tar.TypeDir},
			symlink("./lib", "usr/lib"), symlink("./usr/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu/ld-linux-aarch64.so.1"),
			file("./"+lib+"ld-linux-aarch64.so.1", elf("ld")), file("./"+lib+"libc.so.6", elf("c")), file("./"+lib+"libm.so.6", elf("m")),
		}, result{Images: []string{lib + "ld-linux-aarch64.so.1=ld", lib + "libc.so.6=c"}}},
		{"old names, links first and last", Options{}, []entry{
			symlink("lib/libc.so.6", "libc-2.31.so"), file("lib/libc-2.31.so", elf("c")),
			file("lib/libpthread-2.31.so", elf("p")), symlink("lib/libpthread.so.0", "/lib/libpthread-2.31.so"),
		}, result{Images: []string{"lib/libc-2.31.so=c", "lib/libpthread-2.31.so=p"}}},
		{"musl both ways", Options{}, []entry{
			file("lib/ld-musl-aarch64.so.1", elf("a")), symlink("lib/libc.musl-aarch64.so.1", "ld-musl-aarch64.so.1"),
			symlink("m/ld-musl-aarch64.so.1", "aarch64-linux-musl/libc.so"), file("m/aarch64-linux-musl/libc.so", elf("b")),
			file("usr/lib/libc.so", "/* GNU ld script */"),
		}, result{Images: []string{"lib/ld-musl-aarch64.so.1=a", "m/aarch64-linux-musl/libc.so=b"}}},
		{"second pass for an odd target before its link", Options{}, []entry{
			file("opt/g/odd.so", elf("odd")), symlink("lib64", "/opt"), symlink("lib/libc.so.6", "../lib64/g/odd.so"),
		}, result{Images: []string{"opt/g/odd.so=odd"}}},
		{"second pass through a linked directory of a member", Options{}, []entry{
			symlink("lib/libc.so.6", "/real/odd.so"), symlink("alias", "real"), file("alias/odd.so", elf("odd")),
		}, result{Images: []string{"real/odd.so=odd"}}},
		{"hard link to an odd name", Options{}, []entry{
			file("opt/odd.so", elf("odd")), hardlink("lib/libc.so.6", "./opt/odd.so"),
		}, result{Images: []string{"opt/odd.so=odd"}}},
		{"hard link to a known one", Options{}, []entry{
			file("lib/libc-2.31.so", elf("c")), hardlink("lib/libc.so.6", "lib/libc-2.31.so"),
		}, result{Images: []string{"lib/libc-2.31.so=c"}}},
		{"same content twice", Options{}, []entry{
			file("b/libc.so.6", elf("c")), file("a/libc.so.6", elf("c")),
		}, result{Images: []string{"b/libc.so.6=c"}}},
		{"same path, other content", Options{}, []entry{
			file("libc.so.6", elf("old")), file("libc.so.6", elf("new")),
		}, result{Images: []string{"libc.so.6=old", "libc.so.6=new"}}},
		{"a link replaced by a file", Options{}, []entry{
			symlink("libc.so.6", "nowhere"), file("libc.so.6", elf("c")),
		}, result{Images: []string{"libc.so.6=c"}}},
		{"a link replaced by a directory", Options{}, []entry{
			symlink("lib", "nowhere"), {name: "lib/", kind: tar.TypeDir}, file("lib/odd.so", elf("odd")), symlink("libc.so.6", "lib/odd.so"),
		}, result{Images: []string{"lib/odd.so=odd"}}},
		{"a member behind a loop", Options{}, []entry{
			symlink("loop", "loop"), file("loop/libc.so.6", elf("c")), file("opt/odd", elf("odd")), symlink("libc.so.6", "opt/odd"),
		}, result{Images: []string{"loop/libc.so.6=c", "opt/odd=odd"}}},
		{"globs", Options{Globs: []string{"libm.so.*", "/opt/*/x", "/l/exact", "/l/none"}}, []entry{
			file("usr/libm.so.6", elf("m")), file("opt/a/x", elf("x")), file("opt/a/y", elf("y")), file("usr/libm.so.7", "text"),
			symlink("l", "usr"), file("usr/exact", elf("e")),
		}, result{Images: []string{"usr/libm.so.6=m", "opt/a/x=x", "usr/exact=e"}}},
		{"all ELF", Options{Globs: []string{"*"}}, []entry{
			file("bin/a", elf("a")), file("bin/b", "#!/bin/sh"), file("bin/short", "\x7fEL"), file("usr/lib/debug/d", elf("d")), hardlink("bin/c", "bin/a"),
		}, result{Images: []string{"bin/a=a", "usr/lib/debug/d=d"}}},
		{"bad members among good ones", Options{}, []entry{
			file("../libc.so.6", elf("1")), file("/lib/libc.so.6", elf("2")), file("a/../../x", ""),
			{name: "dev/libc.so.6", kind: tar.TypeChar}, {name: "dev/librt.so.1", kind: tar.TypeBlock}, {name: "dev/fifo", kind: tar.TypeFifo},
			{name: "lib/libpthread.so.0", kind: tar.TypeFifo}, file("t/libc.so.6", "text"), file("t/librt.so.1", ""),
			hardlink("h/libc.so.6", "../../etc/shadow"), hardlink("h/x", "/etc/shadow"), symlink("s/libc.so.6", "../../etc/shadow"),
			symlink("s/librt.so.1", "/etc/shadow"), symlink("l1/libc.so.6", "../l2/libc.so.6"), symlink("l2/libc.so.6", "../l1/libc.so.6"),
			symlink("fine", "../../../x"), file("good/libc.so.6", elf("good")),
		}, result{Images: []string{"good/libc.so.6=good"}, Problems: []string{
			"refused member name: ../libc.so.6", "refused member name: /lib/libc.so.6", "refused member name: a/../../x",
			"not a regular file: dev/libc.so.6", "not a regular file: dev/librt.so.1", "not a regular file: lib/libpthread.so.0",
			"not an ELF file: t/libc.so.6", "not an ELF file: t/librt.so.1",
			"link leads outside the source: h/libc.so.6", "link leads outside the source: h/x", "link leads outside the source: s/libc.so.6",
			"too many links: l1/libc.so.6", "too many links: l2/libc.so.6", "link target is not in the source: s/librt.so.1",
		}}},
		{"link to a text and to a directory", Options{}, []entry{
			file("etc/passwd", "root"), symlink("lib/libc.so.6", "/etc/passwd"), symlink("lib/librt.so.1", "../etc"),
		}, result{Problems: []string{"not an ELF file: etc/passwd", "link target is not in the source: lib/librt.so.1"}}},
		{"two links to one text, one of them by a glob", Options{Globs: []string{"g*"}}, []entry{
			symlink("g1", "/text"), symlink("libc.so.6", "text"), symlink("g2", "text"), file("text", "text"),
		}, result{Problems: []string{"not an ELF file: text"}}},
		{"links that may dangle", Options{Globs: []string{"g*"}}, []entry{
			symlink("a/libc.so", "nowhere"), symlink("g1", "/nowhere"),
		}, result{}},
		{"empty", Options{}, nil, result{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := walkBytes(tarOf(t, c.in...), c.opt, defaultLimits)
			if diff := cmp.Diff(c.want, r.result(err)); diff != "" {
				t.Errorf("walk (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPasses: a tar is read a second time only for a target that was not taken.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  Options
		in   []entry
		want int
	}{
		{"no link", Options{}, []entry{file("libc.so.6", elf("c"))}, 1},
		{"a taken target", Options{}, []entry{file("libc-2.31.so", elf("c")), symlink("libc.so.6", "libc-2.31.so")}, 1},
		{"a target taken through a link", Options{}, []entry{symlink("lib", "usr"), file("lib/libc-2.31.so", elf("c")), symlink("libc.so.6", "usr/libc-2.31.so")}, 1},
		{"a path that is no member", Options{Globs: []string{"/opt/x"}}, []entry{file("libc.so.6", elf("c"))}, 1},
		{"an unwanted link", Options{}, []entry{symlink("x", "y")}, 1},
		{"a link that became a file", Options{}, []entry{symlink("libc.so.6", "x"), file("libc.so.6", elf("c"))}, 1},
		{"an odd target", Options{}, []entry{file("odd", elf("c")), symlink("libc.so.6", "odd")}, 2},
		{"a path through a link", Options{Globs: []string{"/opt/x"}}, []entry{file("usr/x", elf("c")), symlink("opt", "usr")}, 2},
	} {
		w, err := newCollector(t.Context(), "src", c.opt, defaultLimits, (&recorder{}).yield)
		if err != nil {
			t.Fatal(err)
		}
		n, open := 0, openBytes(tarOf(t, c.in...), defaultLimits)
		err = walkTar(w, func() (*stream, error) { n++; return open() })
		if n != c.want || err != nil || len(w.hashes) > 1 {
			t.Errorf("%s: %d passes, %v, want %d", c.name, n, err, c.want)
		}
	}
}

// TestContainers has one tar in every wrapping; all give the same images.
func TestContainers(t *testing.T) {
	plain := tarOf(t, file("lib/libc.so.6", elf("c")), file("etc/text", "text"), symlink("x/libc.so.6", "/opt/odd"), file("opt/odd", elf("odd")))
	gz, zst, xzd := gzipOf(t, plain), zstdOf(t, plain), xzOf(t, plain, xz.WriterConfig{})
	skippable := append([]byte("\x5e\x2a\x4d\x18\x03\x00\x00\x00abc"), zst...)
	for _, c := range []struct {
		name string
		data []byte
		kind Kind
	}{
		{"tar", plain, Tar},
		{"tar.gz", gz, Tar},
		{"tar.zst", zst, Tar},
		{"tar.zst after a skippable frame", skippable, Tar},
		{"tar.xz", xzd, Tar},
		{"deb plain", debOf("data.tar", plain), Deb},
		{"deb gz", debOf("data.tar.gz", gz), Deb},
		{"deb xz", debOf("data.tar.xz/", xzd), Deb},
		{"deb zst", debOf("data.tar.zst", zst), Deb},
		{"deb with a lying name", debOf("data.tar.gz", zst), Deb},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "any.name")
			if err := os.WriteFile(name, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := Detect(name); got != c.kind || err != nil {
				t.Errorf("Detect = %v, %v, want %v", got, err, c.kind)
			}
			r, err := walkName(name, Options{})
			want := result{Images: []string{"lib/libc.so.6=c", "opt/odd=odd"}}
			if diff := cmp.Diff(want, r.result(err)); diff != "" {
				t.Errorf("Walk (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlainFile has its path from its name and everything else from its bytes.
func TestPlainFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "my.tar.gz")
	if err := os.WriteFile(name, []byte(elf("x")), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := walkName(name, Options{})
	if diff := cmp.Diff(result{Images: []string{"my.tar.gz=x"}}, r.result(err)); diff != "" {
		t.Errorf("Walk (-want +got):\n%s", diff)
	}
	if got, err := Detect(name); got != File || err != nil {
		t.Errorf("Detect = %v, %v, want %v", got, err, File)
	}
}

// TestMaxImage has images of one byte less, as many, and one more than allowed.
func TestMaxImage(t *testing.T) {
	for _, c := range []struct {
		size int
		ok   bool
	}{{99, true}, {100, true}, {101, false}} {
		body := elf("x")[:c.size]
		want := result{Images: []string{"libc.so.6=x"}}
		if !c.ok {
			want = result{Problems: []string{"image too big: libc.so.6"}}
		}
		r, err := walkBytes(tarOf(t, file("libc.so.6", body)), Options{MaxImage: 100}, defaultLimits)
		if diff := cmp.Diff(want, r.result(err)); diff != "" {
			t.Errorf("tar with an image of %d bytes (-want +got):\n%s", c.size, diff)
		}
		_, err = walkBytes([]byte(body), Options{MaxImage: 100}, defaultLimits)
		if (err == nil) != c.ok {
			t.Errorf("file of %d bytes: %v, want ok %v", c.size, err, c.ok)
		}
	}
}

// TestWithoutOnError: then the first problem ends the walk.
func TestWithoutOnError(t *testing.T) {
	rt := file("librt.so.1", elf("rt"))
	for _, c := range []struct {
		in   []entry
		want result
	}{
		{[]entry{rt, file("libc.so.6", "text"), file("x/libc.so.6", elf("x"))}, result{Images: []string{"librt.so.1=rt"}, Err: "not an ELF file: libc.so.6"}},
		{[]entry{symlink("libc.so.6", ".."), symlink("x/libc.so.6", "odd"), rt, file("x/odd", elf("odd"))}, result{Images: []string{"librt.so.1=rt"}, Err: "link leads outside the source: libc.so.6"}},
		{[]entry{symlink("libc.so.6", "b"), symlink("x/libc.so.6", "a")}, result{Err: "link target is not in the source: libc.so.6"}},
	} {
		r := &recorder{}
		c2, err := newCollector(t.Context(), "src", Options{}, defaultLimits, r.yield)
		if err != nil {
			t.Fatal(err)
		}
		err = walkTar(c2, openBytes(tarOf(t, c.in...), defaultLimits))
		if diff := cmp.Diff(c.want, r.result(err)); diff != "" {
			t.Errorf("walk (-want +got):\n%s", diff)
		}
	}
}

// TestYieldError: what yield returns ends the walk and is returned as it is.
func TestYieldError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	c, err := newCollector(context.Background(), "src", Options{}, defaultLimits, func(Image) error { n++; return stop })
	if err != nil {
		t.Fatal(err)
	}
	err = walkTar(c, openBytes(tarOf(t, file("libc.so.6", elf("1")), file("librt.so.1", elf("2"))), defaultLimits))
	if err != stop || n != 1 {
		t.Errorf("walk = %v after %d images, want %v after 1", err, n, stop)
	}
}

// TestCancel: a cancelled walk returns the context's error, at any point.
func TestCancel(t *testing.T) {
	data := tarOf(t, file("libc.so.6", elf("1")), file("librt.so.1", elf("2")))
	none := tarOf(t, file("a", ""), file("b", ""))
	for _, src := range [][]byte{none, zstdOf(t, none)} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s, err := openStream(ctx, bytes.NewReader(src), 0, int64(len(src)), defaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Read(make([]byte, 1)); n != 0 || err != context.Canceled {
			t.Errorf("Read of a cancelled stream = %d, %v", n, err)
		}
		s.close()
	}
	for _, src := range [][]byte{data, gzipOf(t, data), zstdOf(t, data), xzOf(t, data, xz.WriterConfig{}), debOf("data.tar", data)} {
		for after := range 2 {
			ctx, cancel := context.WithCancel(context.Background())
			if after == 0 {
				cancel()
			}
			name := filepath.Join(t.TempDir(), "src")
			if err := os.WriteFile(name, src, 0o600); err != nil {
				t.Fatal(err)
			}
			n := 0
			err := Walk(ctx, name, Options{}, func(Image) error { n++; cancel(); return nil })
			if err != context.Canceled || n != after {
				t.Errorf("Walk cancelled after %d images = %v after %d", after, err, n)
			}
			cancel()
		}
	}
}

// TestCancelWithinImage: a big image is not read to its end for nobody.
func TestCancelWithinImage(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, err := newCollector(ctx, "src", Options{}, defaultLimits, (&recorder{}).yield)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := c.read(strings.NewReader(elf("x")), 100); err != context.Canceled {
		t.Errorf("read = %v, want %v", err, context.Canceled)
	}
}
