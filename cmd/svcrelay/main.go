// Command svcrelay makes site tables from arm64 libraries and checks them.
// `svcrelay -h` lists what it does.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"svcrelay/cmd/svcrelay/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal kills, should the first not be heard
	os.Exit(command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
