package guestfs

import (
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

// randomMem makes a host in memory and binds for it.
func randomMem(t testing.TB, seed uint64) (*memFS, Config) {
	rnd := rand.New(rand.NewPCG(seed, 11))
	name := func() string { return pick(rnd, []string{"a", "b", "c", "d"}) }
	path := func() string {
		p := ""
		for range 1 + rnd.IntN(4) {
			p += "/" + name()
		}
		return p
	}
	text := func() string {
		p := strings.Repeat("/../"+name(), rnd.IntN(2)) + path() + pick(rnd, []string{"", "", "/", "/.", "/.."})
		return p[rnd.IntN(2):]
	}
	m := newMem(t, "/r/", "/x/", "/y/")
	made := map[string][]string{}
	for _, root := range []string{"/r", "/x", "/y"} {
		for range 8 {
			dir := root + path()
			if blocked(m, dir) {
				continue
			}
			m.add(dir + pick(rnd, []string{"", "/", "/", " -> " + text(), " -> " + text()}))
			made[root] = append(made[root], dir)
		}
	}
	c := Config{Root: "/r", FS: m}
	for i := range rnd.IntN(4) {
		host := pick(rnd, []string{"/r", "/x", "/y", "/x", "/y", pick(rnd, made["/x"]), pick(rnd, made["/r"])})
		guest := pick(rnd, made["/r"])[len("/r"):]
		if i > 0 && rnd.IntN(2) == 0 {
			guest = c.Binds[i-1].Guest + pick(rnd, made["/x"])[len("/x"):]
		}
		c.Binds = append(c.Binds, Bind{Host: host, Guest: guest, Literal: true})
	}
	return m, c
}

// blocked reports whether something that is no directory is in the way of a path.
func blocked(m *memFS, path string) bool {
	at := m.root
	for part := range strings.SplitSeq(path[1:], "/") {
		if at.in == nil {
			return true
		}
		if at = at.in[part]; at == nil {
			return false
		}
	}
	return true
}

// FuzzResolve compares with the model: the same error, or the same node.
func FuzzResolve(f *testing.F) {
	for i, path := range []string{"/a/b/../c/", "a/./b//", "/d/a/..", "/../b/c/a", "/c/", "//", strings.Repeat("a/", 100) + "..", "/a/" + strings.Repeat("n", 256) + "/b"} {
		f.Add(uint64(i), path, byte(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, path string, how byte) {
		if strings.Contains(path, "\x00") || len(path) == 0 || len(path) >= PathMax {
			return
		}
		m, c := randomMem(t, seed)
		fuzzResolve(t, m, c, path, Flags(how)&(Follow|Walk))
	})
}

func fuzzResolve(t *testing.T, m *memFS, c Config, path string, how Flags) {
	truth, ok := newModel(m, c)
	if !ok {
		return
	}
	want, wantErrno := truth.walk(truth.root, path, how&Follow != 0)
	for _, fs := range []FS{m, provingFS{m}} {
		c.FS = fs
		r, err := New(c)
		if err != nil {
			t.Fatalf("New(%+v) = %v, want nil: it can be mounted", c, err)
		}
		var res Result
		errno := r.Resolve(&res, Caller{}, Base{Host: []byte("/r")}, []byte(path), how)
		var got *node
		if errno == 0 {
			got, errno = m.find(terminated(res.Host))
		}
		if errno != wantErrno || errno == 0 && got != want.node {
			t.Fatalf("Resolve(%q, %d) = %q as %q, %v, want %v (binds %+v)", path, how, res.Host, res.Guest, errno, wantErrno, c.Binds)
		}
		if errno == 0 {
			checkBack(t, r, m, &res)
		}
		checkDirect(t, r, m, path, how, want.node, wantErrno)
	}
}

// checkDirect asks for the path without a look. Where the host path meets no
// symlink it must be the right one.
func checkDirect(t *testing.T, r *Resolver, m *memFS, path string, how Flags, want *node, wantErrno syscall.Errno) {
	var res Result
	if !r.Direct(&res, Caller{}, Base{Host: []byte("/r")}, []byte(path), how) {
		return
	}
	proof := string(res.Host)
	if how&Follow == 0 && !strings.HasSuffix(proof, "/") {
		proof = proof[:strings.LastIndexByte(proof, '/')]
	}
	if !(provingFS{m}).Plain([]byte(proof)) {
		return
	}
	if got, errno := m.lookup(res.Host); errno != wantErrno || errno == 0 && got != want {
		t.Fatalf("Direct(%q, %d) = %q, %v, want %v", path, how, res.Host, errno, wantErrno)
	}
}

// checkBack resolves the guest path of a result again, and the one of its host path.
func checkBack(t *testing.T, r *Resolver, m *memFS, res *Result) {
	host := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(string(res.Host), "/"), "/."), "/")
	for _, via := range []Via{res.Via, 0} {
		guest, _, err := r.Guest(nil, []byte(host+"/"), Caller{}, via)
		if err != nil || via != 0 && string(guest) != string(res.Guest) {
			t.Fatalf("Guest(%q via %d) = %q, %v, want %q", host, via, guest, err, res.Guest)
		}
		var again Result
		if errno := r.Resolve(&again, Caller{}, Base{}, guest, 0); errno != 0 || strings.TrimRight(string(again.Host), "/") != host {
			t.Fatalf("Resolve(%q) = %q, %v, want %q", guest, again.Host, errno, host)
		}
	}
}

