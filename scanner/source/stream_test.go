package source

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func openBytes(data []byte, lim limits) func() (*stream, error) {
	return func() (*stream, error) {
		return openStream(context.Background(), bytes.NewReader(data), 0, int64(len(data)), lim)
	}
}

// zeros is n zero bytes that exist nowhere. At every 16 MiB it looks at the heap.
type zeros struct {
	n    int64
	peak *uint64
}

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.n)
	clear(p[:n])
	if z.n>>24 != (z.n-n)>>24 {
		*z.peak = max(*z.peak, heap())
	}
	z.n -= n
	return int(n), nil
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestStreaming: a tar with a member of 300 MB that cannot be seeked over is
// walked in less heap than a fiftieth of it.
func TestStreaming(t *testing.T) {
	const size = 300_000_256 // whole blocks
	const bound = 6 << 20
	var peak uint64
	first := rawHeader("var/swap", '0', octal(size), nil)
	rest := tarOf(t, file("lib/libc.so.6", elf("c")))
	r := &recorder{}
	c, err := newCollector(context.Background(), "src", Options{}, defaultLimits, r.yield)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	base := heap()
	err = walkTar(c, func() (*stream, error) {
		pad := int64(size + (-size & (tarBlock - 1)))
		all := io.MultiReader(bytes.NewReader(first), &zeros{pad, &peak}, bytes.NewReader(rest))
		return &stream{Reader: all, pos: func() int64 { return 0 }, close: func() {}}, nil
	})
	if diff := cmp.Diff(result{Images: []string{"lib/libc.so.6=c"}}, r.result(err)); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
	if peak == 0 || peak > base+bound {
		t.Errorf("heap grew from %#x to %#x, want a look at it and at most %#x more", base, peak, bound)
	}
}

