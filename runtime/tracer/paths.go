//go:build linux && arm64

// Which arguments of a call are paths, read from the one syscall table: where a
// path starts from, and whether its last component is followed.

package tracer

import "svcrelay/runtime/sysno"

// A pathArg is one path among the arguments of a call.
type pathArg struct {
	arg   int8
	dirfd int8 // its directory descriptor's argument, -1: the working directory
	entry bool // the directory entry itself: never followed
}

// A followFlag says which argument may change whether a path is followed.
type followFlag struct {
	arg int8   // -1: none
	bit uint64 // in that argument
	on  bool   // set means follow; otherwise set means do not
}

// A pathCall is what the tracer must know to translate a call.
type pathCall struct {
	paths  [2]pathArg
	n      int8
	follow followFlag
	flags  int8 // the argument that may hold AT_EMPTY_PATH, -1: none
	// valid are the flags that the kernel knows; it refuses others before it looks
	// at a path. 0: it says so later, or has none.
	valid uint64
}

// validFlags is by number (fs/stat.c, open.c, namei.c, utimes.c, xattr.c).
var validFlags = map[int]uint64{
	sysno.Newfstatat: 0x7900,
	sysno.Statx:      0x7900,
	sysno.Faccessat2: 0x1300,
	sysno.Fchownat:   0x1100,
	sysno.Fchmodat2:  0x1100,
	sysno.Utimensat:  0x1100,
	sysno.Unlinkat:   0x200,
	sysno.Linkat:     0x1400,
}

// atFDCWD is the directory descriptor that means the working directory.
const atFDCWD = -100

// The bits that decide about the last component (uapi/linux/fcntl.h, inotify.h).
const (
	atSymlinkNofollow = 0x100
	atSymlinkFollow   = 0x400
	atEmptyPath       = 0x1000
	oCreat            = 0o100
	oExcl             = 0o200
	oNofollow         = 0o100000 // arm64's own value
	inDontFollow      = 0x02000000
)

// pathCalls is by number; n is 0 for a call without paths.
var pathCalls = buildPathCalls()

func buildPathCalls() (table [sysno.Max + 1]pathCall) {
	for _, c := range sysno.All() {
		if c.Class == sysno.ClassTranslate || c.Class == sysno.ClassExec || c.Class == sysno.ClassInspect {
			table[c.Nr] = pathCallOf(c)
			table[c.Nr].valid = validFlags[c.Nr]
		}
	}
	return table
}

func pathCallOf(c sysno.Call) pathCall {
	p := pathCall{follow: followFlag{arg: -1}, flags: -1}
	for i, a := range c.Args {
		arg := int8(i)
		switch a {
		case sysno.ArgPath, sysno.ArgPath2, sysno.ArgEntry, sysno.ArgEntry2:
			dirfd := int8(-1)
			if i > 0 && (c.Args[i-1] == sysno.ArgDirfd || c.Args[i-1] == sysno.ArgDirfd2) {
				dirfd = arg - 1
			}
			p.paths[p.n] = pathArg{arg, dirfd, a == sysno.ArgEntry || a == sysno.ArgEntry2}
			p.n++
		case sysno.ArgAtflags:
			p.follow, p.flags = followFlag{arg, atSymlinkNofollow, false}, arg
		case sysno.ArgFollowflags:
			p.follow, p.flags = followFlag{arg, atSymlinkFollow, true}, arg
		case sysno.ArgOflags:
			p.follow = followFlag{arg, oNofollow, false}
		case sysno.ArgWatchmask:
			p.follow = followFlag{arg, inDontFollow, false}
		}
	}
	return p
}

// follows reports whether the last component of path i is followed, given the
// arguments of the call.
func (p *pathCall) follows(i int, args []uint64) bool {
	f := p.follow
	set := f.arg >= 0 && args[f.arg]&f.bit != 0
	if f.on { // linkat: the first path only
		return i == 0 && set
	}
	if p.paths[i].entry {
		return false
	}
	return !set
}

// unknown reports whether the call has a flag, or readlink a length, that the
// kernel refuses. It looks at 32 bits, as the kernel does.
func (p *pathCall) unknown(nr int, args []uint64) bool {
	if nr == sysno.Readlinkat {
		return int32(args[3]) <= 0
	}
	return p.valid != 0 && uint32(args[p.flags])&^uint32(p.valid) != 0
}

// creates reports whether oflags make openat keep the last component.
func creates(oflags uint64) bool { return oflags&(oCreat|oExcl) == oCreat|oExcl }
