//go:build corpus

// What must be true of the real libraries that `make corpus` fetches. The counts
// were made by other tools (objdump, a full control-flow analysis); the debug
// packages' symbols say which function a word is in.

package scanner_test

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/sysno"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

const corpus = "../.corpus"

// known is what other tools count in one image.
type known struct {
	suite, image                         string
	svcs, adjacent, nearby, edges, async int
	bridges, calls                       int
}

var knownImages = []known{
	{"bullseye", "libc.so.6", 697, 609, 82, 1, 50, 0, 0},
	{"bullseye", "ld-linux-aarch64.so.1", 40, 32, 6, 0, 0, 0, 0},
	{"bullseye", "libpthread.so.0", 202, 152, 46, 1, 28, 0, 0},
	{"bullseye", "librt.so.1", 29, 23, 6, 0, 4, 0, 0},
	{"bullseye", "libanl.so.1", 3, 3, 0, 0, 0, 0, 0},
	{"bookworm", "libc.so.6", 510, 422, 77, 2, 54, 0, 0},
	{"bookworm", "ld-linux-aarch64.so.1", 49, 34, 13, 0, 0, 0, 0},
	{"trixie", "libc.so.6", 411, 325, 76, 0, 0, 2, 55},
	{"trixie", "ld-linux-aarch64.so.1", 52, 40, 12, 0, 0, 0, 0},
	{"forky", "libc.so.6", 418, 331, 74, 0, 0, 2, 56},
	{"forky", "ld-linux-aarch64.so.1", 56, 45, 11, 0, 0, 0, 0},
	{"trixie", "ld-musl-aarch64.so.1", 483, 105, 307, 0, 0, 0, 0},
}

func (k known) file() string { return filepath.Join(corpus, "images", k.suite, k.image) }

