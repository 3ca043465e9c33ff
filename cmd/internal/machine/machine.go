// Package machine puts the test machine together: a kernel, guest roots, the
// agent, and a template from which a machine starts in a tenth of a second.
//
// It promises that whatever is missing is made once and kept in one folder,
// that two processes which need the same thing do not make it twice, and that a
// template whose ingredients have changed is made anew. A missing emulator,
// image maker or kernel is an error that names the package. The network is used
// only for what is not in the folder yet.
package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"svcrelay/cmd/internal/debian"
	"svcrelay/cmd/internal/kernel"
	"svcrelay/cmd/internal/selinux"
)

// Options choose a machine. The zero value of each is the usual one.
type Options struct {
	Kernel string // a name of package kernel
	CPU    string // a name of CPUs, or a model of the emulator
	Cores  int    // 1
	MiB    int    // 1024
	// Icount makes the machine count: one instruction is one nanosecond of its
	// clocks, so that differences of times are numbers of instructions.
	Icount  bool
	SELinux bool   // enforce the policy of package selinux; guest roots are app data
	Append  string // to the kernel's command line
}

// Usual values.
const (
	usualCPU   = "cortex-a76"
	usualCores = 1 // tracers hand over faster, and two machines fit on two cores
	usualMiB   = 1024
)

// CPUs are short names of processors. Pointer authentication as the
// architecture defines it costs the emulator ten times all the rest.
var CPUs = map[string]string{
	usualCPU:      usualCPU,
	"neoverse-n1": "neoverse-n1",
	"max":         "max,pauth-impdef=on",
}

// full replaces zero values by the usual ones.
func (o Options) full() Options {
	if o.Kernel == "" {
		o.Kernel = kernel.Default
	}
	if o.CPU == "" {
		o.CPU = usualCPU
	}
	if o.Cores == 0 {
		o.Cores = usualCores
	}
	if o.MiB == 0 {
		o.MiB = usualMiB
	}
	return o
}

// model is the emulator's name of the processor.
func (o Options) model() string {
	if m, ok := CPUs[o.CPU]; ok {
		return m
	}
	return o.CPU
}

// name of the template's folder.
func (o Options) name() string {
	name := fmt.Sprintf("%s_%s_%d_%d", o.Kernel, o.CPU, o.Cores, o.MiB)
	if o.Icount {
		name += "_icount"
	}
	if o.SELinux {
		name += "_selinux"
	}
	if o.Append != "" {
		name += "_" + o.Append
	}
	return strings.Map(harmless, name)
}

func harmless(r rune) rune {
	if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
		return r
	}
	return '-'
}

// commandLine of the kernel. kpti=off: otherwise every call of a cortex-a76
// flushes the emulator's translations and takes ten times as long. nokaslr:
// with it on, kpti is, too.
func (o Options) commandLine(base string, roots []string) string {
	line := "console=ttyAMA0 quiet panic=-1 kpti=off nokaslr rig.base=" + base + " rig.roots=" + strings.Join(roots, ",")
	if o.SELinux {
		line += " security=selinux selinux=1 enforcing=0 rig.label=" + selinux.AppData
	}
	if o.Append != "" {
		line += " " + o.Append
	}
	return line
}

// A Rig is the folder where everything is kept. It is for one goroutine; other
// processes may use the same folder.
type Rig struct {
	Dir    string // .corpus/rig of the module
	Module string // the module's folder
	Say    func(what string)

	suites map[string]*debian.Suite // opened so far
}

var errNoModule = errors.New("not inside the module")

// Find returns the rig of the module that the working directory is in.
func Find(say func(what string)) (*Rig, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	module, err := moduleOf(dir)
	if err != nil {
		return nil, err
	}
	return &Rig{
		Dir: filepath.Join(module, ".corpus", "rig"), Module: module, Say: say,
		suites: map[string]*debian.Suite{},
	}, nil
}

// moduleOf walks up to the folder with go.mod.
func moduleOf(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("folder %s: %w", dir, errNoModule)
		}
	}
}
