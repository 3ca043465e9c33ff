// The ids of a thread, and the rules by which a kernel changes them.
//
// They belong to the thread: that all threads of a process change together is the
// C library's work, which signals each of them. What lets a thread choose freely
// is a capability, and since that comes and goes with an effective id of 0, the id
// is asked here.

package tracer

import (
	"slices"
	"syscall"
)

// noID is the id that no user has: in most calls it means no change.
const noID = ^uint32(0)

// ids are those of one thread. groups is sorted and never changed in place, for
// threads share it.
type ids struct {
	uid, gid idSet
	groups   []uint32
}

// An idSet is the four ids of one kind. Files are looked at, and made, with fs.
type idSet struct{ real, effective, saved, fs uint32 }

func sameIDs(id uint32) idSet { return idSet{id, id, id, id} }

// has reports whether id is the real, the effective or the saved one.
func (s *idSet) has(id uint32) bool {
	return id == s.real || id == s.effective || id == s.saved
}

// set is setuid and setgid. root lifts the restrictions.
func (s *idSet) set(id uint32, root bool) syscall.Errno {
	switch {
	case id == noID:
		return syscall.EINVAL
	case root:
		*s = sameIDs(id)
	case id == s.real || id == s.saved:
		s.effective, s.fs = id, id
	default:
		return syscall.EPERM
	}
	return 0
}

// setRE is setreuid and setregid.
func (s *idSet) setRE(real, effective uint32, root bool) syscall.Errno {
	old := *s
	if real != noID {
		if !root && real != old.real && real != old.effective {
			return syscall.EPERM
		}
		s.real = real
	}
	if effective != noID {
		if !root && !old.has(effective) {
			*s = old
			return syscall.EPERM
		}
		s.effective = effective
	}
	if real != noID || effective != noID && effective != old.real {
		s.saved = s.effective
	}
	s.fs = s.effective
	return 0
}

// setRES is setresuid and setresgid.
func (s *idSet) setRES(real, effective, saved uint32, root bool) syscall.Errno {
	for _, id := range [3]uint32{real, effective, saved} {
		if id != noID && !root && !s.has(id) {
			return syscall.EPERM
		}
	}
	for _, c := range [3]struct {
		to *uint32
		id uint32
	}{{&s.real, real}, {&s.effective, effective}, {&s.saved, saved}} {
		if c.id != noID {
			*c.to = c.id
		}
	}
	s.fs = s.effective
	return 0
}

// setFS is setfsuid and setfsgid: it returns the id before, whatever it did.
func (s *idSet) setFS(id uint32, root bool) (before uint32) {
	before = s.fs
	if id != noID && (root || s.has(id)) {
		s.fs = id
	}
	return before
}

// sortedGroups is the list as the kernel keeps it.
func sortedGroups(groups []uint32) []uint32 {
	groups = slices.Clone(groups)
	slices.Sort(groups)
	return groups
}

// replaceGroup is groups with one id in another's place.
func replaceGroup(groups []uint32, from, to uint32) []uint32 {
	out := sortedGroups(groups)
	for i, g := range out {
		if g == from {
			out[i] = to
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// execute is what an exec does to the ids: those that the file lends are
// effective, then the effective ones are saved. It reports whether the program
// must not trust its environment.
func (i *ids) execute(lends lentIDs) (secure bool) {
	if lends.setUID {
		i.uid.effective = lends.uid
	}
	if lends.setGID {
		i.gid.effective = lends.gid
	}
	for _, s := range [2]*idSet{&i.uid, &i.gid} {
		s.saved, s.fs = s.effective, s.effective
		secure = secure || s.effective != s.real
	}
	return secure
}

// lentIDs are what a set-user-ID or set-group-ID file lends to who runs it.
type lentIDs struct {
	uid, gid       uint32
	setUID, setGID bool
}
