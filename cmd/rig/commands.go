// The commands. Each fills in a request; package machine does the rest.

package main

import (
	"os"

	"github.com/spf13/cobra"

	"svcrelay/cmd/internal/kernel"
	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/rootfs"
	"svcrelay/cmd/internal/vm"
)

func fetchCommand() *cobra.Command {
	var update bool
	cmd := &cobra.Command{
		Use:     "fetch",
		Short:   "fetch all kernels and guest roots that are not there yet",
		Example: "  rig fetch --update",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r, err := machine.Find(say)
			if err != nil {
				return err
			}
			for _, k := range kernel.Kernels {
				if err := r.Kernel(k, update); err != nil {
					return err
				}
			}
			for _, g := range rootfs.Roots {
				if err := r.Root(g, update); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&update, "update", false, "ask the archive for newer packages even when all are there")
	return cmd
}

func bootCommand() *cobra.Command {
	var o machine.Options
	cmd := &cobra.Command{
		Use:     "boot",
		Short:   "make the template of a machine, if there is none",
		Example: "  rig boot --kernel 6.1 --cpu max",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := start(cmd, o, nil)
			if err == nil {
				v.Kill()
			}
			return err
		},
	}
	addMachine(cmd, &o)
	return cmd
}

func runCommand() *cobra.Command {
	var o machine.Options
	var p place
	cmd := &cobra.Command{
		Use:     "run [flags] -- PROGRAM [ARGUMENT...]",
		Short:   "run one program in a fresh machine",
		Example: "  rig run -- uname -a\n  rig run --root forky --level 34 -- python3 -c 'print(1)'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := p.resolve(args)
			if err != nil {
				return err
			}
			return runIn(cmd, o, p, files)
		},
	}
	cmd.Flags().SetInterspersed(false)
	addMachine(cmd, &o)
	addPlace(cmd, &p)
	return cmd
}

// runIn runs a request in a fresh machine, with the streams of this process.
func runIn(cmd *cobra.Command, o machine.Options, p place, files map[string]string) error {
	v, err := start(cmd, o, files)
	if err != nil {
		return err
	}
	defer v.Kill()
	s, err := v.Do(cmd.Context(), p.request, vm.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	if err != nil {
		return err
	}
	return exit(s)
}
