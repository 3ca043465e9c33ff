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
// It does not hold yet: against a guest that changes a path from another thread
// between the look and the use; for a guest that gave up root, whose stat and
// unlink are still made as the tracer's user; on stacks with less than two paths
// of room below sp.
package tracer
