package command

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/tracer"
)

// planned is the plan of a command line in the folder /here of a host that has
// /proc, /home and /root, and the warnings.
func planned(t *testing.T, line string, env ...string) (runPlan, []string) {
	t.Helper()
	o, err := parseRun(strings.Fields(line))
	if err != nil {
		t.Fatalf("run %s: %v", line, err)
	}
	exists := func(name string) bool { return name == "/proc" || name == "/home" || name == "/here/root" }
	p := o.plan(surrounding{"/here", env}, exists)
	var warnings []string
	for _, w := range p.warnings {
		warnings = append(warnings, w.Error())
	}
	return p, warnings
}

func TestPlan(t *testing.T) {
	p, warnings := planned(t, "-r root -w .. -b /a:b! -b ./c -0 -k 5 --kill-on-exit -v 1 ls -l",
		"PROOT_LOADER=lib/loader", "PROOT_TMP_DIR=t", "PROOT_VERBOSE=-1", "X=1")
	want := tracer.Config{
		Root: "/here/root", Cwd: "/here/..", Argv: []string{"ls", "-l"},
		Binds:  []guestfs.Bind{{Host: "/a", Guest: "/here/b", Literal: true}, {Host: "/here/./c", Guest: "/here/./c"}},
		Env:    []string{"PROOT_LOADER=lib/loader", "PROOT_TMP_DIR=t", "PROOT_VERBOSE=-1", "X=1"},
		Loader: "/here/lib/loader", Temp: "/here/t", IDs: &tracer.IDs{}, Kernel: "5", KillOnExit: true, Verbose: tracer.Settings,
	}
	if diff := cmp.Diff(want, p.Config); diff != "" || warnings != nil {
		t.Errorf("warnings %q, -want +got:\n%s", warnings, diff)
	}
}

func TestPlanDefaults(t *testing.T) {
	p, warnings := planned(t, "", "PROOT_LOADER=", "PROOT_TMP_DIR=")
	want := tracer.Config{
		Root: "/", Cwd: "/here", Program: "/bin/sh", Argv: []string{"-sh"}, Env: []string{"PROOT_LOADER=", "PROOT_TMP_DIR="},
	}
	if diff := cmp.Diff(want, p.Config); diff != "" || warnings != nil || p.quietBinds {
		t.Errorf("warnings %q, -want +got:\n%s", warnings, diff)
	}
}

func TestPlanUsualBinds(t *testing.T) {
	p, warnings := planned(t, "-b /x:/proc/ -R root -b /y:/home", "HOME=/home")
	want := []guestfs.Bind{{Host: "/x", Guest: "/proc/"}, {Host: "/proc", Guest: "/proc"}, {Host: "/home", Guest: "/home"},
		{Host: "/here/root", Guest: "/here/root"}, {Host: "/y", Guest: "/home"}}
	if diff := cmp.Diff(want, p.Binds); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"both /home and /y are bound at /home: the last one wins"}, warnings); diff != "" {
		t.Errorf("warnings -want +got:\n%s", diff)
	}
	if p, _ := planned(t, "-R a:b"); len(p.Binds) != 1 { // /proc; there is no HOME
		t.Errorf("-R a:b binds %v", p.Binds)
	}
}

func TestPlanWarnings(t *testing.T) {
	for _, tt := range []struct {
		line, env string
		verbose   tracer.Level
		want      []string
	}{
		{"-b a:/x -b b:/x", "", 0, []string{"both /here/a and /here/b are bound at /x: the last one wins"}},
		{"-b a:/x -b a:/x", "", 0, nil},
		{"-b :/x -b :", "", 0, []string{`bind ":/x": no host path: left out`, `bind ":": no host path: left out`}},
		{"-l -H", "", 0, []string{"-l has no effect", "-H has no effect"}},
		{"true", "PROOT_VERBOSE=2", 2, nil},
		{"-v 0", "PROOT_VERBOSE=2", 0, nil},
		{"true", "PROOT_VERBOSE=x", 0, []string{`PROOT_VERBOSE "x": not a number`}},
		{"true", "PROOT_NO_SECCOMP=1", 0, []string{"PROOT_NO_SECCOMP has no effect: nothing but the filter stops a guest's calls"}},
		{"true", "PROOT_FORCE_KOMPAT=1", 0, nil},
	} {
		p, got := planned(t, tt.line, tt.env)
		if diff := cmp.Diff(tt.want, got); diff != "" || p.Verbose != tt.verbose {
			t.Errorf("run %s with %s: level %d, want %d; -want +got:\n%s", tt.line, tt.env, p.Verbose, tt.verbose, diff)
		}
	}
}

func TestTellOn(t *testing.T) {
	bind := guestfs.Bind{Host: "/a\n", Guest: "/b"}
	missing := &guestfs.BindError{Bind: bind, Errno: syscall.ENOENT}
	loop := &guestfs.BindError{Bind: bind, Errno: syscall.ELOOP}
	for _, tt := range []struct{ line, env, want string }{
		{"-l -v -1", "", "svcrelay: bind /a? at /b: no such file or directory: left out\nsvcrelay: bind /a? at /b: too many levels of symbolic links: left out\nsvcrelay: other\n"},
		{"-l", "PROOT_IGNORE_MISSING_BINDINGS=1", "svcrelay: -l has no effect\nsvcrelay: bind /a? at /b: too many levels of symbolic links: left out\nsvcrelay: other\n"},
		{"-v 1 -r r -b x:/y -i 1:2 -k 5 ls", "PROOT_IGNORE_MISSING_BINDINGS=1",
			"svcrelay: root /here/r\nsvcrelay: bind /here/x at /y\nsvcrelay: ids 1:2\nsvcrelay: kernel 5\nsvcrelay: command [\"ls\"]\n" +
				"svcrelay: bind /a? at /b: too many levels of symbolic links: left out\nsvcrelay: other\n"},
	} {
		p, _ := planned(t, tt.line, tt.env)
		var out bytes.Buffer
		p.tellOn(&out)
		for _, what := range []error{missing, loop, errors.New("other")} {
			p.Say(tracer.Warnings, what)
		}
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("run %s with %s: -want +got:\n%s", tt.line, tt.env, diff)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  bool
	}{
		{"/x/proot", true}, {"proot", true}, {"/lib/arm64/libproot.so", true}, {"svcrelay", false},
		{"/proot/svcrelay", false}, {"proot-loader", false}, {"libproot-loader.so", false}, {"", false},
	} {
		got := Words([]string{tt.name, "-r", "x"})
		want := []string{"-r", "x"}
		if tt.run {
			want = []string{"run", "-r", "x"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("as %s: -want +got:\n%s", tt.name, diff)
		}
	}
	if got := Words(nil); got != nil {
		t.Errorf("Words(nil) = %q", got)
	}
}
