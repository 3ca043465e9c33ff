package tracer

import (
	"syscall"
	"testing"
)

// stopped is the status word of a stop.
func stopped(event int, sig syscall.Signal) syscall.WaitStatus {
	return syscall.WaitStatus(event<<16 | int(sig)<<8 | 0x7f)
}

func TestClassify(t *testing.T) {
	type result struct {
		kind stopKind
		sig  syscall.Signal
	}
	for _, tt := range []struct {
		name string
		ws   syscall.WaitStatus
		want result
	}{
		{"exit 0", 0, result{stopExited, 0}},
		{"exit 255", 255 << 8, result{stopExited, 0}},
		{"killed", 9, result{stopExited, 0}},
		{"killed, core dumped", 11 | 0x80, result{stopExited, 0}},
		{"continued", 0xffff, result{stopNone, 0}},
		{"call", stopped(0, syscallTrap), result{stopSyscall, syscallTrap}},
		{"breakpoint", stopped(0, syscall.SIGTRAP), result{stopSignal, syscall.SIGTRAP}},
		{"SIGSTOP on its way", stopped(0, syscall.SIGSTOP), result{stopSignal, syscall.SIGSTOP}},
		{"last signal", stopped(0, 64), result{stopSignal, 64}},
		{"fork", stopped(eventFork, syscall.SIGTRAP), result{stopChild, syscall.SIGTRAP}},
		{"vfork", stopped(eventVfork, syscall.SIGTRAP), result{stopChild, syscall.SIGTRAP}},
		{"clone", stopped(eventClone, syscall.SIGTRAP), result{stopChild, syscall.SIGTRAP}},
		{"exec", stopped(eventExec, syscall.SIGTRAP), result{stopExec, syscall.SIGTRAP}},
		{"vfork done", stopped(eventVforkDone, syscall.SIGTRAP), result{stopVforkDone, syscall.SIGTRAP}},
		{"exiting", stopped(eventExit, syscall.SIGTRAP), result{stopExiting, syscall.SIGTRAP}},
		{"seccomp", stopped(eventSeccomp, syscall.SIGTRAP), result{stopSeccomp, syscall.SIGTRAP}},
		{"first stop", stopped(eventStop, syscall.SIGTRAP), result{stopAttach, syscall.SIGTRAP}},
		{"group stopped", stopped(eventStop, syscall.SIGSTOP), result{stopGroup, syscall.SIGSTOP}},
		{"group stopped by terminal", stopped(eventStop, syscall.SIGTSTP), result{stopGroup, syscall.SIGTSTP}},
		{"group reads terminal", stopped(eventStop, syscall.SIGTTIN), result{stopGroup, syscall.SIGTTIN}},
		{"group writes terminal", stopped(eventStop, syscall.SIGTTOU), result{stopGroup, syscall.SIGTTOU}},
		{"unknown event", stopped(8, syscall.SIGTRAP), result{stopNone, syscall.SIGTRAP}},
	} {
		kind, sig := classify(tt.ws)
		if got := (result{kind, sig}); got != tt.want {
			t.Errorf("%s: classify(%#x) = %v, want %v", tt.name, int(tt.ws), got, tt.want)
		}
	}
}
