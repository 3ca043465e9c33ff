// The calls that could take the window away, or put the guest's own memory in its
// place. A filter cannot add, so it stops what might reach down there: a fixed
// place below 64 GiB that is neither in the first 4 nor longer than that.
//
//	 63    56 55          36 35    32 31            0
//	+--------+--------------+--------+---------------+
//	|  tag   |    beyond    |  high  |               |   an address
//	+--------+--------------+--------+---------------+
//
// The kernel ignores the tag where it unmaps. What is beyond lies above the window
// whatever its length; two values with neither beyond nor high end below it.

package policy

import "svcrelay/runtime/sysno"

const (
	addrBeyond = 0x00ff_fff0_0000_0000
	addrHigh   = 0x0000_000f_0000_0000
	lenHigh    = 0xffff_ffff_0000_0000 // of a length

	mapFixed    = 0x10
	mremapFixed = 2
	shmRemap    = 0o40000
	dontFork    = 10
)

func (o Options) keepWindow(nr int, stop Rule) Rule {
	switch {
	case !o.Window:
		return Always(Allow)
	case nr == sysno.Munmap:
		return reaching(0, 1, stop, Always(Allow))
	case nr == sysno.Mmap:
		return only1(Any(3, mapFixed), reaching(0, 1, stop, Always(Allow)))
	case nr == sysno.Mremap:
		to := only1(Any(3, mremapFixed), reaching(4, 2, stop, Always(Allow)))
		return reaching(0, 1, stop, to)
	}
	if nr == sysno.Madvise {
		return only1(Word(2, dontFork), stop)
	}
	return only1(Any(2, shmRemap), stop)
}

// reaching stops for a range that may end in the window or above it, and not begin
// above; others go on.
func reaching(addr, length Field, stop, others Rule) Rule {
	return Rule{Cases: []Case{
		{[]Test{Any(addr, addrBeyond)}, others},
		{[]Test{Any(addr, addrHigh)}, stop},
		{[]Test{Any(length, lenHigh)}, stop},
		{nil, others},
	}}
}

// only1 goes on under one condition and lets the rest through.
func only1(t Test, then Rule) Rule { return Rule{[]Case{{[]Test{t}, then}}, Allow} }
