// run: a program in a rootfs, with the words of the proot command line.
package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"svcrelay/runtime/abi"
	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/tracer"
)

// A guestStatus is the exit status of a guest that ran.
type guestStatus int

func (s guestStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Words returns the words of a process's command line for Run. A program that is
// called proot is run: launchers know it by that name, or as the library that an
// app must ship its programs as.
func Words(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(argv[0]), "lib"), ".so")
	if name == "proot" {
		return append([]string{"run"}, argv[1:]...)
	}
	return argv[1:]
}

func runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "run [OPTION...] [PROGRAM [ARGUMENT...]]",
		Short:                 "run a program in a rootfs",
		Long:                  runLong(),
		Example:               "  svcrelay run -r /srv/trixie -b /dev -b /proc -w /root /bin/sh -l",
		DisableFlagParsing:    true, // its words are proot's
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs,
		ValidArgsFunction:     completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := parseRun(args)
			switch {
			case err != nil:
				return fmt.Errorf("%w (%s -h lists the options)", err, cmd.CommandPath())
			case o.ask == askHelp:
				return cmd.Help()
			case o.ask == askVersion:
				fmt.Fprintf(cmd.OutOrStdout(), "svcrelay run, exec loader version %d\n", abi.Version)
				return nil
			}
			return o.run(cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolP("help", "h", false, "")
	cmd.Flags().MarkHidden("help") // it is in the table
	return cmd
}

func (o *runOptions) run(stderr io.Writer) error {
	s, err := here()
	if err != nil {
		return err
	}
	p := o.plan(s, isThere)
	p.tellOn(stderr)
	if o.stats != statsNone {
		p.Stats = new(tracer.Stats)
		stop := o.stats.printOnSignal(stderr, p.Stats)
		defer stop()
	}
	status, err := tracer.Run(p.Config)
	if err != nil {
		return err
	}
	if p.Stats != nil {
		o.stats.print(stderr, p.Stats.Summary())
	}
	if status != 0 {
		return guestStatus(status)
	}
	return nil
}

// tellOn says what is known so far, and has the tracer say the rest.
func (p *runPlan) tellOn(w io.Writer) {
	p.Say = func(_ tracer.Level, what error) {
		if bad := (*guestfs.BindError)(nil); errors.As(what, &bad) {
			what = p.bindWarning(bad)
		}
		if what != nil {
			printLine(w, what)
		}
	}
	if p.Verbose >= tracer.Warnings {
		for _, warning := range p.warnings {
			printLine(w, warning)
		}
	}
	if p.Verbose >= tracer.Settings {
		for _, line := range p.settings() {
			printLine(w, line)
		}
	}
}
