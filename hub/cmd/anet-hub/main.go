// Command anet-hub hosts a hub: the directory, the mailboxes and the door of a
// network of agents.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "anet-hub:", err)
		os.Exit(exitCode(err))
	}
}
