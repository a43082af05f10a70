// Package migrations holds the hub's schema as forward-only steps and applies
// them.
//
// The one rule: a step that has been released is never changed. A step expands
// the schema so that running processes keep serving, and says so in
// schema_compat; a later release contracts it. What cannot run in a transaction (an index built CONCURRENTLY) stands in a
// file of its own that may be run again after a kill in its middle. schema.sql
// is the result of all steps, to read and to review; it is never applied.
package migrations

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed [0-9]*.sql
var files embed.FS

const (
	// lockTimeout bounds how long a step may queue for a table that others
	// use: everybody behind it in that queue waits as long.
	lockTimeout = "2s"
	// attempts is how often a step that did not get its table is tried.
	attempts = 10

	connectTimeout = 10 * time.Second
)

// Latest is the newest version this program knows.
func Latest() int64 { return latest(files) }

func latest(steps fs.FS) (newest int64) {
	for v := range versions(steps) {
		newest = max(newest, v)
	}
	return newest
}

// Hash names the whole set of steps.
func Hash() string {
	sum := sha256.New()
	names, _ := fs.Glob(files, "*.sql")
	for _, name := range names {
		text, _ := files.ReadFile(name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Up brings the database to the latest version. Several processes may call it
// at once: one applies the steps, the others wait for it. The connection must be
// a session of its own, not one of a pooler's transactions. A schema that needs a
// newer program is an errs.Unavailable "schema_newer".
func Up(ctx context.Context, url string, log *slog.Logger) error {
	return upTo(ctx, url, files, log)
}

func upTo(ctx context.Context, url string, steps fs.FS, log *slog.Logger) error {
	config, err := parse(url)
	if err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = "anet-hub migrate"
	config.RuntimeParams["lock_timeout"] = lockTimeout
	config.RuntimeParams["statement_timeout"] = "0"
	db := stdlib.OpenDB(*config)
	defer db.Close()
	return up(ctx, db, steps, log)
}

// parse reads a URL. A server that was killed can leave a socket on which
// nobody answers, so a connection gets its time and no more.
func parse(url string) (*pgx.ConnConfig, error) {
	config, err := pgxpool.ParseConfig(url) // which knows the pool's own parameters for what they are
	if err != nil {
		return nil, errors.New("the database URL cannot be read")
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	return config.ConnConfig, nil
}

// Settled reports, through any connection and without a lock, whether every step
// has been applied. A schema that needs a newer program is an error as it is to Up.
func Settled(ctx context.Context, url string) (bool, error) {
	db, err := passing(url)
	if err != nil {
		return false, err
	}
	defer db.Close()
	return settled(ctx, db, files)
}

// passing is for a look, through any connection.
func passing(url string) (*sql.DB, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler keeps no prepared statement
	return stdlib.OpenDB(*config), nil
}

// up looks before it locks, so that a start with nothing to do never waits for
// a long migration of somebody else's; and again after it, because the process
// it waited for may have been a newer one.
func up(ctx context.Context, db *sql.DB, steps fs.FS, log *slog.Logger) error {
	done, err := settled(ctx, db, steps)
	if err != nil || done {
		return err
	}
	if err := apply(ctx, db, steps, log); err != nil {
		return err
	}
	_, err = settled(ctx, db, steps)
	return err
}

// settled reports that every step has been applied.
func settled(ctx context.Context, db *sql.DB, steps fs.FS) (bool, error) {
	done, err := applied(ctx, db)
	if err != nil {
		return false, fmt.Errorf("read the schema's version: %w", err)
	}
	if err := done.serves(latest(steps)); err != nil {
		return false, err
	}
	for v := range versions(steps) {
		if _, ok := done[v]; !ok {
			return false, nil
		}
	}
	return true, nil
}

func apply(ctx context.Context, db *sql.DB, steps fs.FS, log *slog.Logger) error {
	provider, err := goose.NewProvider(goose.DialectPostgres, db, steps,
		goose.WithSessionLocker(&sessionLock{log: log}), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	for attempt := 1; ; attempt++ {
		results, err := provider.Up(ctx)
		for _, r := range results {
			log.Info("migrated the database", "version", r.Source.Version, "step", path.Base(r.Source.Path), "took_ms", r.Duration.Milliseconds())
		}
		if err == nil || !busy(err) || attempt == attempts {
			return err
		}
		log.Warn("a table to migrate is in use, trying again", "attempt", attempt, "of", attempts)
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// busy recognises lock_not_available: lockTimeout was over before the step got
// its table.
func busy(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// versions are the numbers in front of the files' names.
func versions(steps fs.FS) map[int64]string {
	found := map[int64]string{}
	names, _ := fs.Glob(steps, "*.sql")
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if v, err := strconv.ParseInt(number, 10, 64); err == nil {
			found[v] = name
		}
	}
	return found
}
