// What a machine is made of, and how a change of it is noticed.

package machine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"svcrelay/cmd/internal/initrd"
	"svcrelay/cmd/internal/kernel"
	"svcrelay/cmd/internal/rootfs"
	"svcrelay/cmd/internal/selinux"
	"svcrelay/cmd/internal/vm"
)

// An ingredients is what a template is made of.
type ingredients struct {
	options Options
	kernel  kernel.Files
	agent   string
	config  vm.Config
}

// gather makes or finds all that a machine needs.
func (r *Rig) gather(o Options) (ingredients, error) {
	in := ingredients{options: o.full()}
	k, err := kernel.ByName(in.options.Kernel)
	if err != nil {
		return in, err
	}
	if err := r.Kernel(k, false); err != nil {
		return in, err
	}
	if in.kernel, err = k.Open(r.kernels()); err != nil {
		return in, err
	}
	var disks []vm.Disk
	for _, g := range rootfs.Roots {
		if err := r.Root(g, false); err != nil {
			return in, err
		}
		disks = append(disks, vm.Disk{Name: g.Name, File: g.File(r.roots())})
	}
	if in.agent, err = r.Agent(); err != nil {
		return in, err
	}
	in.config = vm.Config{
		CPU: in.options.model(), Cores: in.options.Cores, MiB: in.options.MiB, Icount: in.options.Icount,
		Disks: disks, Kernel: in.kernel.Image, Append: in.options.commandLine(rootfs.Base, rootfs.Names()),
		Template: filepath.Join(r.Dir, "templates", in.options.name()),
	}
	return in, nil
}

// Agent compiles the program that runs in the machine. With nothing
// changed that takes the go command a fifth of a second.
func (r *Rig) Agent() (string, error) {
	out := filepath.Join(r.Dir, "agent")
	err := r.locked("agent", func() error {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "./cmd/rig/agent")
		cmd.Dir = r.Module
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
		if talk, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("agent: go build: %w", errors.Join(err, errors.New(strings.TrimSpace(string(talk)))))
		}
		return nil
	})
	return out, err
}

// key names all ingredients. Files that this package makes and never changes in
// place are named by size and time, the agent by content.
func (in ingredients) key() (string, error) {
	h := sha256.New()
	agent, err := os.ReadFile(in.agent)
	if err != nil {
		return "", err
	}
	h.Write(agent)
	emulator, err := exec.LookPath(vm.Emulator)
	if err != nil {
		return "", fmt.Errorf("%w (package qemu-system-arm)", err)
	}
	files := append([]string{emulator, in.kernel.Image}, in.kernel.Modules...)
	for _, d := range in.config.Disks {
		files = append(files, d.File)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	fmt.Fprintf(h, "%+v %q %s", in.config, settle, selinux.Source)
	return fmt.Sprintf("%x\n", h.Sum(nil)), nil
}

// writeInitrd writes what the kernel starts with: the agent and the drivers.
func (in ingredients) writeInitrd(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := in.pack(f); err != nil {
		return err
	}
	return f.Close()
}

func (in ingredients) pack(w io.Writer) error {
	z := initrd.NewWriter(w)
	z.Char("dev/console", 0o600, 5, 1)
	agent, err := os.ReadFile(in.agent)
	if err != nil {
		return err
	}
	z.File("init", 0o755, agent)
	if in.options.SELinux {
		policy, err := selinux.Compile()
		if err != nil {
			return err
		}
		z.File("policy", 0o644, policy)
	}
	for _, m := range in.kernel.Modules {
		data, err := os.ReadFile(m)
		if err != nil {
			return err
		}
		z.File("modules/"+filepath.Base(m), 0o644, data)
	}
	return z.Close()
}
