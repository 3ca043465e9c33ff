// The exec loader itself, run by qemu-user: a test build of it reads its plan
// from a file, and each program says what it sees with and without it.
package loadplan_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/abi"
	"svcrelay/runtime/blob/guestbuild"
	"svcrelay/runtime/loadplan"
)

const (
	qemu     = "qemu-aarch64-static"
	pageSize = 4096 // of qemu-user
)

// sysroot holds the cross compiler's libc: qemu-user looks up absolute paths
// there first, in place of a tracer.
var sysroot = sync.OnceValue(func() string {
	out, err := exec.Command(guestbuild.Compiler, "-print-file-name=ld-linux-aarch64.so.1").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(path) {
		return "/" // on arm64 itself
	}
	return filepath.Dir(filepath.Dir(path))
})

var testLoader = sync.OnceValues(func() ([]byte, error) {
	plan, err := filepath.Abs("testdata/testplan.c")
	if err != nil {
		return nil, err
	}
	return guestbuild.Loader("../guest", "-DLOADER_TEST", plan)
})

// lab is a folder with the test loader in it.
type lab struct {
	t     *testing.T
	dir   string
	files []*os.File // descriptors from 4 on
}

func newLab(t *testing.T) lab {
	t.Helper()
	loader, err := testLoader()
	if err != nil {
		t.Fatal(err)
	}
	l := lab{t: t, dir: t.TempDir()}
	l.write("loader", loader)
	return l
}

func (l lab) path(name string) string { return filepath.Join(l.dir, name) }

func (l lab) write(name string, content []byte) {
	l.t.Helper()
	if err := os.WriteFile(l.path(name), content, 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) compile(name, source string, flags ...string) {
	l.t.Helper()
	args := append([]string{"-O1", "-o", l.path(name), filepath.Join("testdata", source)}, flags...)
	if out, err := exec.Command(guestbuild.Compiler, args...).CombinedOutput(); err != nil {
		l.t.Fatalf("%s %v: %v\n%s", guestbuild.Compiler, args, err, out)
	}
}

// outcome is what a run leaves.
type outcome struct {
	Status int
	Output string
	Result []byte // the plan as the loader reported it
}

// run starts an arm64 program with a pipe as descriptor 3.
func (l lab) run(path string, argv ...string) outcome {
	l.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		l.t.Fatal(err)
	}
	defer r.Close()
	// A program that was loaded wrongly may hang as well as crash.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, append([]string{"-L", sysroot(), "-0", argv[0], path}, argv[1:]...)...)
	cmd.Env = []string{"PROBE=here", "LC_ALL=C"}
	cmd.ExtraFiles = append([]*os.File{w}, l.files...)
	out, err := cmd.CombinedOutput()
	w.Close()
	if cmd.ProcessState == nil {
		l.t.Fatal(err)
	}
	result, _ := io.ReadAll(r)
	return outcome{cmd.ProcessState.ExitCode(), string(out), result}
}

// load starts a program through the loader.
func (l lab) load(plan []byte, argv ...string) outcome {
	l.t.Helper()
	l.write("plan", plan)
	return l.run(l.path("loader"), append([]string{"loader", l.path("plan")}, argv...)...)
}

func (l lab) image(read func(io.ReaderAt, uint64) (*loadplan.Image, error), path string) *loadplan.Image {
	l.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	m, err := read(bytes.NewReader(content), pageSize)
	if err != nil {
		l.t.Fatalf("%s: %v", path, err)
	}
	return m
}

// plan makes the plan for a program of the lab. In it a nonzero Execfn asks the
// test loader for the program's argv[0].
func (l lab) plan(name string) loadplan.Plan {
	l.t.Helper()
	program := l.image(loadplan.Read, l.path(name))
	p := loadplan.Plan{Program: loadplan.File{Image: program, Path: l.path(name)}, Name: name, Execfn: 1}
	if program.Interp != "" {
		interp := l.image(loadplan.ReadInterp, filepath.Join(sysroot(), program.Interp))
		p.Interp = &loadplan.File{Image: interp, Path: program.Interp}
	}
	return p
}

