package postgres

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
)

// Migrate brings the schema to the version of this program. Where there is
// something to do it needs the database's direct URL: the lock that makes several
// processes wait for one another lives in a session, and a pooler hands sessions
// around.
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	config, err := parse(url)
	if err != nil {
		return err
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	conn, err := connect(ctx, config)
	if err != nil {
		return err
	}
	behind, err := pooled(ctx, conn)
	_ = conn.Close(ctx)
	switch {
	case err != nil:
		return err
	case behind:
		return settledBehind(ctx, url)
	}
	return migrations.Up(ctx, url, log)
}

// settledBehind accepts a schema that is as it should be already.
func settledBehind(ctx context.Context, url string) error {
	done, err := migrations.Settled(ctx, url)
	if err != nil || done {
		return err
	}
	return needsSession("migrations")
}

// needsSession is the refusal of what cannot be done through a pooler.
func needsSession(what string) error {
	return errs.New(errs.Unavailable, "database_pooled",
		"a connection pooler stands before the database, and %s need a session of their own: give the database's own address with --database-direct-url", what)
}

// pooled reports that another program answers in the database's name: the
// process a connection was told at its start is then not the one that serves it.
func pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var serving uint32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&serving); err != nil {
		return false, err
	}
	return serving != conn.PgConn().PID(), nil
}

// Migrated refuses a schema that waits for migrations.
func Migrated(ctx context.Context, url string) error {
	done, err := migrations.Settled(ctx, url)
	if err == nil && !done {
		err = Underway(ctx, url, errs.New(errs.Unavailable, "schema_pending",
			"the database waits for migrations: \"anet-hub migrate --plan\" shows them, \"anet-hub migrate\" or the next \"anet-hub serve\" applies them"))
	}
	return err
}

// Underway is what somebody misses in the database, or an errs.Unavailable
// "migration_running" where a process is just making it.
func Underway(ctx context.Context, url string, missing error) error {
	if running, err := migrations.Running(ctx, url); err != nil || !running {
		return missing
	}
	return errs.New(errs.Unavailable, "migration_running",
		"a hub that is starting, or \"anet-hub migrate\", is just migrating the database: try again when it is done")
}
