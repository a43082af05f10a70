// Command pgcontainer runs a PostgreSQL container for one test process: it
// prints the connection URL and removes the container when its standard input
// ends, which it does when that process is gone.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	imageVariable = "TEST_POSTGRES_IMAGE"
	port          = "5432/tcp"
	patience      = 2 * time.Minute
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "pgcontainer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	c, err := testcontainers.Run(ctx, cmp.Or(os.Getenv(imageVariable), "postgres:17"),
		testcontainers.WithEnv(map[string]string{"POSTGRES_PASSWORD": "anet"}),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategyAndDeadline(patience, wait.ForSQL(port, "pgx", url)))
	defer func() { _ = testcontainers.TerminateContainer(c) }()
	if err != nil {
		return err
	}
	host, err := c.Host(ctx)
	if err != nil {
		return err
	}
	mapped, err := c.MappedPort(ctx, port)
	if err != nil {
		return err
	}
	fmt.Println(url(host, mapped))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func url(host string, p network.Port) string {
	return fmt.Sprintf("postgres://postgres:anet@%s:%s/postgres?sslmode=disable", host, p.Port())
}
