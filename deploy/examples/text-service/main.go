// Command text-service is a program behind two capabilities of a node:
// text.digest and text.wordcount. It shows the whole contract in one folder and
// needs nothing but the standard library:
//
//   - it listens on a Unix socket in a folder of its own, which only its user may
//     enter, so that the node can tell nobody else put it there;
//   - a call is a POST of the arguments, the header X-ANet-Capability says of what;
//   - 200 and a JSON object means done. Its numbers become metrics of the result,
//     evidence.observed_state is what the caller is shown as outcome;
//   - 4xx and {"error": "…"} means refused, for certain not done;
//   - 429 or 503 means not now. Anything else leaves the caller in doubt.
//
// Run it and name it in the node's config.json (config.example.json beside this file):
//
//	text-service --socket "$XDG_RUNTIME_DIR/anet-text/text.sock"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	socket := flag.String("socket", "", "path of the Unix socket to listen on")
	flag.Parse()
	if *socket == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: text-service --socket PATH")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *socket); err != nil {
		fmt.Fprintln(os.Stderr, "text-service:", err)
		os.Exit(1)
	}
}

// grace is what running calls get to finish in when the program is stopped.
const grace = 5 * time.Second

// run serves until ctx ends, then lets running calls finish.
func run(ctx context.Context, socket string) error {
	listener, err := listen(socket)
	if err != nil {
		return err
	}
	fmt.Println("text-service: listening on", socket)
	return serveOn(ctx, listener)
}

func serveOn(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           http.HandlerFunc(serve),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := server.Shutdown(ending)
	if served := <-failed; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = served
	}
	return err
}
