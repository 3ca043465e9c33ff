//go:build linux && arm64

// Names of Unix sockets, from the kernel's text back to the guest's: in a chroot a
// socket is called what bind was given, to the letter.

package tracer

import "bytes"

// guestAddress turns an address that the kernel wrote into the guest's. The result
// may be longer than the kernel's and lies in a buffer of the tracer.
func (t *Tracer) guestAddress(tk *task, addr []byte) []byte {
	path, ok := reportedPath(addr)
	if !ok || path[0] != '/' {
		return addr
	}
	name := t.guestName(tk, path)
	if len(name) > pathRoom || bytes.Equal(name, path) {
		return addr
	}
	return t.sockets.out[:putUnix(&t.sockets.out, name)]
}

// guestName finds how the guest would name the socket with a name. A name that is
// no path into the guest is told as it is: in a chroot it would be, too.
func (t *Tracer) guestName(tk *task, name []byte) []byte {
	u := &t.sockets
	if text, ok := u.aliases.text(name); ok {
		return append(u.name[:0], text...)
	}
	if text := u.spelled.text(name); text != "" {
		return append(u.name[:0], text...)
	}
	if host, ok := u.followAlias(name); ok {
		name = host
	}
	guest, _, err := t.paths.Guest(u.name[:0], name, tk.caller(), 0)
	if err != nil {
		return name
	}
	u.name = guest
	return guest
}

// followAlias finds the host path of a name that the tracer of another guest gave:
// an alias, and the name in that directory or the number of another alias.
func (u *unixSockets) followAlias(name []byte) ([]byte, bool) {
	end := bytes.LastIndexByte(name, '/')
	if end <= 0 || !isAlias(name[:end]) {
		return nil, false
	}
	dir, leaf := name[:end], name[end:]
	if bytes.HasPrefix(leaf[1:], []byte(tempName)) {
		dir = append(append(u.name[:0], dir[:bytes.LastIndexByte(dir, '/')+1]...), leaf[bytes.LastIndexByte(leaf, '-')+1:]...)
		leaf = nil
	}
	u.link = append(append(u.link[:0], dir...), 0)
	n, e := (*hostFS)(nil).Readlink(u.link[:len(dir)], u.far[:])
	if e != 0 || u.far[0] != '/' {
		return nil, false
	}
	return append(bytes.TrimSuffix(u.far[:n], []byte(" (deleted)")), leaf...), true
}
