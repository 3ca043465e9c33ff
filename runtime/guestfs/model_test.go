// A second resolver, as unlike the first as can be: it walks a graph of nodes and
// mounts as the kernel does, recursively, and knows no host path.
package guestfs

import (
	"strings"
	"syscall"
)

// A place is a node as seen in one mount.
type place struct {
	mount *mount
	node  *node
}

type mount struct {
	root    *node
	over    place // where it sits
	covered map[*node]*mount
}

// A model is a guest made of mounts.
type model struct {
	root  place
	links int
}

// newModel mounts each bind at a node that must exist, outer ones first.
func newModel(host *memFS, c Config) (*model, bool) {
	find := func(path string) *node {
		n, errno := host.lookup([]byte(path))
		if errno != 0 {
			return nil
		}
		return n
	}
	top := &mount{root: find(c.Root), covered: map[*node]*mount{}}
	m := &model{root: place{top, top.root}}
	for _, i := range byDepth(c.Binds) {
		at, errno := m.walk(m.root, c.Binds[i].Guest, false)
		if errno != 0 || at == m.root || at.node == at.mount.root {
			return nil, false
		}
		src := find(c.Binds[i].Host)
		if src == nil || isDir(src.mode) != isDir(at.node.mode) || isLink(src.mode) {
			return nil, false
		}
		at.mount.covered[at.node] = &mount{root: src, over: at, covered: map[*node]*mount{}}
	}
	return m, true
}

// up leaves a mount at its root and stays at the guest's.
func (m *model) up(at place) place {
	for at.node == at.mount.root {
		if at == m.root {
			return at
		}
		at = at.mount.over
	}
	return place{at.mount, at.node.parent}
}

// into takes what is mounted on a place.
func (at place) into() place {
	if over := at.mount.covered[at.node]; over != nil {
		return place{over, over.root}
	}
	return at
}

// walk resolves a path, and its last component if follow says so.
func (m *model) walk(at place, path string, follow bool) (place, syscall.Errno) {
	if strings.HasPrefix(path, "/") {
		at = m.root
	}
	trimmed := strings.TrimRight(path, "/")
	slash := trimmed != path
	parts := strings.FieldsFunc(trimmed, func(c rune) bool { return c == '/' })
	for i, part := range parts {
		last := i == len(parts)-1
		if !isDir(at.node.mode) {
			return at, syscall.ENOTDIR
		}
		if at.node.noSearch {
			return at, syscall.EACCES
		}
		switch {
		case part == ".":
			continue
		case part == "..":
			at = m.up(at)
			continue
		case len(part) > nameMax:
			return at, syscall.ENAMETOOLONG
		}
		next := at.node.in[part]
		if next == nil {
			return place{at.mount, nil}, syscall.ENOENT
		}
		to := place{at.mount, next}.into()
		if isLink(to.node.mode) && (!last || follow || slash) {
			if m.links++; m.links > MaxLinks {
				return at, syscall.ELOOP
			}
			var errno syscall.Errno
			if to, errno = m.walk(at, to.node.text, true); errno != 0 {
				return to, errno
			}
		}
		at = to
	}
	if slash && len(parts) > 0 && !isDir(at.node.mode) {
		return at, syscall.ENOTDIR
	}
	return at, 0
}
