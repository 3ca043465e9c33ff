// Package tracer runs a guest: a process tree whose system calls see a rootfs
// and binds in place of the host's files.
//
// One thread owns the loop. It waits for stops, tells what each is, and resumes
// the task; a seccomp filter lets every call pass that needs no look. A call
// with a path is stopped once where the tracer can make it itself (stat, access,
// readlink, unlink), twice where the guest must (open, mkdir): then its registers
// are put back as the kernel would have left them.
//
// It promises: a guest that dies with its tracer; stops and continues of job
// control as without a tracer; an exec by any thread; no call with a number that
// runtime/sysno does not know, and none with a path that was not translated.
//
// It refuses 32-bit programs (ENOEXEC) and other machines than arm64.
//
// A path is opened before it is used, without following a symlink, and what the
// guest's kernel is to read stands where no guest can write: so nothing that a
// guest changes between the look and the use leads outside. Some calls are by text
// all the same, and lose the race with a directory that is swapped for a symlink:
// chdir, inotify_add_watch and the addresses of sockets; and every call where the
// policy around the tracer has no openat2. A message that was looked at and had no
// address, or went to a socket that takes no path, is not copied: it loses the race
// with a header that gets one, or a descriptor that is another.
package tracer