// TestOneImageAtATime: 16 images of 1 MiB never are in memory together.
func TestOneImageAtATime(t *testing.T) {
	const n, size, bound = 16, 1 << 20, 3 << 20
	var all []entry
	for i := range n {
		all = append(all, file(strings.Repeat("d/", i)+"libc.so.6", "\x7fELF"+strings.Repeat(string(rune('a'+i)), size)))
	}
	data := tarOf(t, all...)
	all = nil
	runtime.GC()
	base, peak, seen := heap(), uint64(0), 0
	c, err := newCollector(context.Background(), "src", Options{}, defaultLimits, func(Image) error {
		runtime.GC()
		peak = max(peak, heap())
		seen++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := walkFile(c, bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	if seen != n || peak > base+bound {
		t.Errorf("%d images, heap from %#x to %#x, want %d images and at most %#x more", seen, base, peak, n, bound)
	}
}

// TestBombLimit has floor, floor + ratio*in, and one byte around each.
func TestBombLimit(t *testing.T) {
	l := limits{bombFloor: 1000, bombRatio: 10}
	for _, c := range []struct {
		out, in int64
		want    bool
	}{
		{1000, 0, false}, {1001, 0, true}, {1001, 1, false},
		{1049, 5, false}, {1050, 5, true}, {1051, 5, true},
		{1 << 62, 1 << 40, true}, {1 << 62, 1 << 62, false},
	} {
		if got := l.bomb(c.out, c.in); got != c.want {
			t.Errorf("bomb(%d, %d) = %v, want %v", c.out, c.in, got, c.want)
		}
	}
}

// TestDefaultLimits: the default bounds let a whole rootfs through and stop what
// is no rootfs: 24 KB of zstd can hold 1 GB of zeros.
func TestDefaultLimits(t *testing.T) {
	if defaultLimits.bomb(8<<30, 1<<30) || defaultLimits.bomb(500<<20, 1) {
		t.Error("the default limits refuse 8 GiB from 1 GiB, or 500 MiB from anything")
	}
	const in = 24 << 10
	var peak uint64
	m := &meter{ctx: t.Context(), decoder: &zeros{1 << 30, &peak}, in: func() int64 { return in }, base: 5, lim: defaultLimits}
	n, err := io.Copy(io.Discard, m)
	if err == nil || reasonOf(err) != Bomb || err.(*Error).Offset != in+5 {
		t.Errorf("a stream of 1 GiB from 24 KiB: %v, want %v", err, Bomb)
	}
	if most := int64(512<<20 + 200*in); n < most || n > most+1<<20 {
		t.Errorf("it was stopped after %#x bytes, want %#x or little more", n, most)
	}
}

// TestBombs: every compression is metered, and so are sparse members.
func TestBombs(t *testing.T) {
	lim := defaultLimits
	lim.bombFloor = 64 << 10
	zeros := append(rawHeader("a", '0', octal(1<<20), nil), make([]byte, 1<<20)...)
	var holes []byte
	for _, dir := range []string{"a/", "b/", "c/", "d/"} {
		holes = append(holes, sparse(dir+"libc.so.6", 300<<10)...)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"gzip", gzipOf(t, zeros), Bomb.String() + ":"},
		{"zstd", zstdOf(t, zeros), Bomb.String() + ":"},
		{"xz", xzOf(t, zeros, xzDefault), Bomb.String() + ":"},
		{"deb", debOf("data.tar", zstdOf(t, zeros)), Bomb.String() + ":"},
		{"sparse", append(holes, make([]byte, 1024)...), Bomb.String() + ": d/libc.so.6"},
		{"plain", append(zeros, make([]byte, 1024)...), ""},
	} {
		_, err := walkBytes(c.data, Options{}, lim)
		if got := show(err); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSparse: holes are zeros, and a size of 8 GiB costs nothing.
func TestSparse(t *testing.T) {
	data := append(sparse("libc.so.6", 4096), sparse("librt.so.1", 8<<30-1)...)
	before := totalAlloc()
	r, err := walkBytes(append(data, make([]byte, 1024)...), Options{}, defaultLimits)
	want := result{Images: []string{"libc.so.6=libc"}, Problems: []string{"image too big: librt.so.1"}}
	if diff := cmp.Diff(want, r.result(err)); diff != "" {
		t.Fatalf("walk (-want +got):\n%s", diff)
	}
	if n := len(r.images[0].Data); n != 4096 {
		t.Errorf("sparse image has %d bytes, want 4096", n)
	}
	if used := totalAlloc() - before; used > 1<<20 {
		t.Errorf("%#x bytes allocated for two small members", used)
	}
}

// TestClaimedSize: a header's size is not what is allocated.
func TestClaimedSize(t *testing.T) {
	data := append(rawHeader("libc.so.6", '0', octal(200<<20), nil), elf("c")...)
	before := totalAlloc()
	if _, err := walkBytes(data, Options{}, defaultLimits); err == nil || reasonOf(err) != Truncated {
		t.Errorf("walk = %v, want %v", err, Truncated)
	}
	if used := totalAlloc() - before; used > 16<<20 {
		t.Errorf("%#x bytes allocated for an image of %#x", used, len(data))
	}
}

func totalAlloc() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestWindows: a window is refused before it is allocated.
func TestWindows(t *testing.T) {
	body := tarOf(t)[:1024]
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"zstd 128 MiB", zstdRaw(17, body, 0), ""},
		{"zstd 256 MiB", zstdRaw(18, body, 0), WindowTooBig.String() + ":"},
		{"zstd 2 TiB", zstdRaw(31, body, 0), WindowTooBig.String() + ":"},
		{"xz 128 MiB", xzParts{filter: lzma2(30), body: body, flags: 0x80, declared: []byte{0x80, 8}}.bytes(), ""},
		{"xz 192 MiB", xzParts{filter: lzma2(31), body: body}.bytes(), WindowTooBig.String() + ":"},
		{"xz 4 GiB", xzParts{filter: lzma2(40), body: body}.bytes(), WindowTooBig.String() + ":"},
	} {
		before := totalAlloc()
		_, err := walkBytes(c.data, Options{}, defaultLimits)
		if got := show(err); got != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
		if used := totalAlloc() - before; used > 4<<20 && c.want != "" {
			t.Errorf("%s: %#x bytes allocated", c.name, used)
		}
	}
}

// TestTruncated cuts every container everywhere. A plain tar may lack the zeros
// at its end; everything else is known to be incomplete.
func TestTruncated(t *testing.T) {
	body := elf("c")
	plain := tarOf(t, file("libc.so.6", body))
	gz := gzipOf(t, plain)
	for _, c := range []struct {
		name string
		data []byte
		ok   int // bytes that are enough
	}{
		{"tar", plain, tarBlock + len(body)},
		{"gzip", gz, -1},
		{"zstd", zstdOf(t, plain), -1},
		{"xz", xzOf(t, plain, xzDefault), -1},
		{"deb", debOf("data.tar.gz", gz), len(debOf("data.tar.gz", gz)) - len(gz)&1},
	} {
		for n := range c.data {
			_, err := walkBytes(c.data[:n], Options{}, defaultLimits)
			if c.ok >= 0 && n >= c.ok {
				if n == c.ok && err != nil {
					t.Errorf("%s cut at %d: %v, want no error", c.name, n, err)
				}
				continue
			}
			reason := Reason(0)
			if err != nil {
				reason = reasonOf(err)
			}
			if reason != Truncated && reason != UnknownFormat && reason != NoData {
				t.Fatalf("%s cut at %d of %d: %v, want %v", c.name, n, len(c.data), err, Truncated)
			}
		}
	}
}

// broken is a file whose disk fails at one of its reads.
type broken struct {
	data  []byte
	after int // reads that succeed
}

func (b *broken) ReadAt(p []byte, off int64) (int, error) {
	if b.after--; b.after == -1 {
		return 0, &fs.PathError{Op: "read", Path: "src", Err: syscall.EIO}
	}
	return bytes.NewReader(b.data).ReadAt(p, off)
}

// TestBrokenDisk fails every read of every container, one at a time.
func TestBrokenDisk(t *testing.T) {
	plain := tarOf(t, file("libc.so.6", elf("c")), symlink("librt.so.1", "odd"), file("odd", elf("o")))
	for name, data := range map[string][]byte{
		"elf": []byte(elf("x")), "tar": plain, "gzip": gzipOf(t, plain), "zstd": zstdOf(t, plain),
		"xz": xzOf(t, plain, xzDefault), "deb": debOf("data.tar", plain), "deb gzip": debOf("data.tar.gz", gzipOf(t, plain)),
	} {
		for n, failed := 0, true; failed; n++ {
			src := &broken{data, n}
			c, err := newCollector(t.Context(), "src", Options{}, defaultLimits, (&recorder{}).yield)
			if err != nil {
				t.Fatal(err)
			}
			err = walkFile(c, src, int64(len(data)))
			if failed = src.after < 0; failed != (err != nil) || failed && reasonOf(err) != Unreadable {
				t.Errorf("%s with read %d failing: %v, want %v", name, n, err, Unreadable)
			}
			if !failed && n < 2 {
				t.Errorf("%s was read in %d reads", name, n)
			}
		}
	}
}
