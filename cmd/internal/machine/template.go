// Templates: TEMPLATE/ram, TEMPLATE/devices and TEMPLATE/key, written last. A
// folder is never changed, only replaced: machines that run keep the memory
// file they were restored from.

package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/cmd/internal/frame"
	"svcrelay/cmd/internal/vm"
)

// settle is what a machine runs before it becomes a template. For some seconds
// after a boot the kernel's own threads would be counted with the program's.
var settle = []string{"sleep", "5"}

// Start starts a machine.
func (r *Rig) Start(o Options) (*vm.VM, error) {
	in, err := r.gather(o)
	if err != nil {
		return nil, err
	}
	key, err := in.key()
	if err != nil {
		return nil, err
	}
	unlock, err := r.lock("template-" + in.options.name())
	if err != nil {
		return nil, err
	}
	defer unlock() // once restored, the folder may be replaced
	if have, err := os.ReadFile(filepath.Join(in.config.Template, "key")); err != nil || string(have) != key {
		if err := r.prepare(in, key); err != nil {
			return nil, fmt.Errorf("template %s: %w", in.options.name(), err)
		}
	}
	in.config.Mode = vm.Restore
	v, err := vm.Start(in.config)
	if err != nil {
		return nil, fmt.Errorf("template %s: restore: %w", in.options.name(), err)
	}
	return v, nil
}

// prepare boots a machine and makes the template of it.
func (r *Rig) prepare(in ingredients, key string) error {
	r.Say("boot " + in.options.name())
	final := in.config.Template
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(final), "."+filepath.Base(final)+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := in.boot(tmp); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "key"), []byte(key), 0o644); err != nil {
		return err
	}
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(tmp, final)
}

// boot boots a machine and saves it into a folder.
func (in ingredients) boot(dir string) error {
	c := in.config
	c.Mode, c.Template, c.Initrd = vm.Prepare, dir, filepath.Join(dir, "initrd")
	if err := in.writeInitrd(c.Initrd); err != nil {
		return err
	}
	v, err := vm.Start(c)
	if err != nil {
		return err
	}
	defer v.Kill()
	if err := warmUp(v, in.options.Icount); err != nil {
		return err
	}
	if err := v.Save(); err != nil {
		return err
	}
	return os.Remove(c.Initrd)
}

// warmUp runs one program, which proves that the machine works and brings what
// every program needs into its memory.
func warmUp(v *vm.VM, icount bool) error {
	argv := []string{"true"}
	if icount {
		argv = settle
	}
	got, err := v.Run(context.Background(), frame.Request{Op: frame.OpRun, Argv: argv}, nil)
	if err == nil && (got.Err != "" || got.Code != 0) {
		err = fmt.Errorf("%s: code %d %s%s", argv[0], got.Code, got.Err, got.Stderr)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, v.Console())
	}
	return nil
}
