//go:build linux && arm64

// Starting a guest. The tracer's own program is run again as the guest's first
// process: it waits until it is seized, puts the filter on itself and makes the
// guest's execve, which is the first call that the tracer sees.

package tracer

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/policy"
)

// memoryLimit is what the tracer's heap grows to before it is collected. Stops
// allocate nothing, an exec some ten thousand bytes.
const memoryLimit = 48 << 20

// Run runs a guest and returns its exit status: that of its first process, or 128
// and the number of the signal that ended it. An error tells that the guest did
// not start. Of the descriptors that the caller was started with, the guest alone
// has all but the standard error then: who waits for the end of one, waits for no
// tracer.
//
// It sets the Go runtime up for a tracer: no collection but at memoryLimit, and a
// second processor on a machine with one, without which the runtime takes the
// thread's away at every stop.
func Run(cfg Config) (int, error) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	t := &Tracer{cfg: cfg, books: newBooks()}
	if err := t.prepare(); err != nil {
		return 0, err
	}
	defer t.closeLoader()
	defer t.window.remove()
	defer makePlaces(t.paths.Placeholders())()
	defer t.sockets.aliases.remove()
	hold := make(chan os.Signal, 1) // nobody reads it
	signal.Notify(hold, slices.DeleteFunc(held, signal.Ignored)...)
	defer signal.Stop(hold)
	var err error
	done := make(chan struct{})
	go func() { // a thread of its own: it owns the guest
		defer close(done)
		runtime.LockOSThread()
		if err = ownThread(); err == nil {
			err = t.run()
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
	if err := t.identify(); err != nil {
		return err
	}
	if err := t.nameKernel(); err != nil {
		return err
	}
	err := t.bind()
	if err != nil {
		return err
	}
	if t.loader, t.closeLoader, err = findLoader(t.cfg.Loader, t.temp()); err != nil {
		return err // before there is a window to remove
	}
	t.anchors = openAnchors(t.paths.Hosts())
	t.pins[0].fd, t.pins[1].fd = -1, -1
	t.pinning = t.probePins()
	// Without a window the guest's kernel reads from the guest's stack.
	t.window, _ = openWindow(t.temp())
	filter, err := policy.Guest(policy.Options{
		Window: t.window.mem != nil, Blocked: t.lacking(), Ids: t.who.mode == idsShown, Uname: t.uts != nil,
	})
	if err != nil {
		return err
	}
	t.filter, err = filter.Compile()
	return err
}

// bind makes the resolver, without the binds that cannot be used: launchers name
// what some devices do not have.
func (t *Tracer) bind() error {
	c := guestfs.Config{
		Root: t.cfg.Root, Binds: slices.Clone(t.cfg.Binds),
		FS:    &hostFS{noOpenat2: t.filtered}, // a policy may kill for it
		Procs: (*procs)(t),
	}
	for {
		var err error
		t.paths, err = guestfs.New(c)
		var bad *guestfs.BindError
		if !errors.As(err, &bad) {
			return err
		}
		t.cfg.say(Warnings, bad)
		c.Binds = slices.Delete(c.Binds, bad.Index, bad.Index+1)
	}
}

// run starts the guest and follows it to its end.
func (t *Tracer) run() error {
	plan, err := t.firstPlan()
	if err != nil {
		return err
	}
	failure, err := t.start(plan)
	if err != nil {
		return err
	}
	defer failure.Close()
	if err := t.loop(); err != nil {
		return err
	}
	if t.loaderErr != nil {
		return t.loaderErr
	}
	if text, _ := io.ReadAll(failure); len(text) > 0 {
		return errors.New(string(text))
	}
	return nil
}

// start makes the first process and seizes it before it goes on. What the process
// writes into the file that is returned is why it did not become the guest.
func (t *Tracer) start(plan firstPlan) (*os.File, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("start the guest: %w", err)
	}
	// Their end keeps its number: any that we chose may be one of the guest's.
	fd := theirs.Fd()
	syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETFD, 0)
	p, err := os.StartProcess("/proc/self/exe", []string{"svcrelay", FirstArg, strconv.Itoa(int(fd))}, &os.ProcAttr{
		// The signals by which the runtime preempts would be pending in the guest.
		Env: []string{"GODEBUG=asyncpreemptoff=1"}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	theirs.Close()
	if err != nil {
		return nil, fmt.Errorf("start the guest: %w", err)
	}
	t.first = p.Pid
	if err := seize(p.Pid); err != nil {
		p.Kill()
		return nil, fmt.Errorf("trace the guest: ptrace is refused: %w%s", err, refusal())
	}
	proc := t.books.addProcess(p.Pid, nil)
	t.books.addTask(p.Pid, proc).ids = t.who.first
	if err := gob.NewEncoder(ours).Encode(plan); err != nil {
		return nil, fmt.Errorf("start the guest: %w", err)
	}
	giveUpInherited()
	return ours, p.Release()
}

// refusal tells why ptrace is refused, where that can be known.
func refusal() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	if pid := statusField(status, "TracerPid:"); pid != 0 {
		return fmt.Sprintf(" (this process is itself traced, by TracerPid %d)", pid)
	}
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && scope[0] > '1' {
		return fmt.Sprintf(" (kernel.yama.ptrace_scope is %c)", scope[0])
	}
	return ""
}

// say tells something of a level.
func (c *Config) say(l Level, what error) {
	if l <= c.Verbose && c.Say != nil {
		c.Say(l, what)
	}
}

// execFailed cleans up after an exec that the kernel refused, and looks whether the
// guest cannot start because of the loader: it is the only file that the kernel was
// asked to run.
func (t *Tracer) execFailed(tk *task) {
	removeCopy(&tk.exec.copy)
	if tk.tid != t.first || tk.proc.exe != "" || t.regs.getCall(tk.tid) != nil {
		return
	}
	switch e := syscall.Errno(-t.regs.X[0]); e {
	case syscall.E2BIG, syscall.ENOMEM, syscall.EFAULT:
	default:
		t.loaderErr = fmt.Errorf("exec loader %s: %w: files there may not be run (PROOT_LOADER or PROOT_TMP_DIR names another place)", t.loader, e)
	}
}

// countExec counts an exec. With the first one counting begins: what the first
// process did before was ours.
func (t *Tracer) countExec(p *process) {
	if t.stats == nil {
		t.stats = t.cfg.Stats
		p.count = t.stats.born(p.tgid, p.exe)
	}
	t.stats.exec(p.count, p.exe)
}
