// Command anet is a node of the network and the command line that talks to it.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/node/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	p := &cli.Program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Now: time.Now, Open: open,
	}
	code := p.Main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func open(ctx context.Context, dir string, log *slog.Logger) (cli.Node, error) {
	a, err := app.New(ctx, app.Options{DataDir: dir, Log: log})
	if err != nil {
		return nil, err
	}
	return a, nil
}
