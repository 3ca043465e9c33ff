// The names of procfs, as text.
package guestfs

import (
	"bytes"
	"strconv"
)

const (
	proc       = "/proc"
	self       = "self"
	threadSelf = "thread-self"
	deleted    = " (deleted)"
)

// procLink tells which link a host path names, if it is a link of procfs.
func procLink(host []byte) (Link, int) {
	if len(host) <= len(proc)+1 || string(host[:len(proc)+1]) != proc+"/" {
		return NotProc, 0
	}
	first, rest, deeper := bytes.Cut(host[len(proc)+1:], []byte("/"))
	tid, ok := number(first)
	isSelf, isThread := string(first) == self, string(first) == threadSelf
	switch {
	case isSelf && !deeper:
		return Self, 0
	case isThread && !deeper:
		return ThreadSelf, 0
	case !ok && !isSelf && !isThread:
		return NotProc, 0
	}
	if task, cut := bytes.CutPrefix(rest, []byte("task/")); cut {
		first, rest, _ = bytes.Cut(task, []byte("/"))
		if tid, ok = number(first); !ok {
			return NotProc, 0
		}
	}
	return linkOf(rest), tid
}

// linkOf tells a link by its path below the folder of a process.
func linkOf(name []byte) Link {
	switch string(name) {
	case "exe":
		return Exe
	case "cwd":
		return Cwd
	case "root":
		return ProcRoot
	case "mem":
		return Mem
	}
	dir, file, _ := bytes.Cut(name, []byte("/"))
	if len(file) == 0 || bytes.IndexByte(file, '/') >= 0 {
		return NotProc
	}
	switch string(dir) {
	case "fd":
		return Fd
	case "ns", "map_files":
		return Other
	}
	return NotProc
}

// number reads the name of a process's folder; the kernel knows no leading zeros.
func number(name []byte) (int, bool) {
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(name) > 0 && len(name) < 10 && name[0] != '0'
}

// selfPart splits a host path that is another one for each caller.
func selfPart(host string) (Link, string) {
	switch {
	case within(host, proc+"/"+self):
		return Self, host[len(proc+"/"+self):]
	case within(host, proc+"/"+threadSelf):
		return ThreadSelf, host[len(proc+"/"+threadSelf):]
	}
	return NotProc, ""
}

// hasProc reports whether a path is in procfs.
func hasProc(p []byte) bool { return within(string(p), proc) }

// appendSelf appends the text of /proc/self or /proc/thread-self.
func (w *Result) appendSelf(dst []byte, link Link) []byte {
	dst = strconv.AppendInt(dst, int64(w.who.Tgid), 10)
	if link == ThreadSelf {
		dst = append(dst, "/task/"...)
		dst = strconv.AppendInt(dst, int64(w.who.Tid), 10)
	}
	return dst
}
