// The links of procfs. What the host's procfs says about self is the tracer's,
// about exe the loader's, about root the host's; the rest is the kernel's to
// follow, because it knows what has no name: pipes, memory, deleted files.
package guestfs

import (
	"bytes"
	"syscall"
)

// nowhere holds what has no guest path.
var nowhere = &bind{}

// nameLink notes what the walk ended on.
func (w *Result) nameLink() {
	if len(w.Host) > 0 && !w.endDot {
		w.Link, w.Tid = procLink(w.Host)
	}
}

// appendHost appends the host side of b as the caller sees it.
func (w *Result) appendHost(dst []byte, b *bind) []byte {
	if b.self == NotProc || w.who.Tgid == 0 {
		return append(dst, b.host...)
	}
	dst = append(dst, proc+"/"...)
	dst = w.appendSelf(dst, b.self)
	return append(dst, b.rest...)
}

// mine reports whether tid is the caller's or another of the guest's.
func (w *Result) mine(tid int) bool {
	return tid == w.who.Tgid || tid == w.who.Tid || w.r.procs != nil && w.r.procs.Traced(tid)
}

// followProc goes where a link of procfs leads.
func (w *Result) followProc(link Link, tid int, m mark, last bool) syscall.Errno {
	switch {
	case w.r.plan:
		return 0 // stays where it is: see real and target
	case link == Self || link == ThreadSelf:
		return w.followSelf(link, m)
	case w.how&NoMagic != 0:
		return syscall.ELOOP
	case w.how&(Beneath|InRoot) != 0:
		return syscall.EXDEV
	case w.answers(link, tid):
		return w.followAnswer()
	}
	return w.followKernel(link, tid, last)
}

func (w *Result) followSelf(link Link, m mark) syscall.Errno {
	if w.who.Tgid == 0 {
		return syscall.ENOENT
	}
	text := w.appendSelf(w.room(64)[:0], link)
	w.back(m)
	w.push(len(text))
	return 0
}

// answers asks who knows better than the kernel.
func (w *Result) answers(link Link, tid int) bool {
	return link <= ProcRoot && w.r.procs != nil && w.r.procs.Link(&w.target, w.who, tid, link)
}

// followAnswer walks the answer like a link's text: the kernel would jump, but
// what the path leads through may have become a symlink since.
func (w *Result) followAnswer() syscall.Errno {
	if len(w.target.Host) > 0 {
		w.Guest = append(w.Guest[:0], w.target.Guest...)
		w.leave(w.target.Host)
		return 0
	}
	if len(w.target.Guest) == 0 || w.target.Guest[0] != '/' {
		return syscall.ENOENT
	}
	from := w.bind
	w.toRoot()
	if w.how&NoCross != 0 && from != w.bind {
		return syscall.EXDEV
	}
	w.push(copy(w.room(len(w.target.Guest)), w.target.Guest))
	return 0
}

// leave goes to what only a host path can name.
func (w *Result) leave(host []byte) {
	w.Host = append(w.Host[:0], host...)
	w.bind, w.opaque, w.Above, w.Mount = nowhere, true, false, false
}

// followKernel follows a link as the kernel says it leads. The end of a path is
// left to the kernel where the guest could have had it anyway, or stays inside.
func (w *Result) followKernel(link Link, tid int, last bool) syscall.Errno {
	kept := last && (link == Fd || link == Other)
	if kept && w.mine(tid) && w.how&NoCross == 0 {
		w.leave(w.Host)
		return 0
	}
	text, errno := w.readlink()
	switch {
	case errno != 0:
		return errno
	case w.how&NoCross != 0:
		return w.landHere(text)
	case text[0] != '/' && last:
		w.leave(w.Host)
		return 0
	case kept && w.inside(text):
		w.leave(w.Host)
		return 0
	case kept:
		return syscall.EACCES
	}
	return w.land(text, w.Host, 0)
}

// landHere is land within the same bind.
func (w *Result) landHere(text []byte) syscall.Errno {
	from := w.bind
	if errno := w.land(text, w.Host, 0); errno != 0 || from == w.bind {
		return errno
	}
	return syscall.EXDEV
}

// inside reports whether the text of a link names something of the guest.
func (w *Result) inside(text []byte) bool {
	text, _ = bytes.CutSuffix(text, []byte(deleted))
	var b *bind
	w.target.Guest, b, _ = w.r.find(w.target.Guest[:0], text, w.who, 0)
	return b != nil
}

// land goes to the directory that a link of procfs names with text. One that is
// deleted stays the link: the kernel still finds it, and nothing is in it.
func (w *Result) land(text, link []byte, via Via) syscall.Errno {
	if len(text) == 0 || text[0] != '/' {
		return syscall.ENOTDIR
	}
	alive, cut := bytes.CutSuffix(text, []byte(deleted))
	gone := cut && len(link) > 0 && w.r.fs.Deleted(link)
	if gone {
		text = alive
	}
	var b *bind
	if w.Guest, b, _ = w.r.find(w.Guest[:0], text, w.who, via); b == nil {
		return syscall.EACCES
	}
	if gone {
		w.Guest = append(w.Guest, deleted...)
		w.gone = append(w.gone[:0], text...)
		w.leave(link)
		return 0
	}
	w.bind, w.opaque = b, false
	w.Dir = b.via
	w.Host = append(w.Host[:0], trimSlash(text)...)
	w.here()
	return 0
}

// upDeleted goes to the directory that the deleted one was in: it knows it still.
func (w *Result) upDeleted() syscall.Errno {
	if len(w.gone) == 0 {
		return syscall.ENOENT
	}
	return w.land(w.gone[:1+bytes.LastIndexByte(w.gone, '/')], nil, 0)
}

func trimSlash(p []byte) []byte { return bytes.TrimSuffix(p, []byte("/")) }