func open(t testing.TB, file string) (*elfimg.Image, *scanner.Result) {
	t.Helper()
	img, err := elfimg.New(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scanner.Scan(img, scanner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return img, r
}

func count(sites []scanner.Site, is func(scanner.Site) bool) (n int) {
	for _, s := range sites {
		if is(s) {
			n++
		}
	}
	return n
}

func has(f scanner.Flags) func(scanner.Site) bool {
	return func(s scanner.Site) bool { return s.Flags&f != 0 }
}

func isKind(k scanner.Kind) func(scanner.Site) bool {
	return func(s scanner.Site) bool { return s.Kind == k }
}

func TestCorpusCounts(t *testing.T) {
	for _, want := range knownImages {
		_, r := open(t, want.file())
		got := known{
			suite: want.suite, image: want.image,
			svcs:     count(r.Sites, func(s scanner.Site) bool { return s.Kind != scanner.Call }),
			adjacent: count(r.Sites, func(s scanner.Site) bool { return s.Distance == 1 }),
			nearby:   count(r.Sites, func(s scanner.Site) bool { return s.Distance > 1 }),
			edges:    count(r.Sites, has(scanner.EdgeInWindow)),
			async:    count(r.Sites, has(scanner.AsyncCancel)),
			bridges:  count(r.Sites, isKind(scanner.Bridge)),
			calls:    count(r.Sites, isKind(scanner.Call)),
		}
		if got != want {
			t.Errorf("%s/%s: %+v, want %+v", want.suite, want.image, got, want)
		}
	}
}

// TestCorpusSeed counts the sites that the second seed counted on 2.43.
func TestCorpusSeed(t *testing.T) {
	var sites []scanner.Site
	for _, image := range []string{"libc.so.6", "ld-linux-aarch64.so.1"} {
		_, r := open(t, filepath.Join(corpus, "images/forky", image))
		sites = append(sites, r.Sites...)
	}
	accepted := func(is func(sysno.Call) bool) int {
		return count(sites, func(s scanner.Site) bool {
			c, _ := sysno.ByNumber(s.Number)
			return s.Kind == scanner.Svc && s.Verdict == scanner.Accept && is(c)
		})
	}
	for _, row := range []struct {
		what string
		want int
		is   func(sysno.Call) bool
	}{
		{"openat and newfstatat", 14, func(c sysno.Call) bool { return c.Name == "openat" || c.Name == "newfstatat" }},
		{"the 20 path calls", 45, func(c sysno.Call) bool { return c.Seed }},
		{"with faccessat2 and clone3", 47, func(c sysno.Call) bool {
			return c.Seed || c.Name == "faccessat2" || c.Name == "clone3"
		}},
	} {
		if got := accepted(row.is); got != row.want {
			t.Errorf("%s: %d sites, want %d", row.what, got, row.want)
		}
	}
}

// TestCorpusSvcWords compares the svc words with those objdump disassembles.
func TestCorpusSvcWords(t *testing.T) {
	line := regexp.MustCompile(`(?m)^ *([0-9a-f]+):\t[0-9a-f]{8} \tsvc\t#0x0$`)
	for _, k := range knownImages {
		out, err := exec.Command("aarch64-linux-gnu-objdump", "-d", k.file()).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want []uint64
		for _, m := range line.FindAllSubmatch(out, -1) {
			vaddr, _ := strconv.ParseUint(string(m[1]), 16, 64)
			want = append(want, vaddr)
		}
		_, r := open(t, k.file())
		var got []uint64
		for _, s := range r.Sites {
			if s.Kind != scanner.Call {
				got = append(got, s.Vaddr)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s/%s: svc words (-objdump +scan):\n%s", k.suite, k.image, diff)
		}
	}
}

// TestCorpusProven: every number in a window is proven, but for four futex calls of
// 2.31 and one clock_getres of musl. vfprintf and vfwprintf jump through tables of
// label differences that are added to a base kept on the stack; the others share
// their function with a br whose pointer comes from the stack. No relay wants any.
func TestCorpusProven(t *testing.T) {
	for _, k := range knownImages {
		_, r := open(t, k.file())
		var unproven []string
		for _, s := range r.Sites {
			if s.Distance > 0 && s.Flags&scanner.Proven == 0 || s.Reason == scanner.NumberConflict {
				unproven = append(unproven, sysno.Name(s.Number))
			}
		}
		var want []string
		switch {
		case k.suite == "bullseye" && k.image == "libc.so.6":
			want = []string{"futex", "futex", "futex", "futex"}
		case k.image == "ld-musl-aarch64.so.1":
			want = []string{"clock_getres"}
		}
		if diff := cmp.Diff(want, unproven); diff != "" {
			t.Errorf("%s/%s: unproven numbers (-want +got):\n%s", k.suite, k.image, diff)
		}
	}
}

// truth is the functions of the debug package, by build-ID.
func truth(t *testing.T, img *elfimg.Image) (funcs []elfimg.Func) {
	t.Helper()
	file := debugFile(img)
	debug, err := elfimg.New(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(debug.BuildID, img.BuildID) {
		t.Fatalf("%s: build-ID %x, want %x", file, debug.BuildID, img.BuildID)
	}
	for f := range debug.Funcs {
		funcs = append(funcs, f)
	}
	return funcs
}

// labelsOf is what nm lists in the debug package: labels too, not only functions.
func labelsOf(t *testing.T, img *elfimg.Image) map[string]uint64 {
	t.Helper()
	out, err := exec.Command("aarch64-linux-gnu-nm", debugFile(img)).Output()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]uint64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 {
			labels[f[2]], _ = strconv.ParseUint(f[0], 16, 64)
		}
	}
	return labels
}

func debugFile(img *elfimg.Image) string {
	return filepath.Join(corpus, "debug", hex.EncodeToString(img.BuildID)+".debug")
}

// TestCorpusFunctions: the name given to a site is one that the debug symbols
// have for it too.
func TestCorpusFunctions(t *testing.T) {
	for _, k := range knownImages {
		if strings.HasPrefix(k.image, "ld-musl") {
			continue // no debug package
		}
		img, r := open(t, k.file())
		funcs := truth(t, img)
		checked := 0
		for _, s := range r.Sites {
			if s.Function == "" {
				continue
			}
			checked++
			if !slices.ContainsFunc(funcs, func(f elfimg.Func) bool {
				return baseName(f.Name) == s.Function && f.Vaddr == s.Vaddr-s.Offset && s.Offset < f.Size
			}) {
				t.Errorf("%s/%s: 0x%x is in %s+0x%x, which the debug symbols do not know", k.suite, k.image, s.Vaddr, s.Function, s.Offset)
			}
		}
		if checked == 0 && k.image == "libc.so.6" {
			t.Errorf("%s/%s: no site has a function", k.suite, k.image)
		}
	}
}

// baseName drops a symbol's version.
func baseName(name string) string { name, _, _ = strings.Cut(name, "@"); return name }

// TestCorpusBridge: the range of the bridge is the one between the two labels
// that the cancellation handler compares with.
func TestCorpusBridge(t *testing.T) {
	for _, suite := range []string{"trixie", "forky"} {
		img, r := open(t, filepath.Join(corpus, "images", suite, "libc.so.6"))
		labels := labelsOf(t, img)
		i := slices.IndexFunc(r.Sites, has(scanner.BridgeEntry))
		if i < 0 {
			t.Errorf("%s: no bridge", suite)
			continue
		}
		b := r.Sites[i]
		for name, vaddr := range map[string]uint64{
			"__syscall_cancel_arch": b.Hook, "__syscall_cancel_arch_start": b.Start, "__syscall_cancel_arch_end": b.End,
		} {
			if labels[name] != vaddr {
				t.Errorf("%s: bridge has 0x%x for %s, nm 0x%x", suite, vaddr, name, labels[name])
			}
		}
	}
}

// TestCorpusCalls: the numbers of the calls that open a relay a way to 2.43's
// bridge, counted by hand in a disassembly: 34 by bl, 20 by a tail call, and 98 and
// 115 that call __internal_syscall_cancel itself.
func TestCorpusCalls(t *testing.T) {
	img, r := open(t, filepath.Join(corpus, "images/forky/libc.so.6"))
	var bl []int
	tail := 0
	for _, s := range r.Sites {
		if s.Kind != scanner.Call {
			continue
		}
		if s.Number == scanner.NoNumber || s.Flags&scanner.ViaBridge == 0 {
			t.Errorf("call 0x%x: number %d, flags %v", s.Vaddr, s.Number, s.Flags)
		}
		switch w, _ := img.Word(s.Vaddr); w >> 26 {
		case 0x25:
			bl = append(bl, s.Number)
		case 0x05:
			tail++
		}
	}
	slices.Sort(bl)
	want := []int{22, 25, 29, 47, 56, 56, 57, 72, 72, 72, 73, 73, 73, 82, 83, 84, 95, 98, 115, 133, 137, 182, 189, 202, 203, 212,
		227, 242, 243, 260, 265, 269, 286, 287, 437, 441}
	if diff := cmp.Diff(want, bl); diff != "" || tail != 20 {
		t.Errorf("%d tail calls, want 20; numbers by bl (-want +got):\n%s", tail, diff)
	}
}

// TestCorpusLive: no accepted site keeps the flags, x16 or x17, which relays use.
func TestCorpusLive(t *testing.T) {
	const scratch = 1<<16 | 1<<17 | 1<<31
	for _, k := range knownImages {
		_, r := open(t, k.file())
		for _, s := range r.Sites {
			if s.Verdict == scanner.Accept && s.Live&scratch != 0 {
				t.Errorf("%s/%s: svc 0x%x in %s keeps 0x%x", k.suite, k.image, s.Vaddr, s.Function, uint32(s.Live)&scratch)
			}
		}
	}
}
