package policy

import (
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/runtime/sysno"
)

// The values that are the same on every architecture, against x/sys/unix.
func TestValues(t *testing.T) {
	for name, row := range map[string][2]uint64{
		"AUDIT_ARCH_AARCH64": {Arch, unix.AUDIT_ARCH_AARCH64}, "SECCOMP_RET_KILL_PROCESS": {uint64(KillProcess), unix.SECCOMP_RET_KILL_PROCESS},
		"SECCOMP_RET_TRAP": {uint64(Trap), unix.SECCOMP_RET_TRAP}, "SECCOMP_RET_ALLOW": {uint64(Allow), unix.SECCOMP_RET_ALLOW},
		"SECCOMP_RET_ERRNO": {uint64(errnoKind), unix.SECCOMP_RET_ERRNO}, "SECCOMP_RET_TRACE": {uint64(traceKind), unix.SECCOMP_RET_TRACE},
		"ENOSYS": {enosys, uint64(unix.ENOSYS)}, "PR_GET_DUMPABLE": {prGetDumpable, unix.PR_GET_DUMPABLE}, "PR_SET_DUMPABLE": {prSetDumpable, unix.PR_SET_DUMPABLE},
		"PR_SET_NO_NEW_PRIVS": {prSetNoNewPrivs, unix.PR_SET_NO_NEW_PRIVS}, "PR_GET_NO_NEW_PRIVS": {prGetNoNewPrivs, unix.PR_GET_NO_NEW_PRIVS},
		"PR_GET_AUXV": {prGetAuxv, unix.PR_GET_AUXV}, "TCSETSF": {tcsetsf, 0x5404}, "TCGETS2": {tcgets2, unix.TCGETS2}, "TCSETS2": {tcsets2, unix.TCSETS2},
		"TCSETSW2": {tcsetsw2, unix.TCSETSW2}, "TCSETSF2": {tcsetsf2, unix.TCSETSF2}, "FICLONE": {ficlone, unix.FICLONE}, "RLIMIT_STACK": {rlimitStack, unix.RLIMIT_STACK},
		"AT_EMPTY_PATH": {atEmptyPath, unix.AT_EMPTY_PATH}, "SOL_SOCKET": {solSocket, unix.SOL_SOCKET}, "SO_PEERCRED": {soPeercred, unix.SO_PEERCRED},
		"CLONE_UNTRACED": {cloneUntraced, unix.CLONE_UNTRACED},
		"CLONE_NEW*":     {cloneNew, unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET},
	} {
		if row[0] != row[1] {
			t.Errorf("%s = %#x, want %#x", name, row[0], row[1])
		}
	}
}

// The arguments that are tested are those that the table says they are.
func TestArgumentPlaces(t *testing.T) {
	for _, row := range []struct {
		nr, at int
		want   sysno.Arg
	}{
		{sysno.Prctl, 0, sysno.ArgCmd}, {sysno.Ioctl, 1, sysno.ArgCmd}, {sysno.Setrlimit, 0, sysno.ArgInt}, {sysno.Prlimit64, 1, sysno.ArgInt}, {sysno.Prlimit64, 2, sysno.ArgPtr},
		{sysno.Getsockopt, 1, sysno.ArgInt}, {sysno.Getsockopt, 2, sysno.ArgInt}, {sysno.Sendto, 4, sysno.ArgSockaddr}, {sysno.Recvfrom, 4, sysno.ArgPeeraddr}, {sysno.Clone, 0, sysno.ArgFlags},
		{sysno.Newfstatat, 1, sysno.ArgPath}, {sysno.Newfstatat, 3, sysno.ArgAtflags}, {sysno.Statx, 1, sysno.ArgPath}, {sysno.Statx, 2, sysno.ArgAtflags}, {sysno.Utimensat, 1, sysno.ArgPath},
	} {
		if c, _ := sysno.ByNumber(row.nr); c.Args[row.at] != row.want {
			t.Errorf("argument %d of %s is %v, want %v", row.at, c.Name, c.Args[row.at], row.want)
		}
	}
}
