// An interactive shell: the host's terminal is raw, so that every key reaches
// the terminal inside the machine.

package main

import (
	"errors"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"svcrelay/cmd/internal/frame"
	"svcrelay/cmd/internal/machine"
	"svcrelay/cmd/internal/vm"
)

func shellCommand() *cobra.Command {
	var o machine.Options
	var p place
	cmd := &cobra.Command{
		Use:     "shell [flags] [-- PROGRAM [ARGUMENT...]]",
		Short:   "run a shell, or another program, on a terminal in the machine",
		Example: "  rig shell --root forky",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"bash", "-l"}
			}
			files, err := p.resolve(args)
			if err != nil {
				return err
			}
			v, err := start(cmd, o, files)
			if err != nil {
				return err
			}
			defer v.Kill()
			return interact(cmd, v, p.request)
		},
	}
	cmd.Flags().SetInterspersed(false)
	addMachine(cmd, &o)
	addPlace(cmd, &p)
	return cmd
}

// interact runs a request on a terminal of the size of ours.
func interact(cmd *cobra.Command, v *vm.VM, q frame.Request) error {
	fd := int(os.Stdin.Fd())
	old, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return errors.New("shell: standard input is no terminal (rig run works without one)")
	}
	raw := *old
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &raw); err != nil {
		return err
	}
	defer unix.IoctlSetTermios(fd, unix.TCSETS, old)
	q.TTY, q.Size = true, terminalSize(fd)
	q.Env = append([]string{"TERM=" + os.Getenv("TERM")}, q.Env...)
	s, err := v.Do(cmd.Context(), q, vm.Streams{In: os.Stdin, Out: os.Stdout, Resize: resizes(fd)})
	if err != nil {
		return err
	}
	return exit(s)
}

func terminalSize(fd int) frame.Size {
	w, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return frame.Size{}
	}
	return frame.Size{Rows: w.Row, Cols: w.Col}
}

// resizes sends the size of our terminal whenever it changes.
func resizes(fd int) <-chan frame.Size {
	signals, sizes := make(chan os.Signal, 1), make(chan frame.Size)
	signal.Notify(signals, unix.SIGWINCH)
	go func() {
		for range signals {
			sizes <- terminalSize(fd)
		}
	}()
	return sizes
}
