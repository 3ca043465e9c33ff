//go:build linux && arm64

// Where Android's answers mislead programs, and a better one is to be had.

package tracer

import (
	"bytes"
	"syscall"

	"svcrelay/runtime/sysno"
)

var androidCalls = map[int]handler{
	sysno.Openat: (*Tracer).openat,
	sysno.Ioctl:  (*Tracer).ioctl,
}

// openat handles a file that is to be made without a name. Programs give it one
// later, by a hard link, which no app may make: they know what to do when the file
// system cannot make such files at all. One with O_EXCL never gets a name.
func (t *Tracer) openat(tk *task, nr int) {
	if t.filtered && t.regs.X[2]&(oTmpfile|oExcl) == oTmpfile {
		t.fail(tk, syscall.EOPNOTSUPP)
		return
	}
	t.pathCall(tk, nr)
}

// linkRefusal is the result of a hard link: EPERM says that the file system has
// none, and programs copy the file then; EACCES ends them.
func (t *Tracer) linkRefusal(result int64) int64 {
	if t.filtered && result == -int64(syscall.EACCES) {
		return -int64(syscall.EPERM)
	}
	return result
}

// tmpfsMagic is TMPFS_MAGIC, the f_type of a file system in memory.
const tmpfsMagic = 0x01021994

// showShm makes a struct statfs of /dev/shm that of a file system in memory, for
// older C libraries open no shared memory elsewhere. A bind may be anything.
func showShm(statfs, guest []byte) {
	if rest, ok := bytes.CutPrefix(guest, []byte("/dev/shm")); ok && (len(rest) == 0 || rest[0] == '/') {
		le.PutUint64(statfs, tmpfsMagic)
	}
}
