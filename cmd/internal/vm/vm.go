// The life of a machine: start, save, kill.

package vm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"svcrelay/cmd/internal/frame"
)

// bootTime bounds a boot. Two seconds are usual, 16 the most that was seen.
const bootTime = 3 * time.Minute

var (
	errGone = errors.New("machine is gone")
	errBoot = errors.New("no word from the agent")
)

// A VM is a running machine.
type VM struct {
	cmd     *exec.Cmd
	console tail
	monitor *monitor
	conn    *frame.Conn
	calls   calls
	hello   chan struct{}
	dead    chan struct{}
	config  Config
	files   []*os.File // the emulator's, closed once it runs
	ends    []net.Conn // ours, closed when it is gone
}

// Start boots or restores a machine and waits until its agent answers.
func Start(c Config) (*VM, error) {
	v := &VM{config: c, hello: make(chan struct{}), dead: make(chan struct{})}
	if err := v.start(); err != nil {
		v.stop()
		return nil, fmt.Errorf("%w%s", err, v.console.lines())
	}
	return v, nil
}

func (v *VM) start() error {
	if _, err := exec.LookPath(Emulator); err != nil {
		return fmt.Errorf("%w (package qemu-system-arm)", err)
	}
	if err := v.openFiles(); err != nil {
		return err
	}
	if err := v.launch(); err != nil {
		return err
	}
	var err error
	if v.monitor, err = openMonitor(v.ends[1]); err != nil {
		return err
	}
	v.conn = frame.NewConn(v.ends[0])
	go v.receive()
	if v.config.Mode == Restore {
		return v.restore()
	}
	return v.await()
}

// openFiles makes the two sockets, and opens the devices of a template.
func (v *VM) openFiles() error {
	for range 2 {
		end, file, err := socketPair()
		if err != nil {
			return err
		}
		v.ends, v.files = append(v.ends, end), append(v.files, file)
	}
	if v.config.Mode != Restore {
		return nil
	}
	f, err := os.Open(filepath.Join(v.config.Template, deviceFile))
	v.files = append(v.files, f)
	return err
}

// launch starts the emulator, which the kernel kills when this process ends.
func (v *VM) launch() error {
	v.cmd = exec.Command(Emulator, v.config.args()...)
	v.cmd.Dir = v.config.Template
	v.cmd.ExtraFiles = v.files
	v.cmd.Stdout, v.cmd.Stderr = &v.console, &v.console
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := v.cmd.Start(); err != nil {
		v.cmd = nil
		return fmt.Errorf("%s: %w", Emulator, err)
	}
	v.closeFiles()
	go func() {
		v.cmd.Wait()
		close(v.dead)
		v.closeEnds()
	}()
	return nil
}

func (v *VM) restore() error {
	if err := v.monitor.migrate("migrate-incoming", fmt.Sprintf("fd:%d", devicesFD)); err != nil {
		return err
	}
	return v.monitor.do("cont", nil, nil)
}

// await waits for the agent of a machine that boots.
func (v *VM) await() error {
	timer := time.NewTimer(bootTime)
	defer timer.Stop()
	select {
	case <-v.hello:
		return nil
	case <-v.dead:
		return errGone
	case <-timer.C:
		return fmt.Errorf("%w in %v", errBoot, bootTime)
	}
}

// Save makes a template of a machine that was started with Prepare, and ends it.
func (v *VM) Save() error {
	defer v.Kill()
	if err := v.monitor.do("stop", nil, nil); err != nil {
		return err
	}
	return v.monitor.migrate("migrate", "exec:cat >"+deviceFile)
}

// Kill ends the machine at once.
func (v *VM) Kill() {
	if v.cmd != nil {
		v.cmd.Process.Kill()
		<-v.dead
	}
}

// Console is the end of what the machine has printed.
func (v *VM) Console() string { return v.console.lines() }

// stop undoes a start that has failed.
func (v *VM) stop() {
	v.Kill()
	v.closeFiles()
	v.closeEnds()
}

func (v *VM) closeFiles() {
	for _, f := range v.files {
		f.Close()
	}
}

func (v *VM) closeEnds() {
	for _, c := range v.ends {
		c.Close()
	}
}

// socketPair returns our end and the emulator's.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "channel"), os.NewFile(uintptr(fds[1]), "channel")
	defer ours.Close()
	c, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("socket pair: %w", err)
	}
	return c, theirs, nil
}
