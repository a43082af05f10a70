// Command demo shows the network on one machine: a hub on a PostgreSQL of its
// own and two nodes, one of which serves two capabilities that the other finds
// and calls. It ends with "demo: ok" and stops everything it started; when
// something goes wrong it says why, with the ends of the logs.
//
//	go run ./e2e/demo -bin bin          (make demo)
//	go run ./e2e/demo -bin bin -stay    (make up: the network is left running)
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	bin := flag.String("bin", "bin", "folder of the programs: anet, anet-hub, text-service")
	stay := flag.Bool("stay", false, "leave the network running and print its addresses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *stay); err != nil {
		fmt.Fprintln(os.Stderr, "demo: failed:", err)
		os.Exit(1)
	}
}

// run never leaves anything behind, unless it was asked to and all went well.
func run(ctx context.Context, bin string, stay bool) error {
	n, err := newNetwork(bin)
	if err != nil {
		return err
	}
	err = n.start(ctx)
	switch {
	case err == nil && stay:
		return n.leaveRunning()
	case err == nil:
		err = n.story(ctx)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted")
	}
	if err != nil {
		n.showLogs()
	}
	if stopped := n.stop(); err == nil {
		err = stopped
	}
	if err == nil {
		fmt.Println("demo: ok")
	}
	return err
}
