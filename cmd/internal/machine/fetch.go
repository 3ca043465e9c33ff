// Kernels and roots out of the archive, when they are not there yet.

package machine

import (
	"fmt"
	"path/filepath"

	"svcrelay/cmd/internal/debian"
	"svcrelay/cmd/internal/depend"
	"svcrelay/cmd/internal/kernel"
	"svcrelay/cmd/internal/rootfs"
)

func (r *Rig) kernels() string { return filepath.Join(r.Dir, "kernels") }
func (r *Rig) roots() string   { return filepath.Join(r.Dir, "roots") }

// open opens a suite, once.
func (r *Rig) open(name string) (*debian.Suite, error) {
	if s := r.suites[name]; s != nil {
		return s, nil
	}
	m, err := debian.ReadMachine()
	if err != nil {
		return nil, err
	}
	a, err := m.Archive(name)
	if err != nil {
		return nil, err
	}
	s, err := debian.Open(debian.NewFetcher(m.Config, r.Say), a, filepath.Join(r.Dir, "lists"))
	if err != nil {
		return nil, err
	}
	r.suites[name] = s
	return s, nil
}

// fetch returns the packages of a suite that want asks for.
func (r *Rig) fetch(suite string, want []string, follow depend.Rule) ([]depend.Deb, error) {
	s, err := r.open(suite)
	if err != nil {
		return nil, err
	}
	return depend.Fetch(s, want, follow, filepath.Join(r.Dir, "debs", suite))
}

// Kernel makes the folder hold a kernel's files; with update, those that the
// archive has now.
func (r *Rig) Kernel(k kernel.Kernel, update bool) error {
	return r.locked("kernel-"+k.Name, func() error {
		if !update && k.Current(r.kernels()) {
			return nil
		}
		debs, err := r.fetch(k.Suite, []string{k.Package}, kernel.Follow)
		if err != nil {
			return fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		r.Say("unpack kernel " + k.Name)
		return k.Make(r.kernels(), debs)
	})
}

// Root makes the folder hold a guest root's image; with update, of the packages
// that the archive has now.
func (r *Rig) Root(g rootfs.Root, update bool) error {
	return r.locked("root-"+g.Name, func() error {
		if !update && g.Current(r.roots()) {
			return nil
		}
		debs, err := r.fetch(g.Name, g.Wants, rootfs.Follow)
		if err != nil {
			return fmt.Errorf("root %s: %w", g.Name, err)
		}
		r.Say(fmt.Sprintf("make root %s of %d packages", g.Name, len(debs)))
		return g.Make(r.roots(), debs)
	})
}
