// From host path to guest path. A host path may be shown at several places or be
// hidden by a bind that lies over it; what is hidden is not offered, because the
// guest path would name another file.
package guestfs

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"syscall"
)

// ErrOutside means that no guest path leads to a host path.
var ErrOutside = errors.New("outside the guest")

// hostIndex finds binds by host side.
type hostIndex struct {
	at   map[string][]*bind
	lens []int // of the keys, longest first
	self []*bind
}

func newHostIndex(binds []*bind) hostIndex {
	x := hostIndex{at: map[string][]*bind{}}
	for _, b := range binds {
		if b.self != NotProc {
			x.self = append(x.self, b)
			continue
		}
		x.at[b.host] = append(x.at[b.host], b)
		x.lens = append(x.lens, len(b.host))
	}
	slices.SortFunc(x.lens, func(a, b int) int { return cmp.Compare(b, a) })
	x.lens = slices.Compact(x.lens)
	return x
}

// Guest appends the guest path of an absolute host path, as the kernel writes it
// for getcwd, for a link of procfs, or in the name of a socket. Of several binds
// that show it, via wins, else the one with the deepest host side, else the first
// of the command line. The bind is returned for the next time.
func (r *Resolver) Guest(dst, host []byte, who Caller, via Via) ([]byte, Via, error) {
	if len(host) == 0 || host[0] != '/' {
		return dst, 0, ErrOutside
	}
	begin := len(dst)
	guest, b, _ := r.find(dst, host, who, via)
	if alive, cut := bytes.CutSuffix(host, []byte(deleted)); cut {
		// The host side of a bind may be what was deleted.
		if _, whole, n := r.find(guest[:begin], alive, who, via); whole != nil && n == len(alive) {
			return append(append(guest[:begin], whole.guest...), deleted...), whole.via, nil
		}
		guest, b, _ = r.find(guest[:begin], host, who, via)
	}
	if b == nil {
		return dst[:begin], 0, ErrOutside
	}
	if len(guest) == begin {
		guest = append(guest, '/')
	}
	return guest, b.via, nil
}

// find appends the guest path of host ("" for the root) and returns its bind and
// how much of host that covers. The bind is nil when there is none.
func (r *Resolver) find(dst, host []byte, who Caller, via Via) ([]byte, *bind, int) {
	host = trimSlash(host)
	begin := len(dst)
	if via > 0 && int(via) <= len(r.binds) {
		b := r.binds[via-1]
		if n, ok := b.shows(host, who); ok {
			if dst, ok = r.visible(dst[:begin], b, host[n:]); ok {
				return dst, b, n
			}
		}
	}
	for _, n := range r.hosts.lens {
		if n > len(host) || n < len(host) && host[n] != '/' {
			continue
		}
		for _, b := range r.hosts.at[string(host[:n])] {
			var ok bool
			if dst, ok = r.visible(dst[:begin], b, host[n:]); ok {
				return dst, b, n
			}
		}
	}
	for _, b := range r.hosts.self {
		if n, ok := b.shows(host, who); ok {
			if dst, ok = r.visible(dst[:begin], b, host[n:]); ok {
				return dst, b, n
			}
		}
	}
	return dst[:begin], nil, 0
}

// shows reports whether b shows a host path, and how much of it is b's host side.
func (b *bind) shows(host []byte, who Caller) (int, bool) {
	if b.self == NotProc {
		n := len(b.host)
		return n, n <= len(host) && string(host[:n]) == b.host && (n == len(host) || host[n] == '/')
	}
	rest, ok := bytes.CutPrefix(host, []byte(proc+"/"))
	if ok {
		rest, ok = cutNumber(rest, who.Tgid)
	}
	if ok && b.self == ThreadSelf {
		if rest, ok = bytes.CutPrefix(rest, []byte("/task/")); ok {
			rest, ok = cutNumber(rest, who.Tid)
		}
	}
	if !ok || len(rest) < len(b.rest) || string(rest[:len(b.rest)]) != b.rest {
		return 0, false
	}
	rest = rest[len(b.rest):]
	return len(host) - len(rest), len(rest) == 0 || rest[0] == '/'
}

func cutNumber(p []byte, n int) ([]byte, bool) {
	digits, _, _ := bytes.Cut(p, []byte("/"))
	got, ok := number(digits)
	return p[len(digits):], ok && got == n
}

// visible appends the guest path of rest in b and reports whether no other bind
// lies over it.
func (r *Resolver) visible(dst []byte, b *bind, rest []byte) ([]byte, bool) {
	begin := len(dst)
	dst = append(append(dst, b.guest...), rest...)
	if !b.nested {
		return dst, true
	}
	guest := dst[begin:]
	for end := len(b.guest); end < len(guest); {
		end++
		if n := bytes.IndexByte(guest[end:], '/'); n >= 0 {
			end += n
		} else {
			end = len(guest)
		}
		e := r.at[string(guest[:end])]
		if e.bind != nil {
			return dst, false
		}
		if !e.above {
			break
		}
	}
	return dst, true
}

// Readlink appends what readlink shows the guest for res, which was resolved
// without Follow: the text of a symlink as it is, and the links of procfs in the
// guest's words. Where they lead outside, the kernel's text stays.
func (r *Resolver) Readlink(dst []byte, who Caller, res *Result) ([]byte, syscall.Errno) {
	res.who = who
	switch {
	case res.Link == Self && who.Tgid != 0, res.Link == ThreadSelf && who.Tgid != 0:
		return res.appendSelf(dst, res.Link), 0
	case res.Link == Exe || res.Link == Cwd || res.Link == ProcRoot:
		if res.answers(res.Link, res.Tid) {
			return append(dst, res.target.Guest...), 0
		}
	}
	buf := res.room(PathMax)
	n, errno := r.fs.Readlink(res.terminated(), buf)
	switch {
	case errno == syscall.ENOENT && res.Above:
		return dst, syscall.EINVAL
	case errno != 0:
		return dst, errno
	}
	if res.Link != NotProc {
		if guest, _, err := r.Guest(dst, buf[:n], who, 0); err == nil {
			return guest, 0
		}
	}
	return append(dst, buf[:n]...), 0
}
