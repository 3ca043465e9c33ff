// The binds as the walk needs them: by guest path, one look-up per component and
// none below a directory that has no bind under it, which is nearly every one.
package guestfs

import (
	"bytes"
	"slices"
	"strings"
)

// A bind is a part of the guest's tree; the root is one as well.
type bind struct {
	guest  string // canonical, "" for the root
	host   string // true path, "" for "/"
	via    Via
	index  int  // place on the command line; the root, when given apart, is 0
	dir    bool // the host side is a directory
	link   bool // the host side is a link of procfs
	open   bool // it could be searched when the Resolver was made
	nested bool // binds lie below it
	parent *bind

	self Link   // Self, ThreadSelf: the host side is another one for each caller
	rest string // what comes after it

	// outer is how much of host other binds do not show. A guest may have put a
	// symlink into the rest since; a mount would not mind.
	outer int
}

// An entry is one guest path where a bind sits or that leads to one.
type entry struct {
	bind  *bind
	above bool
	names []string
}

// setBinds makes the tables anew; the last of two for one guest path wins.
func (r *Resolver) setBinds(all []*bind) {
	r.binds = onePerTarget(all)
	r.at = map[string]entry{}
	for i, b := range r.binds {
		b.via = Via(i + 1)
		r.at[b.guest] = entry{bind: b}
	}
	for _, b := range r.binds {
		r.lead(b.guest)
	}
	r.root = r.at[""].bind
	for _, b := range r.binds {
		b.nested = r.at[b.guest].above
		b.parent = r.holder(dirname(b.guest))
		b.outer = outerLen(r.binds, b)
	}
	r.hosts = newHostIndex(r.binds)
	r.covered = map[string]bool{}
	for _, b := range r.binds {
		if b != r.root {
			r.covered[b.parent.host+b.guest[len(b.parent.guest):]] = true
		}
	}
}

// onePerTarget keeps the order of the command line.
func onePerTarget(all []*bind) []*bind {
	last := map[string]*bind{}
	for _, b := range all {
		if old := last[b.guest]; old == nil || old.index <= b.index {
			last[b.guest] = b
		}
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(b *bind) bool { return last[b.guest] != b })
	slices.SortStableFunc(kept, func(a, b *bind) int { return a.index - b.index })
	return kept
}

// lead enters the directories above a target.
func (r *Resolver) lead(guest string) {
	for guest != "" {
		dir := dirname(guest)
		e := r.at[dir]
		e.above = true
		if name := guest[len(dir)+1:]; !slices.Contains(e.names, name) {
			e.names = append(e.names, name)
			slices.Sort(e.names)
		}
		r.at[dir] = e
		guest = dir
	}
}

// dirname of a canonical path; the root's is the root.
func dirname(p string) string { return p[:max(0, strings.LastIndexByte(p, '/'))] }

// holder is the bind that a canonical guest path lies in.
func (r *Resolver) holder(guest string) *bind {
	for ; guest != ""; guest = dirname(guest) {
		if b := r.at[guest].bind; b != nil {
			return b
		}
	}
	return r.root
}

// within reports whether dir is p or above it.
func within(p, dir string) bool {
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// outerLen finds the outermost bind that shows b's host side, at another place.
// With the host's own root for a root there is nothing that it could leave.
func outerLen(binds []*bind, b *bind) int {
	least := len(b.host)
	for _, o := range binds {
		if o.dir && o.host != "" && within(b.host, o.host) {
			least = min(least, len(o.host))
		}
	}
	return least
}

// Names returns the names of the binds, and of what leads to them, directly in a
// guest directory, sorted: a listing of it must show them even where the host
// has none.
func (r *Resolver) Names(guest []byte) []string {
	return r.at[string(bytes.TrimSuffix(guest, []byte("/")))].names
}

// A Placeholder is a path that leads to a bind and does not exist on the host.
type Placeholder struct {
	Guest, Host string
	Dir         bool
}

// Placeholders returns what is missing in the root and in binds below the guest
// path of a bind, outermost first. Paths resolve without; a listing does not show
// them.
func (r *Resolver) Placeholders() []Placeholder {
	var missing []Placeholder
	for guest, e := range r.at {
		if guest == "" {
			continue
		}
		in := r.holder(dirname(guest))
		host := in.host + guest[len(in.guest):]
		if _, errno := r.fs.Lstat(terminated([]byte(host))); errno != 0 && in.self == NotProc {
			missing = append(missing, Placeholder{Guest: guest, Host: host, Dir: e.bind == nil || e.bind.dir})
		}
	}
	slices.SortFunc(missing, func(a, b Placeholder) int { return strings.Compare(a.Guest, b.Guest) })
	return missing
}

// Hosts returns the true host path of each bind, "" for the host's own root: that
// of Via v at v-1. A caller that keeps them open has paths that no rename above
// them changes.
func (r *Resolver) Hosts() []string {
	hosts := make([]string, len(r.binds))
	for i, b := range r.binds {
		hosts[i] = b.host
	}
	return hosts
}
