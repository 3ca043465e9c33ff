// Package guestfs turns a guest path into a host path and back.
//
// It promises: a host path that it returns names what the kernel would find for
// the guest path in a chroot to the root with every bind mounted; no part of it
// before the last was a symlink when it was looked at, so the kernel that gets it
// follows nothing out of the root and the binds. What the kernel can refuse by
// itself is left to it: the host path keeps a trailing slash and a trailing dot.
// A Result that is used again allocates nothing once its buffers have grown.
//
// It refuses: a path relative to a directory outside the guest (EACCES), and the
// procfs links of processes that are not the guest's where they lead outside.
//
// It is pure: the file system and the processes are interfaces. A rename between
// the look and the call wins the race, as in every tracer that hands over text.
package guestfs

import "syscall"

// PathMax is the kernel's limit for the text of a path, its NUL included.
const PathMax = 4096

// MaxLinks is how many symlinks one path may follow; the next is ELOOP.
const MaxLinks = 40

// An FS looks at host paths. Each is absolute and is followed by a NUL in its
// array, path[:len(path)+1], so that no copy is needed to call the kernel. One may
// be longer than PathMax: see Split. A Resolver calls it from every goroutine that
// uses the Resolver.
type FS interface {
	// Lstat returns st_mode, of a symlink its own.
	Lstat(host []byte) (mode uint32, errno syscall.Errno)
	// Readlink fills buf and returns how much of it.
	Readlink(host, buf []byte) (n int, errno syscall.Errno)
	// Deleted reports whether the file that the procfs link host leads to has no
	// name any more (st_nlink is 0). Asked only when the link's text says so: a
	// live file may be called "x (deleted)".
	Deleted(host []byte) bool
}

// A Prover is an FS that can answer for a whole path in one step.
type Prover interface {
	// Plain reports that the kernel meets no symlink on host, the last component
	// included, as far as it gets: openat2 with RESOLVE_NO_SYMLINKS that succeeds
	// or fails with anything known but ELOOP; or an O_PATH open whose
	// /proc/self/fd link has the same text. False is always allowed.
	Plain(host []byte) bool
}

// A Caller is the thread that makes the call. The zero Caller has no /proc/self.
type Caller struct{ Tgid, Tid int }

// Procs knows the processes of the guest.
type Procs interface {
	// Traced reports whether tid, a process or a thread, belongs to the guest.
	Traced(tid int) bool
	// Link answers exe, cwd or root of tid as the guest should see it, in
	// t.Guest; false leaves it to the kernel's own link. It reuses t's buffers.
	Link(t *Target, who Caller, tid int, link Link) bool
}

// A Target is where a procfs link leads.
type Target struct {
	Guest []byte // absolute
	// Host, when not empty, is used as it is instead of what Guest resolves to:
	// a program whose file is deleted, kept as a descriptor of the tracer.
	Host []byte
}

// A Base is the directory that a relative path starts from.
type Base struct {
	// Host is the text of /proc/<pid>/cwd or /proc/<pid>/fd/<n>.
	Host []byte
	// Link is the path of that link, for directories that have no name any more,
	// followed by a NUL like the paths of FS.
	Link []byte
	// Via, when known, is Result.Via of the path that the directory was opened by.
	Via Via
}

// Via names the bind that a path goes through; the zero Via is none.
type Via uint16

// Flags tell what a call does with the last component.
type Flags uint16

const (
	// Follow follows a symlink: stat, open, chdir. Without it, a symlink is
	// followed only when a slash comes after it: lstat, readlink.
	Follow Flags = 1 << iota
	// Create is O_CREAT (without Follow when O_EXCL or O_NOFOLLOW is set).
	Create
	// Parent never looks at the last component: mkdir, mknod, symlink, unlink,
	// rmdir, rename, the new name of link, the address of bind.
	Parent
	// Walk says that a symlink is likely: no proof for the whole path is tried.
	Walk
	// NoLinks, NoMagic, NoCross, Beneath and InRoot are the RESOLVE_ flags
	// NO_SYMLINKS, NO_MAGICLINKS, NO_XDEV, BENEATH and IN_ROOT of openat2.
	NoLinks
	NoMagic
	NoCross
	Beneath
	InRoot
	// Exact leaves no error to the kernel but those of the last component: for a
	// call with two paths, whose errors have an order. It costs the proof.
	Exact
)

// Last tells what the last component of a Parent path is.
type Last uint8

const (
	Name   Last = iota
	Dot         // Host ends in "/."
	DotDot      // Host ends in "/.."
	Root        // Host is "/"
)

// Link tells which link of procfs a path names.
type Link uint8

const (
	NotProc    Link = iota
	Self            // /proc/self
	ThreadSelf      // /proc/thread-self
	Exe             // /proc/<tid>/exe
	Cwd             // /proc/<tid>/cwd
	ProcRoot        // /proc/<tid>/root
	Fd              // /proc/<tid>/fd/<n>
	Other           // any other below /proc/<tid>: ns, map_files
	Mem             // /proc/<tid>/mem: no link, but who opens it has the process
)

// A Result is what a path resolves to. It may be used again, by one goroutine at
// a time; its slices are valid until then.
type Result struct {
	// Host is absolute; a NUL follows it in its array.
	Host []byte
	// Guest is the canonical guest path, without a trailing slash. Where Host
	// leads through a procfs link to what has no name, it is only the last known.
	Guest []byte
	Via   Via // the bind that holds the path itself
	Dir   Via // the bind that holds its directory: another one is EXDEV for rename and link
	Last  Last
	Link  Link // the procfs link that Host ends in
	Tid   int  // whose
	// Mount: a bind sits here, or on the same directory where another bind shows
	// it too: EBUSY for rmdir, unlink and rename.
	Mount bool
	// Above: binds lie below the path. It is a directory even if Host is missing.
	Above bool

	walk
}

// Linked reports whether a symlink was followed on the way.
func (w *Result) Linked() bool { return w.links > 0 }
