// Command svcrelay makes site tables from arm64 libraries and checks them.
// `svcrelay -h` lists what it does.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"svcrelay/cmd/svcrelay/command"
	"svcrelay/runtime/tracer"
)

// statusNotRun is that of a guest that did not start.
const statusNotRun = 1

// firstProcess tells that this is to become the first process of a guest. It is
// traced by thread, and only before main is it sure which thread it runs on.
var firstProcess = len(os.Args) == 3 && os.Args[1] == tracer.FirstArg

func init() {
	if firstProcess {
		runtime.LockOSThread()
	}
}

func main() {
	if firstProcess {
		if err := tracer.First(os.Args[2]); err != nil {
			fmt.Fprintf(os.Stderr, "svcrelay: %v\n", err)
		}
		os.Exit(statusNotRun)
	}
	ctx, stop := signal.NotifyContext(context.Background(), heard(os.Interrupt, syscall.SIGTERM)...)
	context.AfterFunc(ctx, stop) // the next signal kills, should the first not be heard
	os.Exit(command.Run(ctx, command.Words(os.Args), os.Stdout, os.Stderr))
}

// heard is those of the signals that whoever started us did not turn off: a
// program of a background job, and a guest, must find them as they were.
func heard(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}
