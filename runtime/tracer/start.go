//go:build linux && arm64

// Starting a guest. The tracer's own program is run again as the guest's first
// process: it waits until it is seized, puts the filter on itself and makes the
// guest's execve, which is the first call that the tracer sees.

package tracer

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"svcrelay/runtime/blob"
	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/policy"
)

// firstPlan is what the first process is told.
type firstPlan struct {
	Filter policy.Program
	Path   string // of the program, in the guest
	Argv   []string
	Env    []string
	Dir    string // host path of the working directory
}

// memoryLimit is what the tracer's heap grows to before it is collected. Stops
// allocate nothing, an exec some ten thousand bytes.
const memoryLimit = 48 << 20

// Run runs a guest and returns its exit status: that of its first process, or 128
// and the number of the signal that ended it. It sets the runtime up for that: no
// collection but at memoryLimit, and a second processor on a machine with one,
// without which the runtime takes the thread's away at every stop.
func Run(cfg Config) (int, error) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	t := &Tracer{cfg: cfg, books: newBooks()}
	if err := t.prepare(); err != nil {
		return 0, err
	}
	defer os.RemoveAll(filepath.Dir(t.loader))
	defer t.window.remove()
	defer makePlaces(t.paths.Placeholders())()
	hold := make(chan os.Signal, 1) // nobody reads it
	signal.Notify(hold, slices.DeleteFunc(held, signal.Ignored)...)
	defer signal.Stop(hold)
	var err error
	done := make(chan struct{})
	go func() { // a thread of its own: it owns the guest
		defer close(done)
		runtime.LockOSThread()
		if err = ownThread(); err != nil {
			return
		}
		if err = t.start(); err == nil {
			err = t.loop()
		}
	}()
	<-done
	if err != nil {
		return 0, err
	}
	if t.status.Signaled() {
		return 128 + int(t.status.Signal()), nil
	}
	return t.status.ExitStatus(), nil
}

// held is the signals that do not end a tracer. The guest has them from the
// terminal too, and it decides what they do.
var held = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGALRM, syscall.SIGPIPE,
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2,
}

// prepare makes the resolver, the filter and the loader.
func (t *Tracer) prepare() error {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		t.filtered = statusField(status, "Seccomp:") != 0
	}
	fs := &hostFS{noOpenat2: t.filtered} // a policy may kill for it
	var err error
	t.paths, err = guestfs.New(guestfs.Config{Root: t.cfg.Root, Binds: t.cfg.Binds, FS: fs, Procs: (*procs)(t)})
	if err != nil {
		return err
	}
	t.anchors = openAnchors(t.paths.Hosts())
	t.pins[0].fd, t.pins[1].fd = -1, -1
	t.pinning = t.probePins()
	// Without a window the guest's kernel reads from the guest's stack.
	t.window, _ = openWindow(t.temp())
	filter, err := policy.Guest(policy.Options{Window: t.window.mem != nil})
	if err != nil {
		return err
	}
	if t.filter, err = filter.Compile(); err != nil {
		return err
	}
	t.loader, err = unpackLoader()
	return err
}

// unpackLoader writes the built-in loader to a folder of its own.
func unpackLoader() (string, error) {
	dir, err := os.MkdirTemp("", "svcrelay-")
	if err != nil {
		return "", fmt.Errorf("unpack the exec loader: %w", err)
	}
	name := filepath.Join(dir, "loader")
	if err := os.WriteFile(name, blob.Loader, 0o500); err != nil {
		return "", errors.Join(fmt.Errorf("unpack the exec loader: %w", err), os.RemoveAll(dir))
	}
	return name, nil
}

// start makes the first process and seizes it before it goes on.
func (t *Tracer) start() error {
	plan, err := t.firstPlan()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the guest: %w", err)
	}
	defer w.Close()
	// The plan keeps its number: any that we chose may be one of the guest's.
	planFD := r.Fd()
	syscall.Syscall(syscall.SYS_FCNTL, planFD, syscall.F_SETFD, 0)
	p, err := os.StartProcess("/proc/self/exe", []string{"svcrelay", FirstArg, strconv.Itoa(int(planFD))}, &os.ProcAttr{
		Env: t.cfg.Env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	r.Close()
	if err != nil {
		return fmt.Errorf("start the guest: %w", err)
	}
	t.first = p.Pid
	if err := seize(p.Pid); err != nil {
		p.Kill()
		return fmt.Errorf("trace the guest: %w%s", err, tracerHint())
	}
	proc := t.books.addProcess(p.Pid, nil)
	t.books.addTask(p.Pid, proc)
	if err := gob.NewEncoder(w).Encode(plan); err != nil {
		return fmt.Errorf("start the guest: %w", err)
	}
	return p.Release()
}

// tracerHint tells who traces this process already, if anybody.
func tracerHint() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	if pid := statusField(status, "TracerPid:"); pid != 0 {
		return fmt.Sprintf(" (this process is itself traced, by TracerPid %d)", pid)
	}
	return ""
}

func (t *Tracer) firstPlan() (firstPlan, error) {
	program, err := t.findProgram(t.cfg.Argv[0])
	if err != nil {
		return firstPlan{}, err
	}
	plan := firstPlan{Filter: t.filter, Path: program, Argv: t.cfg.Argv, Env: t.cfg.Env}
	var dir guestfs.Result
	if errno := t.paths.Resolve(&dir, guestfs.Caller{}, guestfs.Base{}, []byte(t.cfg.Cwd), guestfs.Follow); errno == 0 {
		plan.Dir = string(dir.Host)
	}
	if fi, err := os.Stat(plan.Dir); err != nil || !fi.IsDir() {
		if errno := t.paths.Resolve(&dir, guestfs.Caller{}, guestfs.Base{}, []byte("/"), guestfs.Follow); errno != 0 {
			return plan, fmt.Errorf("root: %w", errno)
		}
		plan.Dir = string(dir.Host)
	}
	return plan, nil
}

// findProgram looks a program up in the guest's PATH, as a shell would.
func (t *Tracer) findProgram(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(envOf(t.cfg.Env, "PATH", "/bin:/usr/bin:/sbin:/usr/sbin")) {
		file := dir + "/" + name
		var found guestfs.Result
		if t.paths.Resolve(&found, guestfs.Caller{}, guestfs.Base{}, []byte(file), guestfs.Follow) != 0 {
			continue
		}
		if fi, err := os.Stat(string(found.Host)); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: not found in the guest's PATH", name)
}

// envOf returns the value of a variable, or a default.
func envOf(env []string, name, none string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return none
}
