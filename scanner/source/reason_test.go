package source

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReasons has every reason, from bytes or a directory that produce it, with
// the line that is printed.
func TestReasons(t *testing.T) {
	libc := file("libc.so.6", elf("c"))
	second := tarOf(t, file("a", "a"), file("b", "b"))
	copy(second[2*tarBlock+148:], "7777777")
	lim := defaultLimits
	lim.problems, lim.names, lim.depth, lim.bombFloor = 2, 2000, 1, 4096
	follow := defaultLimits
	follow.steps = 20000
	header := func(size string) []byte {
		return append(rawHeader("a", tar.TypeReg, size, nil), tarOf(t, libc)...)
	}
	var many []entry
	for range 20 {
		many = append(many, symlink(strings.Repeat("x", 90), "y"))
	}
	mangled := func(at int, to string) []byte {
		d := debOf("data.tar", tarOf(t, libc))
		copy(d[at:], to)
		return d
	}
	var covered [numReasons]bool
	check := func(want Reason, errs []error, line string) {
		t.Helper()
		covered[checkError(t, want, errs, line)] = true
	}
	for _, c := range []struct {
		want Reason
		data []byte
		opt  Options
		line string
	}{
		{UnknownFormat, nil, Options{}, "src: offset 0x0: not an ELF file, a directory, a tar or a .deb: 0x0 bytes, no tar header"},
		{UnknownFormat, []byte(strings.Repeat("text ", 200)), Options{}, "0x3e8 bytes, no tar header"},
		{UnknownFormat, ar("x.o/", "abc"), Options{}, `src: offset 0x8: not an ELF file, a directory, a tar or a .deb: an ar archive that is no .deb, it begins with "x.o"`},
		{UnknownFormat, debOf("data.tar.bz2", []byte("BZh91AY")), Options{}, "src: offset 0xca: not an ELF file, a directory, a tar or a .deb: bzip2 is not supported"},
		{UnknownFormat, []byte("PK\x03\x04" + strings.Repeat("x", 600)), Options{}, "a tar or a .deb: zip is not supported"},
		{UnknownFormat, gzipOf(t, []byte("text")), Options{}, "no tar header"},
		{BadGlob, tarOf(t, libc), Options{Globs: []string{"[a"}}, `src: offset 0x0: malformed glob: "[a"`},
		{BadGlob, tarOf(t, libc), Options{Globs: []string{"/"}}, `src: offset 0x0: malformed glob: ""`},
		{NotRegular, tarOf(t, entry{name: "libc.so.6", kind: tar.TypeChar}), Options{}, "src: libc.so.6: offset 0x200: not a regular file: it is a device"},
		{NotELF, tarOf(t, file("libc.so.6", "#!")), Options{}, "src: libc.so.6: offset 0x200: not an ELF file"},
		{NotELF, debOf("data.tar", tarOf(t, file("libc.so.6", "#!"))), Options{}, "src: libc.so.6: offset 0x2ca: not an ELF file"},
		{TooBig, tarOf(t, libc), Options{MaxImage: 9}, "src: libc.so.6: offset 0x200: image too big: 0x25d bytes, the limit is 0x9"},
		{TooBig, []byte(elf("c")), Options{MaxImage: 9}, "src: offset 0x0: image too big"},
		{BadName, tarOf(t, file("../x", "")), Options{}, `src: ../x: offset 0x200: refused member name: ".." inside`},
		{BadName, tarOf(t, symlink("x", strings.Repeat("y", 4097))), Options{}, "a link target of 0x1001 bytes"},
		{LinkEscapes, tarOf(t, symlink("lib/libc.so.6", "../../x")), Options{}, `src: lib/libc.so.6: offset 0x200: link leads outside the source: by way of "lib/libc.so.6"`},
		{LinkEscapes, tarOf(t, hardlink("libc.so.6", "/etc/shadow")), Options{}, `hard link to "/etc/shadow": absolute`},
		{LinkLoop, tarOf(t, symlink("libc.so.6", "libc.so.6")), Options{}, `src: libc.so.6: offset 0x200: too many links: at "libc.so.6"`},
		{Dangling, tarOf(t, symlink("libc.so.6", "x")), Options{}, `src: libc.so.6: offset 0x200: link target is not in the source: "x"`},
		{TooManyNames, tarOf(t, many...), Options{}, "src: offset 0x0: too many names: 0x"},
		{TooManyProblems, tarOf(t, file("../a", ""), file("../b", ""), file("../c", "")), Options{}, "src: ../c: offset 0x600: too many bad members: more than 2"},
		{Truncated, tarOf(t, libc)[:700], Options{}, "src: libc.so.6: offset 0x200: truncated: unexpected EOF"},
		{Truncated, header(octal(1 << 20)), Options{}, "truncated"},
		{Truncated, header("\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff"), Options{}, "truncated"},
		{Truncated, mangled(56, "999999999 "), Options{}, `src: offset 0x8: truncated: member "debian-binary" has 0x3b9ac9ff bytes`},
		{Truncated, debOf("data.tar", nil)[:100], Options{}, "src: offset 0x48: truncated: 0x1c bytes left for an ar header"},
		{Corrupt, second, Options{}, "corrupt: archive/tar: invalid tar header"},
		{Corrupt, header("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), Options{}, "corrupt: archive/tar: invalid tar header"},
		{Corrupt, append([]byte("\x1f\x8b"), make([]byte, 20)...), Options{}, "corrupt: gzip: invalid header"},
		{Unsupported, xzParts{filter: []byte{10, 0, 0}, body: []byte("x")}.bytes(), Options{}, "not supported: xz: filter 0xa"},
		{WindowTooBig, xzParts{filter: lzma2(40), body: []byte("x")}.bytes(), Options{}, "xz: a dictionary of 0xffffffff bytes, the limit is 0x8000000"},
		{WindowTooBig, zstdRaw(20, []byte("x"), 0), Options{}, "decompression window too big"},
		{Bomb, zstdRaw(10, append(rawHeader("a", '0', octal(1<<20), nil), make([]byte, 512)...), 1<<20), Options{}, "unpacks to far more than its size justifies: 0x"},
		{BadAr, mangled(66, "??"), Options{}, `src: offset 0x8: bad ar header: it ends in "??"`},
		{BadAr, mangled(56, "-4        "), Options{}, `src: offset 0x8: bad ar header: size "-4"`},
		{BadAr, mangled(56, "0x4       "), Options{}, `bad ar header: size "0x4"`},
		{BadAr, mangled(56, "          "), Options{}, `bad ar header: size ""`},
		{NoData, ar("debian-binary", "2.0\n"), Options{}, "src: offset 0x48: no data.tar member"},
	} {
		r, err := walkBytes(c.data, c.opt, lim)
		check(c.want, append(r.problems, err), c.line)
	}
	for _, c := range []struct {
		want Reason
		link entry
		line string
	}{
		{TooFar, symlink("libc.so.6", strings.Repeat("./", 2046)+"l"), `src: libc.so.6: offset 0x1600: too many components to follow: more than 4096 by way of "libc.so.6"`},
		{TooManySteps, symlink("libc.so.6", strings.Repeat("a/", 2000)), "src: libc.so.6: offset 0x1400: too many steps to follow its links: 0x4e"},
	} {
		r, err := walkBytes(tarOf(t, c.link, symlink("l", strings.Repeat("./", 2048))), Options{}, follow)
		check(c.want, append(r.problems, err), c.line)
	}
	for _, c := range []struct {
		want Reason
		tree []string
		line string
	}{
		{TooDeep, []string{"a/b/x"}, ": a/b: offset 0x0: directories nested too deep: 2 levels"},
		{NotRegular, []string{"libc.so.6|"}, ": libc.so.6: not a regular file: it is a pipe"},
		{Dangling, []string{"libc.so.6 -> x"}, ": libc.so.6: offset 0x0: link target is not in the source: no such file or directory"},
	} {
		err := walk(t.Context(), tree(t, c.tree...), Options{}, lim, func(Image) error { return nil })
		check(c.want, []error{err}, c.line)
	}
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := walkName(pipe, Options{})
	check(NotRegular, []error{err}, "pipe: not a regular file: it is a pipe")
	_, err = Detect(filepath.Join(dir, "none"))
	check(Unreadable, []error{err}, "none: cannot be read: no such file or directory")
	for r := Unreadable; r < numReasons; r++ {
		if !covered[r] {
			t.Errorf("no source here produces %q", r)
		}
	}
}

// checkError compares the last error that is not nil, and returns its reason.
func checkError(t *testing.T, want Reason, errs []error, line string) Reason {
	t.Helper()
	var e *Error
	for _, err := range errs {
		errors.As(err, &e)
	}
	if e == nil {
		t.Errorf("%v: errors %v, want an *Error", want, errs)
		return 0
	}
	if e.Reason != want {
		t.Errorf("%v, want reason %q", e, want)
	}
	if !strings.Contains(e.Error(), line) {
		t.Errorf("error prints as\n%s\nwant in it\n%s", e, line)
	}
	return e.Reason
}

func TestNamesLimitInDirectory(t *testing.T) {
	lim := defaultLimits
	for _, c := range []struct {
		names int64
		want  string
	}{{1000, ""}, {100, TooManyNames.String() + ": lib"}} {
		lim.names = c.names
		err := walk(t.Context(), tree(t, "lib/libc.so.6", "lib/librt.so.1"), Options{OnError: func(error) {}}, lim, func(Image) error { return nil })
		if got := show(err); got != c.want {
			t.Errorf("walk within %d bytes of names = %q, want %q", c.names, got, c.want)
		}
	}
}

func TestNamesLimitInTar(t *testing.T) {
	var all []entry
	for i := range 8 {
		all = append(all, file(string(rune('a'+i))+"/libc.so.6", elf(string(rune('a'+i)))))
	}
	lim := defaultLimits
	for _, c := range []struct {
		names  int64
		images int
	}{{74, 0}, {170, 0}, {171, 1}, {341, 1}, {342, 2}, {10000, 8}} {
		lim.names = c.names
		r, err := walkBytes(tarOf(t, all...), Options{}, lim)
		if len(r.images) != c.images || (err == nil) != (c.images == 8) || err != nil && reasonOf(err) != TooManyNames {
			t.Errorf("walk within %d bytes of names: %d images, %v, want %d", c.names, len(r.images), err, c.images)
		}
	}
}

// TestArSize has a data member of one byte less, as many, and one more than the
// file has room for.
func TestArSize(t *testing.T) {
	for _, c := range []struct {
		size string
		ok   bool
	}{{"99", true}, {"100", true}, {"101", false}} {
		data := append([]byte(arHeaderOf("data.tar", c.size)), make([]byte, 100)...)
		m, err := readArMember(bytes.NewReader(data), 0, int64(len(data)))
		if (err == nil) != c.ok || err != nil && reasonOf(err) != Truncated {
			t.Errorf("readArMember with size %s = %+v, %v, want ok %v", c.size, m, err, c.ok)
		}
	}
}

// TestErrorLine: nothing from a source can break the line or reach a terminal.
func TestErrorLine(t *testing.T) {
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{&Error{Source: "s", Member: "m", Offset: 31, Reason: Corrupt, Err: errors.New("why")}, "s: m: offset 0x1f: corrupt: why"},
		{&Error{Source: "s", Reason: NoData}, "s: offset 0x0: no data.tar member"},
		{&Error{Source: "s", Member: "a\nb\x1b[2J", Reason: NotELF}, `s: "a\nb\x1b[2J": offset 0x0: not an ELF file`},
		{&Error{Source: "é/ü", Member: "\xff", Reason: NotELF}, `é/ü: "\xff": offset 0x0: not an ELF file`},
		{&Error{Source: "s", Member: strings.Repeat("m", 201), Reason: NotELF}, "s: " + strings.Repeat("m", 200) + "...: offset 0x0: not an ELF file"},
		{&Error{Source: "s", Reason: Unreadable, Err: &fs.PathError{Op: "open", Path: "p\nq", Err: syscall.EACCES}}, "s: cannot be read: permission denied"},
		{&Error{Source: "s", Reason: numReasons, Err: errors.New("a\nb")}, `s: offset 0x0: reason 23: "a\nb"`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("Error() = %s\nwant      %s", got, c.want)
		}
	}
	inner := errors.New("x")
	if !errors.Is(&Error{Err: inner}, inner) {
		t.Error("Unwrap does not give the detail")
	}
}

func TestReasonTexts(t *testing.T) {
	seen := map[string]bool{}
	for r := Unreadable; r < numReasons; r++ {
		if s := r.String(); s == "" || seen[s] {
			t.Errorf("reason %d prints as %q", r, s)
		} else {
			seen[s] = true
		}
	}
	for k, want := range map[Kind]string{File: "file", Dir: "directory", Tar: "tar", Deb: "deb", 9: "kind 9"} {
		if got := k.String(); got != want {
			t.Errorf("Kind(%d).String() = %q, want %q", k, got, want)
		}
	}
	for m, want := range map[fs.FileMode]string{fs.ModeDir: "a directory", fs.ModeSymlink: "a symlink", fs.ModeNamedPipe: "a pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device"} {
		if got := modeName(m); got != want {
			t.Errorf("modeName(%v) = %q, want %q", m, got, want)
		}
	}
}

func TestTarHeader(t *testing.T) {
	good := rawHeader("x\xff\xfe", '0', octal(0), nil)
	signed := bytes.Clone(good)
	sum := 0
	copy(signed[148:], "        ")
	for _, b := range signed {
		sum += int(int8(b))
	}
	copy(signed[148:], octal(sum)[5:])
	bad := bytes.Clone(good)
	bad[0]++
	one := make([]byte, tarBlock)
	one[511] = 1
	for _, c := range []struct {
		name  string
		block []byte
		want  bool
	}{{"good", good, true}, {"signed sum", signed, true}, {"bad", bad, false}, {"zeros", make([]byte, tarBlock), true}, {"nearly zeros", one, false}} {
		if got := isTarHeader(c.block); got != c.want {
			t.Errorf("isTarHeader(%s) = %v, want %v", c.name, got, c.want)
		}
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	if err := os.WriteFile(name, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := Detect(name); k != 0 || show(err) != UnknownFormat.String()+":" {
		t.Errorf("Detect of a bad header = %v, %v", k, err)
	}
}
