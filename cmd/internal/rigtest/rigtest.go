// Package rigtest runs programs of tests on a real arm64 kernel.
//
// A test that names no kernel, processor or other property of the machine runs
// its programs right here when here is arm64: inside the test machine, under
// go test -exec, or on an arm64 host. All others get a fresh machine. What is
// missing, the emulator for one, fails the test and says which package has it;
// nothing skips.
package rigtest

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"svcrelay/cmd/internal/frame"
	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/vm"
)

// Options say where and how a program runs. All may be left out.
type Options struct {
	machine.Options // of the machine; the zero value is here, if here is arm64

	Root    string // guest root to chroot into, by name: bookworm
	Level   int    // under the app filter of this API level of Android
	Domain  string // of SELinux, in a machine that has it
	UID     int
	Dir     string
	Env     []string
	Stdin   string
	Timeout time.Duration     // kills the program; 0 is a minute
	Files   map[string]string // copied first: host names by names inside Root
	Collect []string          // names of files inside Root, for Result.Files
}

// A Result is how a program ended, and what it left.
type Result struct {
	Stdout, Stderr     string
	Code               int // -1 after a signal
	Signal             int
	User, System, Wall time.Duration
	Files              map[string]string // contents by name, of those Collect named that exist
}

const usualTimeout = time.Minute

// Run runs a program in a fresh machine, or here.
func Run(t testing.TB, o Options, argv ...string) Result {
	t.Helper()
	return Start(t, o.Options).Run(t, o, argv...)
}

// A Machine is one for several programs, the rest of a test long.
type Machine struct{ vm *vm.VM } // nil: here

// Start starts a machine, or takes the one that the test runs on.
func Start(t testing.TB, o machine.Options) *Machine {
	t.Helper()
	if isHere(o) {
		return &Machine{}
	}
	r, err := machine.Find(func(what string) { t.Log(what) })
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	v, err := r.Start(o)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	t.Cleanup(v.Kill)
	return &Machine{v}
}

// isHere reports whether a machine of these options is the one we run on.
func isHere(o machine.Options) bool { return runtime.GOARCH == "arm64" && o == machine.Options{} }

// Run runs a program; its Options' machine has been chosen already. The exit
// status is the caller's to judge; a program that cannot be started is fatal.
func (m *Machine) Run(t testing.TB, o Options, argv ...string) Result {
	t.Helper()
	q := o.request(argv)
	got, err := m.carryOut(q, o)
	if err != nil {
		t.Fatalf("rig: %s: %v", strings.Join(argv, " "), err)
	}
	r := Result{
		Stdout: got.Stdout, Stderr: got.Stderr, Code: got.Code, Signal: got.Signal,
		User: got.User, System: got.System, Wall: got.Wall,
	}
	if len(o.Collect) == 0 {
		return r
	}
	if r.Files, err = m.collect(q.Root, o.Collect); err != nil {
		t.Fatalf("rig: %v", err)
	}
	return r
}

func (o Options) request(argv []string) frame.Request {
	q := frame.Request{Op: frame.OpRun, Argv: argv, Env: o.Env, Timeout: o.Timeout,
		Place: frame.Place{Dir: o.Dir, UID: o.UID, Level: o.Level, Domain: o.Domain}}
	if o.Root != "" {
		q.Root = "/r/" + o.Root
	}
	if q.Timeout == 0 {
		q.Timeout = usualTimeout
	}
	return q
}

func (m *Machine) carryOut(q frame.Request, o Options) (vm.Result, error) {
	files := map[string]string{}
	for name, host := range o.Files {
		files[q.Root+"/"+strings.TrimLeft(name, "/")] = host
	}
	if m.vm == nil {
		return here(q, files, o.Stdin)
	}
	ctx := context.Background()
	if len(files) > 0 {
		if err := m.vm.Put(ctx, files); err != nil {
			return vm.Result{}, err
		}
	}
	var in io.Reader
	if o.Stdin != "" {
		in = strings.NewReader(o.Stdin)
	}
	got, err := m.vm.Run(ctx, q, in)
	if err == nil && got.Err != "" {
		err = errString(got.Err)
	}
	return got, err
}

type errString string

func (e errString) Error() string { return string(e) }

// collect returns the contents of files that exist.
func (m *Machine) collect(root string, names []string) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range names {
		text, ok, err := m.read(root + "/" + strings.TrimLeft(name, "/"))
		if err != nil {
			return nil, err
		}
		if ok {
			files[name] = text
		}
	}
	return files, nil
}

// read returns a file's content, and whether there is such a file.
func (m *Machine) read(name string) (string, bool, error) {
	if m.vm == nil {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			return "", false, nil
		}
		return string(text), err == nil, err
	}
	var out bytes.Buffer
	if err := m.vm.Get(context.Background(), &out, name); err != nil {
		return "", false, err
	}
	tr := tar.NewReader(&out)
	if _, err := tr.Next(); err != nil {
		return "", false, noEntry(err)
	}
	text, err := io.ReadAll(tr)
	return string(text), err == nil, err
}

// noEntry: a tar without entries is that of a name that does not exist.
func noEntry(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
