// Command anet-hub hosts a hub: the directory, the mailboxes and the door of a
// network of agents.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anet-hub/anet/hub/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	p := &cli.Program{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now}
	code := p.Main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
