//go:build linux && arm64

// The calls that change and tell ids. Ids are words of 32 bits, whatever stands
// above them in a register; an id of 4294967294 is a positive result.

package tracer

import (
	"slices"
	"syscall"

	"svcrelay/runtime/sysno"
)

// maxGroups is NGROUPS_MAX.
const maxGroups = 65536

var idCalls = map[int]handler{
	sysno.Setuid: (*Tracer).setID, sysno.Setreuid: (*Tracer).setID, sysno.Setresuid: (*Tracer).setID, sysno.Setfsuid: (*Tracer).setID,
	sysno.Setgid: (*Tracer).setID, sysno.Setregid: (*Tracer).setID, sysno.Setresgid: (*Tracer).setID, sysno.Setfsgid: (*Tracer).setID,
	sysno.Setgroups: (*Tracer).setgroups,

	sysno.Getuid:    func(t *Tracer, tk *task, _ int) { t.finish(tk, int64(tk.ids.uid.real)) },
	sysno.Geteuid:   func(t *Tracer, tk *task, _ int) { t.finish(tk, int64(tk.ids.uid.effective)) },
	sysno.Getgid:    func(t *Tracer, tk *task, _ int) { t.finish(tk, int64(tk.ids.gid.real)) },
	sysno.Getegid:   func(t *Tracer, tk *task, _ int) { t.finish(tk, int64(tk.ids.gid.effective)) },
	sysno.Getresuid: func(t *Tracer, tk *task, _ int) { t.getRES(tk, &tk.ids.uid) },
	sysno.Getresgid: func(t *Tracer, tk *task, _ int) { t.getRES(tk, &tk.ids.gid) },
	sysno.Getgroups: func(t *Tracer, tk *task, _ int) { t.getgroups(tk) },
}

// setID is the eight calls that change ids.
func (t *Tracer) setID(tk *task, nr int) {
	if t.who.mode == idsKernel {
		tk.end = noteForeign
		toExit(tk.tid, 0)
		return
	}
	set, root := &tk.ids.uid, t.root(tk)
	switch nr {
	case sysno.Setgid, sysno.Setregid, sysno.Setresgid, sysno.Setfsgid:
		set = &tk.ids.gid
	}
	a, b, c := uint32(t.regs.X[0]), uint32(t.regs.X[1]), uint32(t.regs.X[2])
	var e syscall.Errno
	switch nr {
	case sysno.Setuid, sysno.Setgid:
		e = set.set(a, root)
	case sysno.Setreuid, sysno.Setregid:
		e = set.setRE(a, b, root)
	case sysno.Setresuid, sysno.Setresgid:
		e = set.setRES(a, b, c, root)
	default:
		t.finish(tk, int64(set.setFS(a, root)))
		return
	}
	t.finish(tk, -int64(e))
}

// getRES is getresuid and getresgid.
func (t *Tracer) getRES(tk *task, set *idSet) {
	var word [4]byte
	for i, id := range [3]uint32{set.real, set.effective, set.saved} {
		le.PutUint32(word[:], id)
		if writeMemory(tk.tid, t.regs.X[i], word[:]) != len(word) {
			t.fail(tk, syscall.EFAULT)
			return
		}
	}
	t.finish(tk, 0)
}

func (t *Tracer) getgroups(tk *task) {
	size, groups := int32(t.regs.X[0]), tk.ids.groups
	switch {
	case size < 0 || size > 0 && int(size) < len(groups):
		t.fail(tk, syscall.EINVAL)
		return
	case size > 0:
		buf := make([]byte, 0, 4*len(groups))
		for _, g := range groups {
			buf = le.AppendUint32(buf, g)
		}
		if writeMemory(tk.tid, t.regs.X[1], buf) != len(buf) {
			t.fail(tk, syscall.EFAULT)
			return
		}
	}
	t.finish(tk, int64(len(groups)))
}

// setgroups needs root; where ids are fixed, what changes nothing is granted, for
// login programs give up when they are refused.
func (t *Tracer) setgroups(tk *task, _ int) {
	if t.who.mode == idsKernel {
		tk.end = noteForeign
		toExit(tk.tid, 0)
		return
	}
	root := t.root(tk)
	if t.who.mode == idsShown && !root {
		t.fail(tk, syscall.EPERM)
		return
	}
	groups, e := t.readGroups(tk)
	switch {
	case !root && (e != 0 || !slices.Equal(groups, sortedGroups(tk.ids.groups))):
		t.fail(tk, syscall.EPERM)
	case e != 0:
		t.fail(tk, e)
	default:
		tk.ids.groups = groups
		t.finish(tk, 0)
	}
}

// readGroups reads the list that setgroups is given.
func (t *Tracer) readGroups(tk *task) ([]uint32, syscall.Errno) {
	n := uint32(t.regs.X[0])
	if n > maxGroups {
		return nil, syscall.EINVAL
	}
	buf := make([]byte, 4*n)
	if readMemory(tk.tid, t.regs.X[1], buf) != len(buf) {
		return nil, syscall.EFAULT
	}
	groups := make([]uint32, n)
	for i := range groups {
		if groups[i] = le.Uint32(buf[4*i:]); groups[i] == noID {
			return nil, syscall.EINVAL
		}
	}
	return sortedGroups(groups), 0
}
