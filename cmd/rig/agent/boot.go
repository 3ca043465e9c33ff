// From the kernel's hand-over to a machine with file systems, as process 1.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// boot returns only with an error, or when the child that serves has ended.
func boot() error {
	if err := mountAll(early); err != nil {
		return err
	}
	if err := loadModules(); err != nil {
		return err
	}
	if err := loadPolicy(); err != nil {
		return err
	}
	if err := mountRoots(); err != nil {
		return err
	}
	if err := enforcePolicy(); err != nil {
		return err
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("rig")); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	child, err := os.StartProcess(selfExe, []string{"agent", serveWord}, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Env:   []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "TMPDIR=/tmp", "LANG=C.UTF-8", "TERM=linux"},
	})
	if err != nil {
		return err
	}
	return reap(child.Pid)
}

// reap collects every process whose parent is gone.
func reap(child int) error {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait: %w", err)
		}
		if pid == child {
			return fmt.Errorf("server ended: %#x", int(status))
		}
	}
}

func powerOff() {
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// A mount is one file system of the machine.
type mount struct{ what, where, kind, options string }

var early = []mount{
	{"proc", "/proc", "proc", ""},
	{"sysfs", "/sys", "sysfs", ""},
	{"devtmpfs", "/dev", "devtmpfs", ""},
	{"devpts", "/dev/pts", "devpts", "ptmxmode=666,mode=620,gid=5"},
	{"tmpfs", "/dev/shm", "tmpfs", "mode=1777"},
	{"tmpfs", "/tmp", "tmpfs", "mode=1777"},
}

func mountAll(list []mount) error {
	for _, m := range list {
		if err := m.do(0); err != nil {
			return err
		}
	}
	return nil
}

// do mounts it on a folder that is made for it.
func (m mount) do(flags uintptr) error {
	if err := os.MkdirAll(m.where, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(m.what, m.where, m.kind, flags, m.options); err != nil {
		return fmt.Errorf("mount %s: %w", m.where, err)
	}
	return nil
}

// loadModules loads what lies in /modules, by name.
func loadModules() error {
	files, err := filepath.Glob("/modules/*.ko")
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := loadModule(name); err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
	}
	return nil
}

func loadModule(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// word returns the value of NAME=value on the kernel's command line.
func word(name string) (string, error) {
	line, err := os.ReadFile("/proc/cmdline")
	return wordIn(string(line), name), err
}

func wordIn(line, name string) string {
	for _, w := range strings.Fields(line) {
		if v, ok := strings.CutPrefix(w, name+"="); ok {
			return v
		}
	}
	return ""
}

// loopbackUp makes 127.0.0.1 reachable; programs test themselves over it.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	return setUp(fd, "lo")
}

// diskTime bounds the wait for a disk after its driver is loaded.
const diskTime = 10 * time.Second
