// Most paths meet no symlink. An FS that can prove it for a whole path in one call
// saves a look at each component.
package guestfs

import "bytes"

// Direct is Resolve of a path that is nothing but names, without a look at the
// host: what it returns holds only if the kernel meets no symlink on it, the last
// component included where the call follows it. The caller has the kernel say so,
// with RESOLVE_NO_SYMLINKS in the call that uses the path. False means: Resolve it.
func (r *Resolver) Direct(dst *Result, who Caller, from Base, name []byte, how Flags) bool {
	if len(name) == 0 || len(name) >= PathMax || how >= NoLinks {
		return false
	}
	dst.begin(r, who, how)
	if dst.start(from, name) != 0 || dst.opaque {
		return false
	}
	trimmed, slash := trimSlashes(name)
	if !isPlain(trimmed) || !dst.enterAll(trimmed) || hasProc(dst.Host) {
		return false
	}
	dst.Last, dst.wantDir = Name, slash
	dst.finish()
	return true
}

// direct resolves a path without looking at its components, or leaves the walk as
// it was. The proof covers the host path from its first component on, so a bind
// whose host side has moved is caught by it as well.
func (w *Result) direct(name []byte) bool {
	name, slash := trimSlashes(name)
	if w.r.prover == nil || w.opaque || w.how >= NoLinks || !isPlain(name) {
		return false
	}
	slash = slash || w.wantDir // it came behind a symlink that was last
	from := len(w.Guest)
	if w.enterAll(name) && w.proven(slash) {
		w.Last, w.wantDir = Name, slash
		return true
	}
	w.cut(from)
	return false
}

// directRest is direct for what is left to walk behind a symlink.
func (w *Result) directRest() bool {
	if w.r.prover == nil || w.r.plan {
		return false
	}
	total, depth := 0, w.depth
	for i := range depth {
		total += w.frames[i].end - w.frames[i].pos + 1
	}
	rest := w.room(total)[:0]
	for i := depth - 1; i >= 0; i-- {
		rest = append(append(rest, w.text[w.frames[i].pos:w.frames[i].end]...), '/')
	}
	rest = rest[:max(len(rest)-1, 0)] // the slash behind the last
	if !w.direct(rest) {
		return false
	}
	w.depth = 0
	return true
}

func trimSlashes(name []byte) (trimmed []byte, slash bool) {
	begin, end := slashes(name), len(name)
	for end > begin && name[end-1] == '/' {
		end--
	}
	return name[begin:end], end < len(name)
}

// isPlain reports whether a path is names, none too long, with one slash between them.
func isPlain(name []byte) bool {
	for more := true; more; {
		var part []byte
		part, name, more = bytes.Cut(name, []byte("/"))
		if len(part) == 0 || len(part) > nameMax || part[0] == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.') {
			return false
		}
	}
	return true
}

// enterAll enters each name of a path. It gives up where the root's own directory
// above a bind would have to be looked at: the proof would not cover it.
func (w *Result) enterAll(name []byte) bool {
	above := false
	for more := true; more; {
		if !w.Above {
			w.enterBelow(name)
			return true
		}
		var part []byte
		part, name, more = bytes.Cut(name, []byte("/"))
		open := w.open
		mounted := w.enter(part)
		if mounted && (above || !open || !more || w.bind.self != NotProc) {
			return false
		}
		above, w.open = !mounted, w.bind.open
	}
	return true
}

// enterBelow enters a path below which there are no binds.
func (w *Result) enterBelow(name []byte) {
	w.Guest = append(append(w.Guest, '/'), name...)
	w.Host = append(append(w.Host, '/'), name...)
	w.Dir, w.Mount = w.bind.via, false
}

// proven asks for the proof that the call needs: of the whole path when it follows
// the last component, else of the directory.
func (w *Result) proven(slash bool) bool {
	if hasProc(w.Host) {
		return false
	}
	if (w.how&Follow != 0 || slash) && w.how&Parent == 0 {
		return w.r.prover.Plain(w.terminated())
	}
	end := bytes.LastIndexByte(w.Host, '/')
	if end == 0 {
		return true
	}
	w.Host[end] = 0
	plain := w.r.prover.Plain(w.Host[:end])
	w.Host[end] = '/'
	return plain
}
