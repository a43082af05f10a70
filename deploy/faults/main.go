// Command faults breaks the network of docker-compose.yml on purpose, one thing
// at a time, and sees it come back. It is the service of the profile faults:
//
//	docker-compose --profile faults run --rm faults hub-down --for 60s
//
// It asks the Docker engine for containers of its own project only. The clock
// moves in a hub built with the tag faults, and in no other.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case err != nil && !errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: faults hub-down|database-restart|clock|all [--for 60s] [--offset 10m]")

func run(ctx context.Context, args []string, out io.Writer) error {
	name := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	s := &scene{log: slog.New(slog.NewJSONHandler(out, nil)), patience: 2 * time.Minute, pause: 500 * time.Millisecond}
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(out)
	socket := flags.String("docker", "/var/run/docker.sock", "socket of the Docker engine")
	flags.StringVar(&s.project, "project", "", "the compose project to break (that of this container where empty)")
	flags.StringVar(&s.hub, "hub", "http://hub-a:8088", "where the hub answers")
	flags.DurationVar(&s.hold, "for", time.Minute, "how long a fault lasts")
	flags.DurationVar(&s.offset, "offset", 10*time.Minute, "how far the clock moves")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := s.named(name)
	if len(chosen) == 0 || flags.NArg() > 0 {
		return errUsage
	}
	s.engine = newEngine(*socket)
	return s.play(ctx, chosen)
}
