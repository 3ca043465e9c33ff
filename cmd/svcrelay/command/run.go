// run: a program in a rootfs, with the words of the proot command line.
//
// The guest's program ends the options: what follows belongs to it, also when it
// looks like an option of ours.
package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"svcrelay/runtime/guestfs"
	"svcrelay/runtime/sysno"
	"svcrelay/runtime/tracer"
)

// A guestStatus is the exit status of a guest that ran.
type guestStatus int

func (s guestStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// runOptions are the flags of run.
type runOptions struct {
	root, cwd  string
	binds      []string
	killOnExit bool
	stats      bool
}

// usualBinds are what -R shows of the host besides its root.
var usualBinds = []string{"/dev", "/proc", "/sys", "/tmp"}

func runCommand() *cobra.Command {
	var o runOptions
	var full string
	cmd := &cobra.Command{
		Use:   "run [flags] PROGRAM [ARGUMENT...]",
		Short: "run a program in a rootfs",
		Long: `Run a program whose paths start at a rootfs, as chroot with bind mounts would,
without privileges. Needs linux/arm64 and a kernel that lets the program trace.

Exit status: that of the program, or 128 and the number of the signal that ended
it.`,
		Example: "  svcrelay run -r /srv/trixie -b /dev -b /proc -w /root /bin/sh -l",
		Args:    needs(1, "a PROGRAM"),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if full != "" {
				o.root, o.binds = full, append(usualBinds, o.binds...)
			}
			return o.run(argv, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&o.root, "rootfs", "r", "/", "`path` of the guest's root")
	f.StringArrayVarP(&o.binds, "bind", "b", nil, "show a host path at a guest path: `HOST[:GUEST[!]]`; may be repeated")
	f.StringVarP(&o.cwd, "cwd", "w", "/", "guest `path` of the working directory")
	f.StringVarP(&full, "full", "R", "", "`path` of the guest's root, with /dev, /proc, /sys and /tmp of the host")
	f.BoolVar(&o.killOnExit, "kill-on-exit", false, "end every process of the guest with its first")
	f.BoolVar(&o.stats, "stats", false, "at the end, print how often the guest was stopped, by call")
	return cmd
}

func (o *runOptions) run(argv []string, stderr io.Writer) error {
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	cfg := tracer.Config{Root: o.root, Cwd: o.cwd, Argv: argv, Env: os.Environ(), KillOnExit: o.killOnExit}
	for _, word := range o.binds {
		b, err := guestfs.ParseBind(word, cwd)
		if err != nil {
			return usageError{err}
		}
		cfg.Binds = append(cfg.Binds, b)
	}
	if o.stats {
		cfg.Stats = new(tracer.Stats)
		defer func() { printStats(stderr, cfg.Stats) }()
	}
	status, err := tracer.Run(cfg)
	switch {
	case err != nil:
		return fmt.Errorf("run: %w", err)
	case status != 0:
		return guestStatus(status)
	}
	return nil
}

// printStats prints a line for each call that was stopped, by number, and one for
// the rest.
func printStats(w io.Writer, s *tracer.Stats) {
	for nr, n := range s.Calls {
		if n > 0 {
			fmt.Fprintf(w, "%-20s %d\n", sysno.Name(nr), n)
		}
	}
	fmt.Fprintf(w, "ends %d, signals %d, execs %d, tasks %d\n", s.Exits, s.Signals, s.Execs, s.Tasks)
}
