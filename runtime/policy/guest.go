// The tracer's filter.
//
// It fails closed: what has no row in the table is refused, and what has one is
// stopped unless a reason is given here not to. The reasons are values of
// arguments, so they are read where the kernel reads them: the lower word of an
// int, the whole of a pointer.

package policy

import (
	"fmt"
	"slices"

	"svcrelay/runtime/sysno"
)

// Options are what the guest's filter depends on.
type Options struct {
	// Ids: the guest sees other ids than it has (-0, -i).
	Ids bool
	// Uname: the guest sees another host name or release (-k).
	Uname bool
	// Waits: wait4 and waitid stop. Without it a process that traces others must
	// be resumed to stop at every call.
	Waits bool
	// Window: what may take the window away stops.
	Window bool
	// GateStart and GateEnd bound the gate: calls made by an svc in
	// [GateStart, GateEnd) run as they are, if their class is translate, inspect
	// or option. There is no gate when the two are equal.
	GateStart, GateEnd uint64
	// Blocked: calls that the policy around the tracer is known, or probed, to
	// trap. Those that sysno answers with an error get it from this filter too,
	// so that the guest sees one answer even where that policy is laxer.
	Blocked []int
}

const enosys = 38

// Guest returns the filter for the guests of a tracer. The data of its Traces
// are Stops.
func Guest(o Options) (Filter, error) {
	if o.GateStart > o.GateEnd || o.GateStart%4 != 0 || o.GateEnd%4 != 0 {
		return Filter{}, fmt.Errorf("gate %#x to %#x: no range of instructions", o.GateStart, o.GateEnd)
	}
	return New(sysno.Max, o.rule, Errno(enosys), KillProcess), nil
}

func (o Options) rule(nr int) Rule {
	// The kernel makes no call for -1, whoever put it there: the guest gets ENOSYS,
	// and a tracer that skipped a call keeps the result it wrote.
	if nr == -1 {
		return Always(Allow)
	}
	if s := sysno.SigsysOf(nr); s.Kind == sysno.SigsysErrno && slices.Contains(o.Blocked, nr) {
		return Always(Errno(s.Value))
	}
	c, ok := sysno.ByNumber(nr)
	if !ok || c.Class == sysno.ClassRefuse {
		return Always(Errno(enosys))
	}
	if c.Class == sysno.ClassRun || !o.wanted(c) {
		return Always(Allow)
	}
	return o.narrow(c, o.stop(c))
}

// wanted reports whether the options have the tracer stop at the call at all.
func (o Options) wanted(c sysno.Call) bool {
	switch {
	case c.Nr == sysno.Uname:
		return o.Uname
	case c.Nr == sysno.Wait4 || c.Nr == sysno.Waitid:
		return o.Waits
	case c.Class == sysno.ClassOption:
		return o.Ids
	}
	return true
}

// stop is the rule that stops, unless the gate makes the call. What starts
// programs, makes tasks, or is never run by the kernel, stops there too.
func (o Options) stop(c sysno.Call) Rule {
	data := Stop(c.Class)
	if o.exits(c) {
		data |= StopExit
	}
	r := Always(Trace(uint16(data)))
	gated := c.Class == sysno.ClassTranslate || c.Class == sysno.ClassInspect || c.Class == sysno.ClassOption
	if gated && o.GateStart != o.GateEnd {
		// Seen is the address after the svc: for the gate's first word 4 bytes in,
		// for its last one the first byte behind it.
		r.Cases = []Case{{[]Test{Within(IP, o.GateStart+4, o.GateEnd)}, Always(Allow)}}
	}
	return r
}

// exits reports whether the kernel's result is not what the guest may see.
func (o Options) exits(c sysno.Call) bool {
	switch c.Nr {
	case sysno.Readlinkat, sysno.Getcwd, sysno.Statfs, sysno.Recvmsg, sysno.Recvmmsg, sysno.Linkat, sysno.Ioctl:
		return true
	case sysno.Fchmod, sysno.Fchmodat, sysno.Fchmodat2, sysno.Fchown, sysno.Fchownat, sysno.Capset, sysno.Getsockopt,
		sysno.Setxattr, sysno.Lsetxattr, sysno.Fsetxattr, sysno.Socket:
		return o.Ids
	}
	return c.Index(sysno.ArgPeeraddr) >= 0 || o.Ids && c.Index(sysno.ArgStat) >= 0
}
