// Package command is the svcrelay command line: flags, files and printing around
// the packages that do the work.
//
// It promises: exit status 0 when what was asked is done, 1 when something could
// not be done (one line on standard error for each such thing, the rest done) or
// a signal ended it, 2 when the command line is wrong (but run has proot's
// statuses, which are its guest's); results on standard output, sorted and equal
// for equal input; progress only on a terminal; and no name out of a file that
// breaks a line or a terminal.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"svcrelay/cachefmt"
	"svcrelay/scanner"
)

// Exit statuses.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2
)

// errFailed ends a command whose problems are already printed.
var errFailed = errors.New("failed")

// A usageError is a command line that cannot be carried out.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run carries out one command line and returns its exit status.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := New()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	called, err := root.ExecuteContextC(ctx)
	var usage usageError
	var guest guestStatus
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errFailed):
		return statusFailed
	case errors.As(err, &guest):
		return int(guest)
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "svcrelay: %v\nTry '%s -h'.\n", err, called.CommandPath())
		return statusUsage
	}
	printLine(stderr, err)
	return statusFailed
}

// printLine prints what there is to say as one line, whatever names are in it.
func printLine(w io.Writer, text any) {
	fmt.Fprintf(w, "svcrelay: %s\n", printable(fmt.Sprint(text)))
}

// printable puts a question mark for whatever would break a line or a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// New returns the command tree.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:   "svcrelay",
		Short: "find the syscall sites of arm64 libraries",
		Long: `svcrelay finds the syscall sites of arm64 images (libc.so.6, ld-linux-aarch64.so.1
and any other), and keeps those that may be relayed in tables by build-ID.

A SOURCE is an ELF file, a rootfs directory, a tar (plain, gz, xz, zst), a .deb or
an Arch .pkg.tar.zst.

Exit status: 0 done, 1 something could not be done, 2 wrong usage.`,
		Example:       "  svcrelay build /path/to/rootfs\n  svcrelay scan libc6_2.41-12_arm64.deb",
		Version:       fmt.Sprintf("recogniser %d, table format %d", scanner.RecogniserVersion, cachefmt.FormatVersion),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{plainFlag(err)} })
	root.AddCommand(buildCommand(), scanCommand(), dumpCommand(), diffCommand(), verifyCommand(), checkCommand(), runCommand())
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, c := range append(root.Commands(), root) {
		c.Args = usageArgs(c.Args)
	}
	return root
}

// usageArgs makes the errors of an argument check usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// needs is an argument check: at least n arguments, or the command needs what.
func needs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("%s needs %s", cmd.Name(), what)
		}
		return nil
	}
}

// plainFlag says of a flag's value what is wrong with it, and not which function
// found out.
func plainFlag(err error) error {
	var bad *strconv.NumError
	if !errors.As(err, &bad) {
		return err
	}
	why := "not a number"
	switch {
	case bad.Func == "ParseBool":
		why = "neither true nor false"
	case errors.Is(bad, strconv.ErrRange):
		why = "too big"
	}
	flag, _, _ := strings.Cut(err.Error(), ": strconv.")
	return fmt.Errorf("%s: %s", flag, why)
}

// counted is a number of things by name.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// A reporter prints the problems of one command, a line each.
type reporter struct {
	err      io.Writer
	progress *progress
	failed   bool
}

func newReporter(cmd *cobra.Command) reporter {
	return reporter{err: cmd.ErrOrStderr(), progress: newProgress(cmd.ErrOrStderr())}
}

func (r *reporter) fail(err error) {
	r.failed = true
	r.note(err)
}

func (r *reporter) note(text any) {
	r.progress.clear()
	printLine(r.err, text)
}

// done is the command's error: errFailed when anything was printed by fail.
func (r *reporter) done() error {
	r.progress.clear()
	if r.failed {
		return errFailed
	}
	return nil
}
