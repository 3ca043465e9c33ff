package sysno

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Every number that some level does not let through has its answer in the table.
func TestSigsysOfWhatAndroidTraps(t *testing.T) {
	n := 0
	for _, c := range All() {
		trapped := false
		for level := AndroidMin; level <= AndroidMax; level++ {
			trapped = trapped || c.Android.AllowedAt(level) != Allowed
		}
		if trapped {
			n++
		}
		if (c.Sigsys.Kind != SigsysNone) != trapped {
			t.Errorf("%s: answer %v, trapped at some level %t", c.Name, c.Sigsys, trapped)
		}
	}
	if n != 121 {
		t.Errorf("%d calls are trapped at some level, want 121", n)
	}
}

func TestSigsysAnswers(t *testing.T) {
	for _, c := range All() {
		switch s := SigsysOf(c.Nr); s.Kind {
		case SigsysErrno:
			if e := unix.Errno(s.Value); e != unix.ENOSYS && e != unix.EPERM {
				t.Errorf("SigsysOf(%s) = errno %d, want ENOSYS or EPERM", c.Name, s.Value)
			}
		case SigsysCall:
			twin, ok := ByNumber(int(s.Value))
			if !ok || twin.Sigsys.Kind != SigsysNone || len(twin.Args) < len(c.Args) {
				t.Errorf("SigsysOf(%s) = call %d, which is trapped too or has other arguments", c.Name, s.Value)
			}
		case SigsysTracer:
			if s.Value != 0 || c.Class != ClassAnswer && c.Class != ClassExec && c.Class != ClassTranslate {
				t.Errorf("SigsysOf(%s) = %v of class %v", c.Name, s, c.Class)
			}
		default:
			t.Errorf("SigsysOf(%s) = %v, want an answer", c.Name, s)
		}
	}
}

func TestSigsysOf(t *testing.T) {
	refused := Sigsys{SigsysErrno, uint16(unix.ENOSYS)}
	for _, row := range []struct {
		nr   int
		want Sigsys
	}{
		{SetRobustList, refused}, {Rseq, refused}, {Clone3, refused}, {CloseRange, refused}, {Faccessat2, refused}, {Openat2, refused}, {FutexWaitv, refused},
		{IoUringSetup, refused}, {Accept, Sigsys{SigsysCall, Accept4}}, {Statx, Sigsys{SigsysTracer, 0}}, {Setuid, Sigsys{SigsysTracer, 0}},
		{Setgroups, Sigsys{SigsysTracer, 0}}, {Mount, Sigsys{SigsysTracer, 0}}, {Settimeofday, Sigsys{SigsysErrno, uint16(unix.EPERM)}},
		// Trapped by no known level: a vendor's policy might.
		{Setresuid, Sigsys{SigsysTracer, 0}}, {Execve, Sigsys{SigsysTracer, 0}}, {Openat, refused}, {Getppid, refused},
		{-1, refused}, {244, refused}, {Max + 1, refused}, {1 << 40, refused},
	} {
		if got := SigsysOf(row.nr); got != row.want {
			t.Errorf("SigsysOf(%s) = %v, want %v", Name(row.nr), got, row.want)
		}
	}
}
