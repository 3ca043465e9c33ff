//go:build linux && arm64

// Unix sockets: what goes in. The kernel gets a copy of every address, with a host
// path in the place of the guest's, from the window: what the guest's own memory
// says later does not matter.
//
// The kernel keeps the path that bind is given as the name of the socket and
// shows it to every peer, as text. So a relative path goes in as the guest wrote
// it, if the kernel finds the same there.

package tracer

import (
	"bytes"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
)

var socketCalls = map[int]handler{
	sysno.Bind:        func(t *Tracer, tk *task, _ int) { t.giveAddress(tk, 1, true) },
	sysno.Connect:     func(t *Tracer, tk *task, _ int) { t.giveAddress(tk, 1, false) },
	sysno.Sendto:      func(t *Tracer, tk *task, _ int) { t.giveAddress(tk, 4, false) },
	sysno.Sendmsg:     func(t *Tracer, tk *task, _ int) { t.sendmsg(tk) },
	sysno.Sendmmsg:    func(t *Tracer, tk *task, _ int) { t.sendmmsg(tk) },
	sysno.Accept:      func(t *Tracer, tk *task, _ int) { t.takeAddress(tk, 1) },
	sysno.Accept4:     func(t *Tracer, tk *task, _ int) { t.takeAddress(tk, 1) },
	sysno.Getsockname: func(t *Tracer, tk *task, _ int) { t.takeAddress(tk, 1) },
	sysno.Getpeername: func(t *Tracer, tk *task, _ int) { t.takeAddress(tk, 1) },
	sysno.Recvfrom:    func(t *Tracer, tk *task, _ int) { t.takeAddress(tk, 4) },
	sysno.Recvmsg:     func(t *Tracer, tk *task, _ int) { t.recvmsg(tk) },
	sysno.Recvmmsg:    func(t *Tracer, tk *task, _ int) { t.recvmmsg(tk) },
}

// A unixCall is what a call on a socket must know at its exit.
type unixCall struct {
	errno  syscall.Errno // of the guest's path; the kernel says ENOENT in its place
	family uint16        // of the address that the guest gave
	socket uint64        // its inode
	name   uint64        // where the guest wants the name that recvmsg writes
	sent   int           // messages of a sendmmsg
	lent   bool          // aliases were made for it
	wrong  uint64        // not 0: the stack pointer, made odd, of a call whose socket refused the family of a path
}

// unixSockets is what a tracer keeps about them; buffers are reused for every stop.
type unixSockets struct {
	spelled spelled
	aliases aliases
	others  [256]uint64 // inodes of sockets of other families, by their last byte

	addr  [sockaddrMax]byte // read from the guest
	out   [sockaddrMax]byte // written to it, or to its kernel
	path  []byte            // what the kernel is given
	name  []byte            // what the guest is told
	block []byte            // what is written to the guest's memory
	link  []byte            // a path of procfs
	text  [32]byte          // of a socket's link
	far   [pathMax]byte     // of an alias
}

// nowhere is a path that leads nowhere on any host. The kernel gets it in place of
// one that cannot be resolved, so that it says first what it says before it looks
// at paths; ENOENT is then turned into what the resolver said.
const nowhere = "/svcrelay-none/none"

// giveAddress is for calls with an address, and its length, that the kernel reads.
func (t *Tracer) giveAddress(tk *task, arg int, bind bool) {
	x := &t.regs.X
	size := int32(x[arg+1])
	if size <= 0 || size > sockaddrMax || arg > 1 && t.isOther(tk, x[0]) {
		cont(tk.tid, 0) // it reads none, or a path is nothing to it
		return
	}
	t.save(tk)
	addr, ok := t.hostAddress(tk, x[arg], int(size), bind)
	x[arg] = unmapped
	if ok {
		x[arg+1] = uint64(len(addr))
		if x[arg], _, ok = t.say(tk, t.regs.SP-stackGap, addr); !ok {
			t.refuseCall(tk, syscall.EFAULT)
			return
		}
	}
	end := (*Tracer).gaveAddress
	if bind {
		end = (*Tracer).bound
	}
	t.makeGiven(tk, end)
}

// makeGiven has the guest make the call with the arguments in t.regs.
func (t *Tracer) makeGiven(tk *task, end func(*Tracer, *task)) {
	tk.restore, tk.end = true, end
	if t.regs.setFirst(tk.tid, 6) == nil {
		toExit(tk.tid, 0)
	}
}

