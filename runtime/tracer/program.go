//go:build linux && arm64

// What the first process becomes: its program, its working directory and its
// environment, all as the guest names them.

package tracer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/policy"
	"svcrelay/runtime/sysno"
)

// firstPlan is what the first process is told.
type firstPlan struct {
	Filter  policy.Program
	Path    string // of the program, in the guest
	Argv    []string
	Env     []string
	Dir     string // host path of the working directory
	Started inherited
}

func (t *Tracer) firstPlan() (firstPlan, error) {
	dir, err := t.workingDir()
	if err != nil {
		return firstPlan{}, err
	}
	name := t.cfg.Program
	if name == "" {
		name = t.cfg.Argv[0]
	}
	base := guestfs.Base{Host: dir.Host, Link: dir.Host}
	program, err := t.findProgram(base, name)
	if err != nil {
		return firstPlan{}, err
	}
	t.cfg.say(Settings, fmt.Errorf("program %s in %s", program, dir.Guest))
	t.cfg.say(Settings, fmt.Errorf("exec loader %s", t.loader))
	return firstPlan{
		Filter: t.filter, Path: program, Argv: t.cfg.Argv, Env: withPWD(t.cfg.Env, string(dir.Guest)),
		Dir: string(dir.Host), Started: started,
	}, nil
}

// workingDir is where the guest starts.
func (t *Tracer) workingDir() (guestfs.Result, error) {
	root, err := t.directory("/")
	if err != nil {
		return root, fmt.Errorf("root %s: %w", t.cfg.Root, err)
	}
	dir, err := t.directory(t.cfg.Cwd)
	if err != nil {
		t.cfg.say(Warnings, fmt.Errorf("working directory %s: %w in the guest, / instead", t.cfg.Cwd, err))
		return root, nil
	}
	return dir, nil
}

// directory finds a directory of the guest that may be searched.
func (t *Tracer) directory(name string) (dir guestfs.Result, err error) {
	if e := t.paths.Resolve(&dir, guestfs.Caller{}, guestfs.Base{}, []byte(name), guestfs.Follow); e != 0 {
		return dir, e
	}
	return dir, syscall.Access(string(dir.Host)+"/.", xOK)
}

const xOK = 1 // X_OK

// withPWD returns the environment with another PWD.
func withPWD(env []string, dir string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "PWD=") })
	return append(env, "PWD="+dir)
}

// usualPath is where programs are looked for when the guest has no PATH.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// findProgram looks a program up in the guest's PATH, as execvp does: one that may
// not be run is passed over, and told of when there is no other.
func (t *Tracer) findProgram(base guestfs.Base, name string) (string, error) {
	if name == "" {
		return "", errors.New("the program's name is empty")
	}
	if strings.Contains(name, "/") {
		if err := t.runnable(base, name); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return name, nil
	}
	path := envOf(t.cfg.Env, "PATH", usualPath)
	var refused error
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		err := t.runnable(base, dir+"/"+name)
		switch {
		case err == nil:
			return dir + "/" + name, nil
		case errors.Is(err, syscall.EACCES) && refused == nil:
			refused = fmt.Errorf("%s/%s: %w", dir, name, err)
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("%s: not found in the guest's PATH, which is %q", name, path)
}

// runnable reports what keeps the guest from running a file of its.
func (t *Tracer) runnable(base guestfs.Base, name string) error {
	var found guestfs.Result
	if e := t.paths.Resolve(&found, guestfs.Caller{}, base, []byte(name), guestfs.Follow); e != 0 {
		return e
	}
	fi, err := os.Stat(string(found.Host))
	switch {
	case err != nil:
		return errnoOf(err)
	case !fi.Mode().IsRegular():
		return fmt.Errorf("not a regular file: %w", syscall.EACCES)
	}
	return syscall.Access(string(found.Host), xOK)
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

// sayPath tells what the resolver made of path i of a call.
func (t *Tracer) sayPath(tk *task, nr, i int, name []byte, e syscall.Errno) {
	became := string(t.found[i].Host)
	if e != 0 {
		became = e.Error()
	}
	t.cfg.say(Translations, fmt.Errorf("%d %s %s: %s", tk.tid, sysno.Name(nr), name, became))
}
