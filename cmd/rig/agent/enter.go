// The last step to a program: from the agent's place to the program's. A name
// is looked up there and not here, and the filter of a level may block what the
// agent still needs; so this is a process of its own that becomes the program.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"svcrelay/cmd/internal/frame"
	"svcrelay/runtime/policy"
)

// enter goes to a place and becomes a program.
func enter(where string, argv []string) error {
	var p frame.Place
	if err := json.Unmarshal([]byte(where), &p); err != nil {
		return fmt.Errorf("place %.80q: %w", where, err)
	}
	// Domains, filters and exec are a thread's own; the program inherits those
	// of the thread that execs.
	runtime.LockOSThread()
	if p.Domain != "" {
		return again(p, argv)
	}
	if err := goTo(p); err != nil {
		return err
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if err := confine(p.Level); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, argv, os.Environ()))
}

// again becomes this program once more, in the place's domain: a process that
// has renounced privileges for its filter's sake cannot change its domain.
func again(p frame.Place, argv []string) error {
	if err := setExecDomain(p.Domain); err != nil {
		return err
	}
	p.Domain = ""
	where, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return syscall.Exec(selfExe, append([]string{"agent", enterWord, string(where)}, argv...), os.Environ())
}

func goTo(p frame.Place) error {
	if p.Root != "" {
		if err := syscall.Chroot(p.Root); err != nil {
			return fmt.Errorf("root %s: %w", p.Root, err)
		}
	}
	if p.Root != "" || p.Dir != "" {
		if err := os.Chdir("/" + p.Dir); err != nil {
			return err
		}
	}
	if p.UID == 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	if err := syscall.Setgid(p.UID); err != nil {
		return fmt.Errorf("group %d: %w", p.UID, err)
	}
	if err := syscall.Setuid(p.UID); err != nil {
		return fmt.Errorf("user %d: %w", p.UID, err)
	}
	return nil
}

// confine installs the filter of an Android level, if there is one. Of a level's
// releases it is the strictest, since a guest must live on all of them.
func confine(level int) error {
	if level == 0 {
		return nil
	}
	filter, err := policy.AndroidApp(level, false)
	if err != nil {
		return err
	}
	program, err := filter.Compile()
	if err != nil {
		return err
	}
	return install(program)
}
