package tracer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// address is AF_UNIX and the bytes behind it.
func address(sunPath string) []byte { return append([]byte{afUnix, 0}, sunPath...) }

func TestUnixPath(t *testing.T) {
	x := strings.Repeat
	for _, tt := range []struct {
		addr string
		want string // "-": no path
	}{
		{"", "-"},
		{"\x01", "-"},
		{"\x01\x00", "-"}, // the kernel chooses an abstract name
		{"\x01\x00a", "a"},
		{"\x01\x00a\x00", "a"},
		{"\x01\x00a\x00b", "a"},
		{"\x01\x00\x00a", "-"}, // abstract
		{"\x01\x00\x00", "-"},
		{"\x00\x00a", "-"}, // AF_UNSPEC
		{"\x02\x00a", "-"},
		{"\x01\x01a", "-"},
		{"\x01\x00" + x("p", 107), x("p", 107)},
		{"\x01\x00" + x("p", 107) + "\x00", x("p", 107)},
		{"\x01\x00" + x("p", 108), x("p", 108)},
		{"\x01\x00" + x("p", 108) + "\x00", "-"}, // longer than struct sockaddr_un
		{"\x01\x00" + x("p", 109), "-"},
		{"\x01\x00p" + x("\x00", 107), "p"},
		{"\x01\x00p" + x("\x00", 108), "-"},
		{"\x01\x00" + x("p", 126), "-"},
	} {
		path, ok := unixPath([]byte(tt.addr))
		if got := string(path); ok != (tt.want != "-") || ok && got != tt.want {
			t.Errorf("unixPath(%q) = %q, %t, want %q", tt.addr, got, ok, tt.want)
		}
	}
}

// TestPutUnix: the kernel reports the NUL, also where it is the 111th byte of a
// structure of 110.
func TestPutUnix(t *testing.T) {
	for _, n := range []int{1, 2, 106, 107, 108} {
		path := strings.Repeat("p", n)
		var buf [sockaddrMax]byte
		copy(buf[:], bytes.Repeat([]byte{0xaa}, len(buf)))
		got := putUnix(&buf, []byte(path))
		if want := sunPath + n + 1; got != want || !bytes.Equal(buf[:got], append(address(path), 0)) {
			t.Errorf("putUnix of %d bytes = %d, %q, want %d", n, got, buf[:got], want)
		}
		if buf[got] != 0xaa {
			t.Errorf("putUnix of %d bytes wrote behind its end", n)
		}
		if back, ok := reportedPath(buf[:got]); !ok || string(back) != path {
			t.Errorf("reportedPath of %d bytes = %q, %t, want the path", n, back, ok)
		}
		if given, ok := unixPath(buf[:min(got, unixMax)]); !ok || string(given) != path {
			t.Errorf("what the kernel is given of %d bytes: %q, %t, want the path", n, given, ok)
		}
	}
}

func FuzzUnixPath(f *testing.F) {
	f.Add([]byte("\x01\x00path\x00more"))
	f.Add(address(strings.Repeat("p", 108)))
	f.Fuzz(func(t *testing.T, addr []byte) {
		path, ok := unixPath(addr)
		if !ok {
			return
		}
		var buf [sockaddrMax]byte
		n := putUnix(&buf, path)
		if back, ok := reportedPath(buf[:n]); !ok || !bytes.Equal(back, path) || bytes.IndexByte(path, 0) >= 0 {
			t.Errorf("%q: path %q comes back as %q, %t", addr, path, back, ok)
		}
	})
}

func TestIsAlias(t *testing.T) {
	for _, tt := range []struct {
		dir  string
		want bool
	}{
		{"/tmp/svcrelay-0-1234/5", true},
		{"/data/user/0/tmp/svcrelay-10123-1/17", true},
		{"svcrelay-1/17", true},
		{"/tmp/svcrelay-1234/", false},
		{"/tmp/svcrelay-1234", false},
		{"/tmp/svcrelay-1234/5x", false},
		{"/tmp/svcrelay-1234/loader", false},
		{"/tmp/other/5", false},
		{"/5", false},
		{"5", false},
		{"", false},
	} {
		if got := isAlias([]byte(tt.dir)); got != tt.want {
			t.Errorf("isAlias(%q) = %t, want %t", tt.dir, got, tt.want)
		}
	}
}

func TestSpelled(t *testing.T) {
	var s spelled
	host := func(i int) []byte { return fmt.Appendf(nil, "/host/%d", i) }
	for i := range 3 * maxSpelled {
		s.remember(host(i), fmt.Appendf(nil, "//%d", i))
		s.remember(host(i), fmt.Appendf(nil, "/./%d", i)) // bound again, another way
		if i%3 == 0 {
			s.forget(host(i))
		}
		if i%3 == 1 && i%2 == 0 { // forgotten and remembered
			s.forget(host(i))
			s.remember(host(i), fmt.Appendf(nil, "/./%d", i))
		}
	}
	if len(s.by) > maxSpelled || len(s.order) > maxSpelled {
		t.Errorf("%d names in a ring of %d, want %d at most", len(s.by), len(s.order), maxSpelled)
	}
	last := 3*maxSpelled - 1
	if text := s.by[string(host(last))]; text != fmt.Sprintf("/./%d", last) {
		t.Errorf("the last name is %q", text)
	}
	if text := s.text(host(last - 2)); text != "" {
		t.Errorf("a forgotten name is %q", text)
	}
	if text := s.text(host(1)); text != "" {
		t.Errorf("the oldest name is %q, want it pushed out", text)
	}
}

// TestSocketNamesAllocateNothing: what a stop does with text.
func TestSocketNamesAllocateNothing(t *testing.T) {
	var s spelled
	var buf [sockaddrMax]byte
	s.remember([]byte("/host/a"), []byte("//a"))
	known, other, dir := []byte("/host/a"), []byte("/host/b"), []byte("/tmp/svcrelay-0-1/345")
	if n := testing.AllocsPerRun(100, func() {
		path, _ := reportedPath(buf[:putUnix(&buf, known)])
		if s.text(path) == "" || s.text(other) != "" || !isAlias(dir) {
			t.Error("names are wrong")
		}
		s.remember(known, []byte("//a"))
		s.forget(other)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
