// The walk goes through the guest's tree as the kernel's link_path_walk does: one
// component at a time, the text of a symlink put before what is left. Guest path
// and host path grow and shrink together, so .. is a cut and never a question to
// the host, whose .. leads out of a bind.
//
// The kernel asks for search permission before it looks at . and .. too; nothing
// but a look through the directory shows that, so each .. costs one.
package guestfs

import (
	"bytes"
	"syscall"
)

const (
	nameMax = 255

	typeMask = syscall.S_IFMT
	typeDir  = syscall.S_IFDIR
	typeLink = syscall.S_IFLNK
)

func isDir(mode uint32) bool  { return mode&typeMask == typeDir }
func isLink(mode uint32) bool { return mode&typeMask == typeLink }

// walk is the state that a Result keeps between calls for its buffers alone.
type walk struct {
	r     *Resolver
	who   Caller
	how   Flags
	bind  *bind
	floor int // how much of Guest is above what Beneath and InRoot allow

	// text holds what is still to be walked: the path, and link texts on top of
	// each other. frames tell the unread part of each.
	text   []byte
	frames [MaxLinks + 1]frame
	depth  int
	links  int

	wantDir bool   // a slash came after the last component
	endDot  bool   // the last component is .
	open    bool   // the directory may be searched, known without asking
	rooted  bool   // the kernel has noted the root by now: see restart
	opaque  bool   // Host is a procfs link to what has no name
	gone    []byte // where the deleted directory was, on the host
	target  Target
}

type frame struct{ pos, end int }

// A mark is a place in the walk that a link goes back to.
type mark struct {
	guest, host int
	bind        *bind
	above, open bool
}

// Resolve finds the host path of a guest path. The error is what the kernel would
// say about everything before the last component; about the last one the kernel
// says it itself, when it gets dst.Host.
func (r *Resolver) Resolve(dst *Result, who Caller, from Base, name []byte, how Flags) syscall.Errno {
	switch {
	case len(name) == 0:
		return syscall.ENOENT
	case len(name) >= PathMax:
		return syscall.ENAMETOOLONG
	}
	dst.begin(r, who, how)
	if errno := dst.start(from, name); errno != 0 {
		return errno
	}
	if how&Walk != 0 || !dst.direct(name) {
		dst.push(copy(dst.room(len(name)), name))
		if errno := dst.run(); errno != 0 {
			return errno
		}
	}
	dst.finish()
	return 0
}

func (w *Result) begin(r *Resolver, who Caller, how Flags) {
	w.r, w.who, w.how = r, who, how
	w.Last, w.Link, w.Tid, w.Mount = Name, NotProc, 0, false
	w.depth, w.links, w.floor = 0, 0, 0
	w.wantDir, w.endDot, w.opaque = false, false, false
	w.rooted = how&(Beneath|InRoot) != 0
}

func (w *Result) start(from Base, name []byte) syscall.Errno {
	if name[0] == '/' && w.how&InRoot == 0 {
		w.rooted = true
		w.toRoot()
		if w.how&Beneath != 0 {
			return syscall.EXDEV
		}
		return 0
	}
	errno := w.land(from.Host, from.Link, from.Via)
	w.floor = len(w.Guest)
	return errno
}

// room returns n bytes of text above what is unread.
func (w *Result) room(n int) []byte {
	top := w.top()
	if need := top + n; need > len(w.text) {
		w.text = append(w.text, make([]byte, need-len(w.text))...)
	}
	return w.text[top : top+n]
}

func (w *Result) top() int {
	if w.depth == 0 {
		return 0
	}
	return w.frames[w.depth-1].end
}

// push puts the first n bytes of room before what is unread.
func (w *Result) push(n int) {
	top := w.top()
	w.frames[w.depth] = frame{top, top + n}
	w.depth++
}

// next takes a component. A frame is dropped with its last one, so that a link in
// the last place of a link does not deepen the stack, and depth 0 means the end.
func (w *Result) next() (name []byte, slash bool) {
	for w.depth > 0 {
		f := &w.frames[w.depth-1]
		unread := w.text[f.pos:f.end]
		begin := slashes(unread)
		end := len(unread)
		if n := bytes.IndexByte(unread[begin:], '/'); n >= 0 {
			end = begin + n
		}
		after := end + slashes(unread[end:])
		f.pos += after
		if f.pos == f.end {
			w.depth--
		}
		if begin < end {
			return unread[begin:end], after > end
		}
	}
	return nil, false
}

func slashes(p []byte) int {
	n := 0
	for n < len(p) && p[n] == '/' {
		n++
	}
	return n
}

func (w *Result) run() syscall.Errno {
	w.Last = Root
	for {
		name, slash := w.next()
		if name == nil {
			return 0
		}
		w.Last = Name
		last := w.depth == 0
		var errno syscall.Errno
		switch {
		case last && w.how&Parent != 0:
			errno = w.leaf(name, slash)
		case string(name) == ".":
			w.endDot = last
		case string(name) == "..":
			errno = w.up()
		default:
			errno = w.down(name, last, slash)
		}
		if errno != 0 {
			return errno
		}
	}
}

// leaf takes the last component of a call that makes or removes a name.
func (w *Result) leaf(name []byte, slash bool) (errno syscall.Errno) {
	w.wantDir = slash
	if w.how&Exact != 0 {
		if errno = w.search(); errno != 0 {
			return errno
		}
	}
	switch string(name) {
	case ".":
		w.Last, w.Dir, w.Mount = Dot, w.bind.via, false
	case "..":
		w.Last, w.Dir, w.Mount = DotDot, w.bind.via, false
	default:
		_, errno = w.step(name)
	}
	return errno
}

// finish gives Host the ending that makes the kernel say the right thing.
func (w *Result) finish() {
	w.Via = w.bind.via
	w.nameLink()
	if w.how&Parent != 0 && w.Last == Name {
		w.Mount = w.Mount || w.r.covered[string(w.Host)]
	}
	if len(w.Guest) == 0 {
		w.Guest = append(w.Guest, '/')
	}
	switch {
	case w.how&Parent == 0 && w.endDot, w.Last == Dot:
		w.Host = append(w.Host, "/."...)
	case w.Last == DotDot:
		w.Host = append(w.Host, "/.."...)
	case w.Last == Root && w.how&Parent != 0:
		w.Host = w.Host[:0]
	}
	if w.wantDir || len(w.Host) == 0 {
		w.Host = append(w.Host, '/')
	}
	w.Host = terminated(w.Host)
}

// terminated puts a NUL behind p, into its array.
func terminated(p []byte) []byte { return append(p, 0)[:len(p)] }

func (w *Result) terminated() []byte {
	w.Host = terminated(w.Host)
	return w.Host
}
