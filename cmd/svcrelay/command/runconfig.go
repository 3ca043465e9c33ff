// What run makes of its words and of proot's environment variables. The guest
// gets the environment as it is, these variables included: a tracer that starts
// inside finds them too.
package command

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/tracer"
)

// What -R and -S show besides the root itself. $HOME is the caller's.
var (
	packageBinds = []string{
		"/etc/host.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf",
		"/dev", "/sys", "/proc", "/tmp", "/run/shm", "$HOME",
	}
	fullBinds = []string{
		"/etc/host.conf", "/etc/hosts", "/etc/hosts.equiv", "/etc/mtab", "/etc/netgroup", "/etc/networks",
		"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/localtime",
		"/dev", "/sys", "/proc", "/tmp", "/run", "/var/run/dbus/system_bus_socket", "$HOME",
	}
)

// A surrounding is what a command line is read in.
type surrounding struct {
	dir string // the working directory
	env []string
}

// here is that of this process.
func here() (surrounding, error) {
	dir, err := syscall.Getwd() // os.Getwd may name a symlink
	if err == nil && !path.IsAbs(dir) {
		err = syscall.ENOENT // it lies outside of the caller's root
	}
	if err != nil {
		return surrounding{}, fmt.Errorf("working directory: %w", err)
	}
	return surrounding{dir, os.Environ()}, nil
}

// lookup returns a variable, "" when it is not there.
func (s surrounding) lookup(name string) string {
	for _, v := range s.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// absolute keeps .. and . as they are: a symlink may come before them.
func (s surrounding) absolute(name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case name == "":
		return s.dir
	}
	return s.dir + "/" + name
}

// A runPlan is a command line that is understood.
type runPlan struct {
	tracer.Config
	warnings []error
	// quietBinds: nothing is said of binds that the host does not have.
	quietBinds bool
}

// plan turns options into what the tracer is told. exists looks at the host.
func (o *runOptions) plan(s surrounding, exists func(string) bool) runPlan {
	p := runPlan{
		Config: tracer.Config{
			Root: s.absolute(o.root), Cwd: s.absolute(o.cwd), Argv: o.argv, Env: s.env,
			IDs: o.ids, Kernel: o.kernel, KillOnExit: o.killOnExit, Verbose: o.verbose,
		},
		quietBinds: s.lookup("PROOT_IGNORE_MISSING_BINDINGS") != "",
	}
	for _, note := range o.notes {
		p.warn("%s", note)
	}
	if loader := s.lookup("PROOT_LOADER"); loader != "" {
		p.Loader = s.absolute(loader)
	}
	if temp := s.lookup("PROOT_TMP_DIR"); temp != "" {
		p.Temp = s.absolute(temp)
	}
	if len(o.argv) == 0 {
		p.Program, p.Argv = "/bin/sh", []string{"-sh"}
	}
	p.readSwitches(o, s)
	p.addBinds(o.binds, s, exists)
	return p
}

func (p *runPlan) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Errorf(format, args...))
}

// readSwitches heeds the variables that only say how.
func (p *runPlan) readSwitches(o *runOptions, s surrounding) {
	if text := s.lookup("PROOT_VERBOSE"); text != "" && !o.loud {
		level, err := parseLevel(text)
		if err != nil {
			p.warn("PROOT_VERBOSE %q: %w", text, err)
		}
		p.Verbose = level
	}
	if s.lookup("PROOT_NO_SECCOMP") != "" {
		p.warn("PROOT_NO_SECCOMP has no effect: nothing but the filter stops a guest's calls")
	}
}

// addBinds adds the binds in order; of two for one guest path the last one is
// seen.
func (p *runPlan) addBinds(words []bindWord, s surrounding, exists func(string) bool) {
	last := map[string]guestfs.Bind{}
	for _, w := range words {
		b, err := w.bind(s)
		switch {
		case err != nil:
			p.warn("%w: left out", err)
			continue
		case w.usual && !exists(b.Host):
			continue
		}
		at := path.Clean(b.Guest)
		if old, ok := last[at]; ok && !w.usual && old.Host != b.Host {
			p.warn("both %s and %s are bound at %s: the last one wins", old.Host, b.Host, at)
		}
		last[at] = b
		p.Binds = append(p.Binds, b)
	}
}

// bind reads the word; a usual one is a path alone, whatever is in it.
func (w bindWord) bind(s surrounding) (guestfs.Bind, error) {
	if !w.usual {
		return guestfs.ParseBind(w.text, s.dir)
	}
	name := s.absolute(w.text)
	if w.text == "$HOME" {
		name = s.lookup("HOME")
	}
	return guestfs.Bind{Host: name, Guest: name}, nil
}

// isThere reports whether the host has something to bind.
func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil && path.IsAbs(name)
}

// bindWarning is what to say of a bind that cannot be used, nil for nothing.
func (p *runPlan) bindWarning(err *guestfs.BindError) error {
	missing := errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR)
	if missing && p.quietBinds {
		return nil
	}
	return fmt.Errorf("%w: left out", err)
}

// settings is what a guest starts with, a line each.
func (p *runPlan) settings() []error {
	lines := []error{fmt.Errorf("root %s", p.Root)}
	for _, b := range p.Binds {
		lines = append(lines, fmt.Errorf("bind %s at %s", b.Host, b.Guest))
	}
	if p.IDs != nil {
		lines = append(lines, fmt.Errorf("ids %d:%d", p.IDs.UID, p.IDs.GID))
	}
	if p.Kernel != "" {
		lines = append(lines, fmt.Errorf("kernel %s", p.Kernel))
	}
	return append(lines, fmt.Errorf("command %q", p.Argv))
}
