// One step of the walk: down into a name, through a symlink, up.
package guestfs

import (
	"strings"
	"syscall"
)

// enter appends a name and reports whether a bind sits there.
func (w *Result) enter(name []byte) bool {
	w.Guest = append(append(w.Guest, '/'), name...)
	w.Dir, w.Mount = w.bind.via, false
	if w.Above {
		e := w.r.at[string(w.Guest)]
		w.Above = e.above
		if e.bind != nil {
			w.Mount = true
			w.into(e.bind)
			return true
		}
	}
	w.Host = append(append(w.Host, '/'), name...)
	return false
}

// step enters a name. A bind is found without a look at the directory that it
// sits in, which must be one that may be searched all the same.
func (w *Result) step(name []byte) (mounted bool, errno syscall.Errno) {
	if w.Above && !w.open && w.holds(name) {
		if errno := w.search(); errno != 0 {
			return false, errno
		}
	}
	if len(name) > nameMax && w.Above && w.lstatIn("/.") == syscall.ENOENT {
		return false, syscall.ENAMETOOLONG // no directory on the host says it
	}
	mounted = w.enter(name)
	if mounted && w.how&NoCross != 0 {
		return true, syscall.EXDEV
	}
	return mounted, 0
}

// holds reports whether a bind sits at a name.
func (w *Result) holds(name []byte) bool {
	n := len(w.Guest)
	w.Guest = append(append(w.Guest, '/'), name...)
	b := w.r.at[string(w.Guest)].bind
	w.Guest = w.Guest[:n]
	return b != nil
}

func (w *Result) mark() mark {
	return mark{len(w.Guest), len(w.Host), w.bind, w.Above, w.open}
}

// back goes to the directory of a link.
func (w *Result) back(m mark) {
	w.Guest, w.Above, w.open, w.Mount = w.Guest[:m.guest], m.above, m.open, false
	if w.bind != m.bind {
		w.into(m.bind)
		w.Host = append(w.Host, w.Guest[len(m.bind.guest):]...)
	}
	w.Host = w.Host[:m.host]
}

// down goes to a name and, unless the call wants the last one as it is, on to
// where it leads.
func (w *Result) down(name []byte, last, slash bool) syscall.Errno {
	m := w.mark()
	mounted, errno := w.step(name)
	if errno != 0 {
		return errno
	}
	if last {
		w.wantDir = w.wantDir || slash
		if slash && w.how&Create != 0 {
			return 0 // EISDIR, whatever is there
		}
		if w.how&Follow == 0 && !w.wantDir {
			return 0
		}
	}
	switch {
	case mounted && !last && !w.bind.dir && !w.bind.link:
		return syscall.ENOTDIR
	case mounted && !w.bind.link:
		w.open = w.bind.open
		return w.unmoved()
	}
	mode, errno := w.look()
	w.open = mode&0o111 == 0o111
	switch {
	case errno != 0 && last, errno != 0 && w.leads(errno):
		return 0
	case errno != 0:
		return errno
	case isLink(mode):
		return w.follow(m, last)
	case !last && !isDir(mode) && !w.Above:
		return syscall.ENOTDIR
	}
	return 0
}

// leads reports whether a directory need not be there: binds lie below it.
func (w *Result) leads(errno syscall.Errno) bool {
	return (w.Above || w.r.plan) && (errno == syscall.ENOENT || errno == syscall.ENOTDIR || w.r.plan && errno == syscall.EACCES)
}

// look is lstat of where the walk is. Policies on a host may allow to search a
// directory and forbid to look at it. Inside a bind that is not held against it:
// it is a symlink if it can be read as one, else a directory, and if it cannot be
// searched either then the next look or the call itself fails with EACCES.
func (w *Result) look() (uint32, syscall.Errno) {
	mode, errno := w.r.fs.Lstat(w.terminated())
	if errno != syscall.EACCES || w.bind == w.r.root {
		return mode, errno
	}
	if _, errno := w.r.fs.Readlink(w.Host, w.room(PathMax)); errno == 0 {
		return typeLink, 0
	}
	return typeDir, 0
}

// unmoved refuses a bind whose host side lies in what the guest itself can change
// and holds a symlink by now: the kernel would follow it on the host.
func (w *Result) unmoved() syscall.Errno {
	host := w.bind.host
	for end := w.bind.outer; end < len(host); {
		end += 1 + nextSlash(host[end+1:])
		w.Host = w.Host[:end]
		if mode, errno := w.r.fs.Lstat(w.terminated()); errno == 0 && isLink(mode) {
			return syscall.EACCES
		}
		w.Host = append(w.Host[:0], host...)
	}
	return 0
}

func nextSlash(s string) int {
	if n := strings.IndexByte(s, '/'); n >= 0 {
		return n
	}
	return len(s)
}

// follow goes where the link leads that the walk stands on; m is its directory.
func (w *Result) follow(m mark, last bool) syscall.Errno {
	if w.links++; w.links > MaxLinks || w.how&NoLinks != 0 {
		return syscall.ELOOP
	}
	if link, tid := procLink(w.Host); link != NotProc {
		return w.followProc(link, tid, m, last)
	}
	text, errno := w.readlink()
	if errno != 0 {
		return errno
	}
	w.back(m)
	return w.goOn(text)
}

// readlink reads the link that the walk stands on into room.
func (w *Result) readlink() ([]byte, syscall.Errno) {
	buf := w.room(PathMax)
	n, errno := w.r.fs.Readlink(w.terminated(), buf)
	switch {
	case errno == syscall.EINVAL:
		return nil, syscall.ENOENT // no link any more
	case errno != 0:
		return nil, errno
	case n == 0:
		return nil, syscall.ENOENT
	case n == len(buf):
		return nil, syscall.ENAMETOOLONG
	}
	return buf[:n], 0
}

// goOn walks text, which lies in room, before what is left.
func (w *Result) goOn(text []byte) syscall.Errno {
	if text[0] == '/' {
		if errno := w.restart(); errno != 0 {
			return errno
		}
	}
	w.push(len(text))
	w.directRest()
	return 0
}
