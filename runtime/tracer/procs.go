//go:build linux && arm64

// What the resolver asks about the guest's processes, and where their working
// directories and descriptors are.

package tracer

import (
	"bytes"
	"strconv"

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
