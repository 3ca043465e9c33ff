//go:build linux && arm64

// What the resolver asks about the guest's processes, and where their working
// directories and descriptors are.

package tracer

import (
	"bytes"
	"strconv"
	"syscall"

	"svcrelay/runtime/guestfs"
)

// procs is guestfs.Procs of a Tracer.
type procs Tracer

func (p *procs) Traced(tid int) bool { return p.books.byTid[tid] != nil }

func (p *procs) Link(t *guestfs.Target, _ guestfs.Caller, tid int, link guestfs.Link) bool {
	tk := p.books.byTid[tid]
	if tk == nil || tk.proc == nil {
		return false
	}
	switch link {
	case guestfs.Exe:
		t.Guest = append(t.Guest[:0], tk.proc.exe...)
	case guestfs.ProcRoot:
		t.Guest = append(t.Guest[:0], '/')
	default:
		return false
	}
	return true
}

func (tk *task) caller() guestfs.Caller { return guestfs.Caller{Tgid: tk.proc.tgid, Tid: tk.tid} }

// base finds the directory that a relative path of tk starts from. Its buffers
// belong to the tracer and hold until the next call.
func (t *Tracer) base(tk *task, dirfd int32) (guestfs.Base, syscall.Errno) {
	t.link = append(t.link[:0], "/proc/"...)
	t.link = strconv.AppendInt(t.link, int64(tk.tid), 10)
	if dirfd == atFDCWD {
		t.link = append(t.link, "/cwd"...)
	} else {
		t.link = append(t.link, "/fd/"...)
		t.link = strconv.AppendInt(t.link, int64(dirfd), 10)
	}
	t.link = append(t.link, 0)
	n, e := (*hostFS)(nil).Readlink(t.link, t.linkText[:])
	if e != 0 {
		if dirfd != atFDCWD && e == syscall.ENOENT {
			e = syscall.EBADF
		}
		return guestfs.Base{}, e
	}
	text := t.linkText[:n]
	if !bytes.HasPrefix(text, []byte("/")) { // a pipe or a socket
		return guestfs.Base{}, syscall.ENOTDIR
	}
	return guestfs.Base{Host: text, Link: t.link[:len(t.link)-1]}, 0
}

// statusField returns the number behind a name in /proc/<pid>/status.
func statusField(status []byte, name string) int {
	_, rest, ok := bytes.Cut(status, []byte("\n"+name))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line)))
	return n
}