// TestModel is the fuzz target over paths that meet the trees more often.
func TestModel(t *testing.T) {
	usable := 0
	for seed := range uint64(6000) {
		m, c := randomMem(t, seed)
		if _, ok := newModel(m, c); ok && len(c.Binds) > 0 {
			usable++
		}
		rnd := rand.New(rand.NewPCG(seed, 5))
		for range 20 {
			path := ""
			for range 1 + rnd.IntN(6) {
				path += pick(rnd, []string{"a", "b", "c", "d", "a", "b", "c", "d", ".", "..", ""}) + "/"
			}
			path = path[:len(path)-rnd.IntN(2)]
			if path == "" {
				continue
			}
			if rnd.IntN(2) == 0 {
				path = "/" + path
			}
			fuzzResolve(t, m, c, path, Flags(rnd.IntN(2)))
		}
	}
	if usable < 500 {
		t.Errorf("only %d trees of 6000 had binds", usable)
	}
}

// FuzzGuest gives any text and any base: nothing may panic, and what resolves must
// not hold what a kernel would follow.
func FuzzGuest(f *testing.F) {
	f.Add("/r/a (deleted)", "../x", uint16(Follow), uint64(1))
	f.Add("/proc/7/fd/3", "../../self/exe", uint16(0), uint64(2))
	f.Add("/", "/proc/thread-self/root/..", uint16(Parent), uint64(3))
	f.Add("pipe:[1]", "/proc/7/fd/3/x", uint16(InRoot|Follow), uint64(3))
	f.Add("/proc/7/fd", "4/0", uint16(3), uint64(18))
	f.Add("/r/a", "0", uint16(74), uint64(18))
	f.Fuzz(func(t *testing.T, base, path string, how uint16, seed uint64) {
		if strings.Contains(base+path, "\x00") || len(base) > 3*PathMax {
			return
		}
		m, c := randomMem(t, seed)
		if through(m, base) {
			return // no kernel names a directory so
		}
		for _, line := range []string{"/proc/self -> 1", "/proc/7/exe -> /loader", "/proc/7/cwd -> /r/a", "/proc/7/root -> /", "/proc/7/fd/3 -> /x", "/r/e/", "/proc/7/fd/4 -> /r/e/b (deleted)"} {
			m.add(line)
		}
		c.Binds = []Bind{{Host: "/proc", Guest: "/proc"}, {Host: "/proc/self/fd", Guest: "/dev/fd"}, {Host: "/x", Guest: "/a/x"}}
		c.Procs = tracedSeven{}
		r, err := New(c)
		if errors.Is(err, ErrBind) {
			return // a file is in the way
		}
		if err != nil {
			t.Fatal(err)
		}
		who := Caller{Tgid: 7, Tid: 7}
		from := Base{Host: []byte(base), Link: terminated([]byte("/proc/7/fd/4"))}
		var res Result
		if r.Resolve(&res, who, from, []byte(path), Flags(how)&0x1ff) == 0 {
			checkHost(t, m, &res)
		}
		if guest, _, err := r.Guest(nil, []byte(base), who, Via(seed)); (err == nil) != (len(guest) > 0) {
			t.Fatalf("Guest(%q) = %q, %v, want one of them", base, guest, err)
		}
	})
}

// through reports whether a host path leads through a symlink, its end included.
func through(m *memFS, host string) bool {
	n, errno := m.lookup([]byte(strings.TrimRight(host, "/")))
	return errno == syscall.ELOOP || errno == 0 && isLink(n.mode)
}

// checkHost finds an escape: a symlink before the last component, or a place that
// is neither in the root nor in a bind.
func checkHost(t *testing.T, m *memFS, res *Result) {
	host := strings.TrimRight(string(res.Host), "/")
	if res.Last == Root {
		return
	}
	if res.Link == NotProc && res.Last == Name {
		_, _ = m.find(terminated([]byte(host)))
	}
	for _, allowed := range []string{"/r", "/x", "/proc", "/kept"} {
		if within(host, allowed) {
			return
		}
	}
	t.Fatalf("Resolve() = %q as %q, which is outside", res.Host, res.Guest)
}

// tracedSeven is a guest with one process.
type tracedSeven struct{}

func (tracedSeven) Traced(tid int) bool { return tid == 7 }

func (tracedSeven) Link(t *Target, who Caller, tid int, link Link) bool {
	guest := map[Link]string{Exe: "/a/b/prog", ProcRoot: "/"}[link]
	if tid != 7 || guest == "" {
		return false
	}
	t.Guest, t.Host = append(t.Guest[:0], guest...), t.Host[:0]
	return true
}
