// A file system in memory that knows what a Resolver must not do: hand over a host
// path with a symlink in front of its last component, or without a NUL behind it.
package guestfs

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
)

type node struct {
	mode   uint32
	text   string // of a symlink
	in     map[string]*node
	parent *node

	noSearch, noLook, gone bool
}

func newDir(parent *node) *node {
	return &node{mode: typeDir | 0o755, in: map[string]*node{}, parent: parent}
}

// memFS is the host.
type memFS struct {
	t    testing.TB
	root *node
	// calls counts looks.
	calls int
}

// newMem builds a host: "dir/", "file", "link -> text"; flags come after a blank.
func newMem(t testing.TB, lines ...string) *memFS {
	m := &memFS{t: t, root: newDir(nil)}
	m.root.parent = m.root
	for _, line := range lines {
		m.add(line)
	}
	return m
}

func (m *memFS) add(line string) *node {
	name, text, link := strings.Cut(line, " -> ")
	name, flags, _ := strings.Cut(name, " ")
	at := m.root
	parts := strings.Split(strings.Trim(name, "/"), "/")
	for i, part := range parts {
		next := at.in[part]
		if next == nil {
			next = newDir(at)
			at.in[part] = next
			if i == len(parts)-1 && !strings.HasSuffix(name, "/") {
				next.mode, next.in = syscall.S_IFREG|0o644, nil
			}
		}
		at = next
	}
	if link {
		at.mode, at.text, at.in = typeLink|0o777, text, nil
	}
	if strings.Contains(flags, "nosearch") {
		at.noSearch, at.mode = true, typeDir|0o644
	}
	at.noLook = strings.Contains(flags, "nolook")
	return at
}

// find walks a host path that must hold no symlink before its end.
func (m *memFS) find(host []byte) (*node, syscall.Errno) {
	if len(host) == 0 || host[0] != '/' || cap(host) == len(host) || host[:len(host)+1][len(host)] != 0 {
		m.t.Errorf("host path %q is not absolute or has no NUL behind it", host)
		return nil, syscall.EFAULT
	}
	n, errno := m.lookup(host)
	switch {
	case errno == syscall.ELOOP && bytes.HasPrefix(host, []byte("/proc/")):
		return nil, syscall.ENOENT // the kernel would follow
	case errno == syscall.ELOOP:
		m.t.Errorf("host path %q leads through a symlink", host)
	}
	return n, errno
}

// lookup follows nothing: a symlink before the end is ELOOP.
func (m *memFS) lookup(host []byte) (*node, syscall.Errno) {
	at := m.root
	for len(host) > 0 {
		host = host[slashes(host):]
		if isLink(at.mode) && at.gone {
			at = newDir(nil) // the kernel follows a link of procfs
		}
		switch {
		case len(host) > 0 && isLink(at.mode):
			return nil, syscall.ELOOP
		case !isDir(at.mode):
			return nil, syscall.ENOTDIR
		case len(host) == 0:
			return at, 0
		}
		name := host
		if n := bytes.IndexByte(host, '/'); n >= 0 {
			name = host[:n]
		}
		host = host[len(name):]
		var errno syscall.Errno
		if at, errno = at.child(name); errno != 0 {
			return nil, errno
		}
	}
	return at, 0
}

func (n *node) child(name []byte) (*node, syscall.Errno) {
	switch {
	case !isDir(n.mode):
		return nil, syscall.ENOTDIR
	case n.noSearch:
		return nil, syscall.EACCES
	case string(name) == ".":
		return n, 0
	case string(name) == "..":
		return n.parent, 0
	case len(name) > 255:
		return nil, syscall.ENAMETOOLONG
	}
	if c := n.in[string(name)]; c != nil {
		return c, 0
	}
	return nil, syscall.ENOENT
}

func (m *memFS) Lstat(host []byte) (uint32, syscall.Errno) {
	m.calls++
	n, errno := m.find(host)
	switch {
	case errno != 0:
		return 0, errno
	case n.noLook:
		return 0, syscall.EACCES
	}
	return n.mode, 0
}

func (m *memFS) Readlink(host, buf []byte) (int, syscall.Errno) {
	m.calls++
	n, errno := m.find(host)
	switch {
	case errno != 0:
		return 0, errno
	case !isLink(n.mode):
		return 0, syscall.EINVAL
	case n.noLook:
		return 0, syscall.EACCES
	}
	return copy(buf, n.text), 0
}

func (m *memFS) Deleted(host []byte) bool {
	n, errno := m.find(host)
	return errno == 0 && n.gone
}

// provingFS proves what it can.
type provingFS struct{ *memFS }

func (p provingFS) Plain(host []byte) bool {
	p.calls++
	at := p.root
	for part := range strings.SplitSeq(strings.Trim(string(host), "/"), "/") {
		next, errno := at.child([]byte(part))
		if errno != 0 {
			return true
		}
		if isLink(next.mode) {
			return false
		}
		at = next
	}
	return true
}

func mustNew(t testing.TB, c Config) *Resolver {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
