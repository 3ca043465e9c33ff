// Flags that several commands share.

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svcrelay/cmd/internal/frame"
	"svcrelay/cmd/internal/kernel"
	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rootfs"
	"svcrelay/cmd/internal/selinux"
	"svcrelay/cmd/internal/vm"
)

// addMachine adds the flags that choose a machine.
func addMachine(cmd *cobra.Command, o *machine.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Kernel, "kernel", "", "kernel: "+strings.Join(kernel.Names(), ", ")+" (default "+kernel.Default+")")
	f.StringVar(&o.CPU, "cpu", "", "processor: "+strings.Join(slices.Sorted(maps.Keys(machine.CPUs)), ", ")+", or a model of the emulator (default cortex-a76)")
	f.IntVar(&o.Cores, "smp", 1, "number of cores")
	f.IntVar(&o.MiB, "mem", 1024, "memory in MiB")
	f.BoolVar(&o.Icount, "icount", false, "count instructions: one is one nanosecond of the machine's clocks")
	f.BoolVar(&o.SELinux, "selinux", false, "enforce the SELinux policy of an app; guest roots are app data")
	f.StringVar(&o.Append, "append", "", "add to the kernel's command line")
}

// A place is where and how a program runs.
type place struct {
	request frame.Request
	root    string
	puts    []string
}

// addPlace adds the flags that choose a place.
func addPlace(cmd *cobra.Command, p *place) {
	f := cmd.Flags()
	f.StringVar(&p.root, "root", "", "guest root to chroot into: "+strings.Join(rootfs.Names(), ", ")+" (default the machine's own)")
	f.StringVar(&p.request.Dir, "dir", "", "working directory")
	f.StringArrayVar(&p.request.Env, "env", nil, "set `NAME=VALUE`; may be repeated")
	f.IntVar(&p.request.UID, "uid", 0, "user to run as")
	f.IntVar(&p.request.Level, "level", 0, "run under the app filter of this Android API `level`")
	f.StringVar(&p.request.Domain, "domain", "", "SELinux domain: "+strings.Join([]string{selinux.App, selinux.App27, selinux.AppNoExecmem}, ", "))
	f.DurationVar(&p.request.Timeout, "timeout", 0, "kill the program after this time")
	f.StringArrayVar(&p.puts, "put", nil, "copy `HOST:GUEST` into the machine first; may be repeated")
}

// resolve completes the request, whose program is argv.
func (p *place) resolve(argv []string) (map[string]string, error) {
	p.request.Op, p.request.Argv = frame.OpRun, argv
	if p.root != "" {
		if !slices.Contains(rootfs.Names(), p.root) {
			return nil, usageError{fmt.Errorf("root %q: not one of %s", p.root, strings.Join(rootfs.Names(), ", "))}
		}
		p.request.Root = "/r/" + p.root
	}
	files := map[string]string{}
	for _, put := range p.puts {
		host, guest, ok := strings.Cut(put, ":")
		if !ok || host == "" || guest == "" {
			return nil, usageError{fmt.Errorf("put %q: not HOST:GUEST", put)}
		}
		files[p.request.Root+"/"+guest] = host
	}
	return files, nil
}

// say prints progress.
func say(what string) { fmt.Fprintln(os.Stderr, "rig:", what) }

// start starts a machine with some files in it.
func start(cmd *cobra.Command, o machine.Options, files map[string]string) (*vm.VM, error) {
	r, err := machine.Find(say)
	if err != nil {
		return nil, err
	}
	v, err := r.Start(o)
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		if err := v.Put(cmd.Context(), files); err != nil {
			v.Kill()
			return nil, err
		}
	}
	return v, nil
}

// exit turns how a program ended into an error, or nil for success.
func exit(s frame.Status) error {
	switch {
	case s.Err != "":
		return fmt.Errorf("%s (after %v)", s.Err, s.Wall.Round(time.Millisecond))
	case s.Signal != 0:
		return exitError(128 + s.Signal)
	case s.Code != 0:
		return exitError(s.Code)
	}
	return nil
}
