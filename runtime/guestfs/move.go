// The moves that are no step: to the root, to a directory above.
package guestfs

import (
	"bytes"
	"syscall"
)

// toRoot goes to the guest's root.
func (w *Result) toRoot() {
	w.Guest = w.Guest[:0]
	w.opaque = false
	w.into(w.r.root)
	w.Dir = w.bind.via
	w.Above, w.open = w.bind.nested, w.bind.open
}

// into takes the host side of a bind.
func (w *Result) into(b *bind) {
	w.bind = b
	w.Host = w.appendHost(w.Host[:0], b)
}

// restart goes to where absolute link texts start. With NoCross the kernel
// compares mounts before it has noted the root, which only an absolute path or ..
// make it do: until then every absolute link is EXDEV.
func (w *Result) restart() syscall.Errno {
	switch {
	case w.how&Beneath != 0:
		return syscall.EXDEV
	case w.how&InRoot != 0:
		w.cut(w.floor)
		return 0
	}
	from, rooted := w.bind, w.rooted
	w.toRoot()
	if w.how&NoCross != 0 && (from != w.bind || !rooted) {
		return syscall.EXDEV
	}
	return 0
}

// cut shortens the guest path to a directory above.
func (w *Result) cut(n int) {
	removed := len(w.Guest) - n
	w.Guest = w.Guest[:n]
	if n >= len(w.bind.guest) {
		w.Host = w.Host[:len(w.Host)-removed]
	} else {
		b := w.bind
		for n < len(b.guest) {
			b = b.parent
		}
		w.into(b)
		w.Host = append(w.Host, w.Guest[len(b.guest):]...)
	}
	w.here()
}

// here sets what depends on where the walk is, after a jump.
func (w *Result) here() {
	w.Above = w.bind.nested && w.r.at[string(w.Guest)].above
	w.Mount = len(w.Guest) == len(w.bind.guest)
	w.open = w.Mount && w.bind.open
}

// up goes to the directory above. At the root, and at the base of InRoot, that is
// where it is.
func (w *Result) up() syscall.Errno {
	if errno := w.search(); errno != 0 {
		return errno
	}
	w.rooted = true
	atFloor := len(w.Guest) == w.floor
	switch {
	case atFloor && w.how&Beneath != 0:
		return syscall.EXDEV
	case atFloor && w.how&InRoot != 0, len(w.Guest) == 0:
		return 0
	case w.opaque:
		return w.upDeleted()
	case len(w.Guest) == len(w.bind.guest) && w.how&NoCross != 0:
		return syscall.EXDEV
	}
	w.cut(bytes.LastIndexByte(w.Guest, '/'))
	return 0
}

// search asks for search permission in the directory where the walk is. If it may
// be searched and not looked at, as in look, then its parent can be seen through it.
func (w *Result) search() syscall.Errno {
	errno := w.lstatIn("/.")
	if errno == syscall.EACCES && w.bind != w.r.root {
		errno = w.lstatIn("/..")
	}
	if w.leads(errno) {
		return 0
	}
	return errno
}

func (w *Result) lstatIn(name string) syscall.Errno {
	w.Host = append(w.Host, name...)
	_, errno := w.r.fs.Lstat(w.terminated())
	w.Host = w.Host[:len(w.Host)-len(name)]
	return errno
}
