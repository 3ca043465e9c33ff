// The calls that stop only for some values of their arguments.

package policy

import (
	"math"

	"svcrelay/runtime/sysno"
)

// Values of the arm64 kernel's headers.
const (
	prGetDumpable   = 3
	prSetDumpable   = 4 // 0 would lock the tracer out of the guest's memory
	prSetNoNewPrivs = 38
	prGetNoNewPrivs = 39         // 1 for every guest, because of this very filter
	prGetAuxv       = 0x41555856 // names the loader, not the program

	tcsetsf  = 0x5404
	tcgets2  = 0x802c542a
	tcsets2  = 0x402c542b
	tcsetsw2 = 0x402c542c
	tcsetsf2 = 0x402c542d
	ficlone  = 0x40049409

	rlimitStack = 3
	atEmptyPath = 0x1000
	solSocket   = 1
	soPeercred  = 17

	afNetlink    = 16
	netlinkAudit = 9

	cloneUntraced = 0x0080_0000 // the child would have no tracer
	cloneNew      = 0x7e02_0000 // namespaces: NEWNS and NEWCGROUP to NEWNET
)

// allBits is the mask that asks whether a pointer is not null.
const allBits = math.MaxUint64

// narrow wraps the rule stop of a call into the tests of its arguments.
func (o Options) narrow(c sysno.Call, stop Rule) Rule {
	switch c.Nr {
	case sysno.Prctl:
		return oneOf(0, stop, prGetDumpable, prSetDumpable, prSetNoNewPrivs, prGetNoNewPrivs, prGetAuxv)
	case sysno.Ioctl:
		return oneOf(1, stop, tcgets2, tcsets2, tcsetsw2, tcsetsf2, tcsetsf, ficlone)
	case sysno.Setrlimit:
		return oneOf(0, stop, rlimitStack)
	case sysno.Prlimit64: // every start of a libc asks for the limit; only a new one matters
		return only(stop, Word(1, rlimitStack), Any(2, allBits))
	case sysno.Getsockopt:
		return only(stop, Word(1, solSocket), Word(2, soPeercred))
	case sysno.Socket:
		return only(stop, Word(0, afNetlink), Word(2, netlinkAudit))
	case sysno.Sendto, sysno.Recvfrom:
		return only(stop, Any(4, allBits))
	case sysno.Clone: // the event that follows tells the tracer of the task
		return only(stop, Any(0, cloneUntraced|cloneNew))
	case sysno.Mmap, sysno.Munmap, sysno.Mremap, sysno.Shmat, sysno.Madvise:
		return o.keepWindow(c.Nr, stop)
	case sysno.Newfstatat:
		return o.unlessFstat(stop, Any(3, atEmptyPath))
	case sysno.Statx:
		return o.unlessFstat(stop, Any(2, atEmptyPath))
	case sysno.Utimensat: // the descriptor itself
		return unless(stop, Equal(1, 0))
	}
	return stop
}

// unlessFstat lets a call through that is fstat in other words: no path at all.
func (o Options) unlessFstat(stop Rule, empty Test) Rule {
	if o.Ids { // the owner has to be changed
		return stop
	}
	return unless(stop, empty, Equal(1, 0))
}

// oneOf stops for some values of an int.
func oneOf(arg Field, stop Rule, values ...uint32) Rule {
	r := Always(Allow)
	for _, v := range values {
		r.Cases = append(r.Cases, Case{[]Test{Word(arg, v)}, stop})
	}
	return r
}

// only stops when all tests hold.
func only(stop Rule, tests ...Test) Rule {
	return Rule{[]Case{{tests, stop}}, Allow}
}

// unless lets the call through when all tests hold.
func unless(stop Rule, tests ...Test) Rule {
	return Rule{append([]Case{{tests, Always(Allow)}}, stop.Cases...), stop.Else}
}
