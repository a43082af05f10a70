// Command demo shows the network on one machine: a hub on a PostgreSQL of its
// own and two nodes, one of which serves two capabilities that the other finds
// and calls. It ends with "demo: ok" and stops everything it started; when
// something goes wrong it says why, with the ends of the logs.
//
//	go run ./e2e/demo -bin bin          (make demo)
//	go run ./e2e/demo -bin bin -stay    (make up: the network is left running)
//	go run ./e2e/demo -bin bin -pay     (make demo-pay: two purchases; "demo-pay: ok")
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	bin := flag.String("bin", "bin", "folder of the programs: anet, anet-hub, text-service")
	stay := flag.Bool("stay", false, "leave the network running and print its addresses")
	pay := flag.Bool("pay", false, "show how calls are paid instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *stay, *pay); err != nil {
		fmt.Fprintln(os.Stderr, "demo: failed:", err)
		os.Exit(1)
	}
}

// address is where the hub is to listen: at the port that the documents name when
// it stays and the port is free, else at one the system chooses, so that any
// number of demos run side by side.
func address(stay bool) string {
	const usual = "127.0.0.1:8088"
	if !stay {
		return "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return usual
}

// run never leaves anything behind, unless it was asked to and all went well.
func run(ctx context.Context, bin string, stay, pay bool) error {
	n, err := newNetwork(bin, address(stay))
	if err != nil {
		return err
	}
	tell, name := n.story, "demo"
	if pay {
		n.prices, tell, name = map[string]int{"text.digest": price}, n.paying, "demo-pay"
	}
	err = n.start(ctx)
	if err == nil && stay {
		if err = n.leaveRunning(); err == nil {
			return nil
		}
	} else if err == nil {
		err = tell(ctx)
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
		fmt.Println(name + ": ok")
	}
	return err
}