// refuseCall is fail after something was made ready for the call.
func (t *Tracer) refuseCall(tk *task, e syscall.Errno) {
	t.sockets.aliases.giveBack(tk)
	t.fail(tk, e)
}

// hostAddress reads an address of the guest and returns what the kernel is to be
// given for it.
func (t *Tracer) hostAddress(tk *task, at uint64, size int, bind bool) ([]byte, bool) {
	u := &t.sockets
	tk.unix.errno, tk.unix.family = 0, 0
	addr := u.addr[:size]
	if readMemory(tk.tid, at, addr) != size {
		return nil, false
	}
	tk.unix.family = family(addr)
	path, ok := unixPath(addr)
	switch {
	case !ok:
		return addr, true
	case tk.unix.wrong == t.regs.SP|1:
		clear(addr[sunPath:])
		return addr, true
	}
	t.toHost(tk, path, bind)
	return u.out[:min(putUnix(&u.out, u.path), unixMax)], true
}

// toHost finds what the kernel must be given for a path in an address, in
// t.sockets.path.
func (t *Tracer) toHost(tk *task, path []byte, bind bool) {
	e := t.locate(tk, path, bind)
	if e != 0 {
		t.sockets.path = append(t.sockets.path[:0], nowhere...)
	}
	tk.unix.errno = e
}

// locate is toHost without the errors.
func (t *Tracer) locate(tk *task, path []byte, bind bool) syscall.Errno {
	u, found := &t.sockets, &t.found[0]
	base, e := t.resolveSocket(tk, path, bind)
	if e != 0 {
		return e
	}
	switch {
	case path[0] != '/' && isBelow(found.Host, base.Host, path):
		u.path = append(u.path[:0], path...)
	case len(found.Host) <= pathRoom:
		u.path = append(u.path[:0], found.Host...)
	case bind:
		return t.bindAlias(tk, found, path)
	default:
		return t.alias(tk, found)
	}
	return 0
}

// resolveSocket resolves a path as bind, or as connect, would.
func (t *Tracer) resolveSocket(tk *task, path []byte, bind bool) (base guestfs.Base, e syscall.Errno) {
	if path[0] != '/' {
		if base, e = t.base(tk, atFDCWD); e != 0 {
			return base, e
		}
	}
	how := guestfs.Follow
	if bind {
		how = guestfs.Parent
	}
	found := &t.found[0]
	e = t.paths.Resolve(found, tk.caller(), base, path, how)
	switch {
	case e == 0 && bind && found.Above: // a directory, on the host perhaps missing
		e = syscall.EADDRINUSE
	case e == 0 && t.isWindow(found.Host):
		e = syscall.ENOENT
	}
	return base, e
}

// isBelow reports whether host is name in dir, with no more to it.
func isBelow(host, dir, name []byte) bool {
	for bytes.HasPrefix(name, []byte("./")) {
		name = name[2:]
	}
	rest, ok := bytes.CutPrefix(host, bytes.TrimSuffix(dir, []byte("/")))
	return ok && len(rest) > 0 && rest[0] == '/' && bytes.Equal(rest[1:], name)
}

// gaveAddress is the end of a call that was given another address.
func (t *Tracer) gaveAddress(tk *task) {
	t.sockets.aliases.giveBack(tk)
	if t.regs.getCall(tk.tid) == nil {
		t.explain(tk)
	}
}

// explain makes a result what it would be with the guest's own address: the errno
// of its path in the place of ENOENT. A socket of another family may judge the
// address by its length first: it gets one of the guest's length with no path in
// it. What such a socket takes tells that it is one.
func (t *Tracer) explain(tk *task) {
	u, result := &tk.unix, t.regs.X[0]
	refused := result == negative(syscall.EAFNOSUPPORT) && u.family == afUnix
	switch {
	case refused && u.wrong == 0:
		t.again(tk)
		u.wrong = t.regs.SP | 1
		return
	case result == negative(syscall.ENOENT) && u.errno != 0:
		t.setResult(tk, -int64(u.errno))
	case int64(result) >= 0 && u.family > afUnix && !t.isOther(tk, tk.saved[0]):
		t.noteOther(tk)
	}
	u.wrong = 0
}

// setResult changes the result of the call that tk is leaving.
func (t *Tracer) setResult(tk *task, result int64) {
	t.regs.X[0] = uint64(result)
	t.regs.setFirst(tk.tid, 1)
}
