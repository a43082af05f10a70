// Command pgcontainer runs a PostgreSQL container for one test process: it
// prints the connection URL and removes the container when its standard input
// ends, which it does when that process is gone.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	imageVariable = "TEST_POSTGRES_IMAGE"
	port          = "5432/tcp"
	patience      = 2 * time.Minute
)

func main() {
	// The reader of our output is gone when the container is to be removed.
	signal.Ignore(syscall.SIGPIPE)
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "pgcontainer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	// The library's own helper for containers left behind would have to be
	// pulled; here the standard input is what tells that nobody is left.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		return err
	}
	c, err := testcontainers.Run(ctx, cmp.Or(os.Getenv(imageVariable), "postgres:17"),
		testcontainers.WithEnv(map[string]string{"POSTGRES_PASSWORD": "anet"}),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategyAndDeadline(patience, wait.ForExec([]string{"pg_isready", "-q", "-h", "127.0.0.1"})))
	defer func() { _ = testcontainers.TerminateContainer(c) }()
	if err != nil {
		return err
	}
	url, err := reach(ctx, c)
	if err != nil {
		return err
	}
	fmt.Println(url)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// reach finds the address that leads to the container. The library guesses
// from where it runs; inside a container with an engine of its own it is wrong.
func reach(ctx context.Context, c *testcontainers.DockerContainer) (string, error) {
	mapped, err := c.MappedPort(ctx, port)
	if err != nil {
		return "", err
	}
	guess, err := c.Host(ctx)
	if err != nil {
		return "", err
	}
	var failures []error
	for _, host := range []string{guess, "localhost"} {
		url := fmt.Sprintf("postgres://postgres:anet@%s/postgres?sslmode=disable", net.JoinHostPort(host, mapped.Port()))
		if err := answers(ctx, url); err != nil {
			failures = append(failures, err)
			continue
		}
		return url, nil
	}
	return "", errors.Join(failures...)
}

func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
