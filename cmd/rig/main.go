// Command rig is the test machine: real arm64 kernels in an emulator, with real
// Debian guests in them. `rig -h` lists what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses, apart from those of programs that ran.
const (
	statusFailed = 1
	statusUsage  = 2
)

// A usageError is a command line that cannot be carried out.
type usageError struct{ error }

// An exitError is the status of a program that ran.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := statusOf(command().ExecuteContext(ctx))
	stop()
	os.Exit(status)
}

// statusOf prints what went wrong, unless a program has done so.
func statusOf(err error) int {
	var exit exitError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "rig: %v\nTry 'rig -h'.\n", err)
		return statusUsage
	}
	fmt.Fprintf(os.Stderr, "rig: %v\n", err)
	return statusFailed
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "rig",
		Short: "run programs on a real arm64 kernel, in an emulator",
		Long: `rig boots a Debian arm64 kernel in qemu-system-aarch64 and runs programs in it.
The machine's own root is a small Debian; guest roots of several glibc versions
lie in /r. Each command has a fresh machine, restored from a template.

Exit status: that of the program, 128 and its signal when one ended it, 1 when
the machine failed, 2 for wrong usage.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(fetchCommand(), bootCommand(), runCommand(), execCommand(), shellCommand())
	for _, c := range append(root.Commands(), root) {
		c.Args = usageArgs(c.Args)
	}
	return root
}

// usageArgs makes wrong arguments wrong usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