func (l lab) bytes(p loadplan.Plan) []byte {
	l.t.Helper()
	b, err := p.Bytes()
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

// programs are the shapes that real programs have.
var programs = []struct {
	name  string
	flags string
}{
	{"static", "-static -no-pie"},
	{"static-4k", "-static -no-pie -Wl,-z,max-page-size=4096"},
	{"static-high", "-static -no-pie -Wl,-Ttext-segment=0x7d000000"},
	{"static-pie", "-static-pie -fPIE"},
	{"static-pie-2m", "-static-pie -fPIE -Wl,-z,max-page-size=0x200000 -DALIGN=0x200000"},
	{"dynamic", "-pie -fPIE"},
	{"dynamic-no-pie", "-no-pie"},
	{"dynamic-4k", "-pie -fPIE -Wl,-z,max-page-size=4096"},
	{"dynamic-16k", "-pie -fPIE -Wl,-z,max-page-size=16384 -DALIGN=16384"},
	{"dynamic-64k", "-pie -fPIE -Wl,-z,max-page-size=65536 -DALIGN=65536"},
	{"dynamic-2m", "-pie -fPIE -Wl,-z,max-page-size=0x200000 -DALIGN=0x200000"},
	{"separate-code", "-pie -fPIE -Wl,-z,separate-code -Wl,-z,max-page-size=65536"},
	{"bss-heavy", "-pie -fPIE -DBSS=(64<<20)"},
	{"bss-small", "-static -no-pie -DBSS=1"},
	{"execstack", "-pie -fPIE -z execstack -DEXECSTACK"},
	{"bti", "-static-pie -fPIE -mbranch-protection=standard"},
}

func TestLoader(t *testing.T) {
	l := newLab(t)
	for _, tt := range programs {
		t.Run(tt.name, func(t *testing.T) {
			l.t = t
			l.compile(tt.name, "probe.c", strings.Fields(tt.flags)...)
			argv := []string{"/guest/" + tt.name, "an argument", ""}
			want := l.run(l.path(tt.name), argv...)
			// Where the emulator is no model: it names the file, and itself, and
			// leaves its reservations between segments.
			want.Output = regexp.MustCompile(`reserved \d+`).ReplaceAllString(want.Output, "reserved 0")
			want.Output = strings.NewReplacer("execfn "+l.path(tt.name), "execfn "+argv[0],
				"comm qemu-aarch64-st", "comm "+tt.name).Replace(want.Output)
			got := l.load(l.bytes(l.plan(tt.name)), argv...)
			checkResult(t, got.Result)
			got.Result = want.Result
			if diff := cmp.Diff(want, got); diff != "" || want.Status != 5 {
				t.Errorf("status %d, -without the loader +with it:\n%s", want.Status, diff)
			}
		})
	}
}

func checkResult(t *testing.T, plan []byte) {
	t.Helper()
	r, err := loadplan.ReadResult(plan)
	if err != nil || r.PageSize != pageSize || r.Start == 0 || r.StackErr != 0 {
		t.Errorf("ReadResult() = %+v, %v", r, err)
	}
}

func TestRegisters(t *testing.T) {
	l := newLab(t)
	l.compile("entry", "entry.S", "-nostdlib", "-static")
	if got := l.load(l.bytes(l.plan("entry")), "entry"); got.Status != 0 {
		t.Errorf("status %d, want 0", got.Status)
	}
}

func TestDescriptor(t *testing.T) {
	l := newLab(t)
	l.compile("static", "probe.c", "-static", "-no-pie")
	f, err := os.Open(l.path("static"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l.files = []*os.File{f}
	for _, keep := range []bool{false, true} {
		p := l.plan("static")
		p.Program.Path, p.Program.FD, p.Program.KeepFD = "", 4, keep
		got := l.load(l.bytes(p), "static")
		if got.Status != 5 || strings.Contains(got.Output, "fds 0 1 2 3 4") != keep {
			t.Errorf("KeepFD %v: status %d, want 5 and descriptor 4 open %v in:\n%s", keep, got.Status, keep, got.Output)
		}
	}
}

// TestWindow: a window that cannot be opened is none, and no failure.
func TestWindow(t *testing.T) {
	l := newLab(t)
	l.compile("window", "window.c", "-static")
	l.write("open", bytes.Repeat([]byte("W"), abi.WindowSize))
	for _, tt := range []struct {
		file  string
		there bool
	}{{"open", true}, {"missing", false}} {
		p := l.plan("window")
		p.Window = l.path(tt.file)
		if got := l.load(l.bytes(p), "window"); (got.Status == 5) != tt.there {
			t.Errorf("window %s: status %d, want 5 %t (else it dies of the look)", tt.file, got.Status, tt.there)
		}
	}
}

// TestGuarded needs a processor with BTI, which qemu-user has.
func TestGuarded(t *testing.T) {
	l := newLab(t)
	const killed = -1
	for features, want := range map[string]int{"0": 7, "1": killed} {
		name := "guarded" + features
		l.compile(name, "guarded.S", "-nostdlib", "-static", "-DFEATURES="+features)
		if got := l.run(l.path(name), name); got.Status != want {
			t.Errorf("%s without the loader: status %d, want %d", name, got.Status, want)
		}
		if got := l.load(l.bytes(l.plan(name)), name); got.Status != want {
			t.Errorf("%s with it: status %d, want %d", name, got.Status, want)
		} else {
			checkResult(t, got.Result)
		}
	}
}

func TestFailure(t *testing.T) {
	l := newLab(t)
	l.compile("static", "probe.c", "-static", "-no-pie")
	for _, tt := range []struct {
		name   string
		change func(*loadplan.Plan)
		step   abi.Step
		errno  syscall.Errno
	}{
		{"no such file", func(p *loadplan.Plan) { p.Program.Path = l.path("missing") }, abi.StepOpen, syscall.ENOENT},
		{"no descriptor", func(p *loadplan.Plan) { p.Program.Path, p.Program.FD = "", 99 }, abi.StepMap, syscall.EBADF},
		{"twice at one place", func(p *loadplan.Plan) { p.Interp = &p.Program }, abi.StepReserve, syscall.EEXIST},
		{"too large", func(p *loadplan.Plan) { p.Program.Image.Fixed = false; p.Program.Image.Align = 1 << 55 }, abi.StepReserve, syscall.ENOMEM},
		{"unaligned", func(p *loadplan.Plan) { p.Program.Image.Segments[1].Offset++ }, abi.StepMap, syscall.EINVAL},
	} {
		p := l.plan("static")
		tt.change(&p)
		got := l.load(l.bytes(p), "static")
		_, err := loadplan.ReadResult(got.Result)
		want := fmt.Sprintf(": %v: %v", tt.step, tt.errno)
		if got.Status != abi.ExitStatus || err == nil || !strings.HasSuffix(err.Error(), want) || loadplan.Errno(err) != tt.errno {
			t.Errorf("%s: status %d, error %v, want status %d and %q", tt.name, got.Status, err, abi.ExitStatus, want)
		}
	}
}
