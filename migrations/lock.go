package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	lockKey  int64 = 0x616e6574_6d696772 // "anetmigr"
	lockWait       = 5 * time.Minute     // longer than any one step should take
)

// sessionLock lets one process at a time migrate a database. It is held by the
// connection the steps run on, so it ends when they do, also after a kill.
type sessionLock struct {
	log  *slog.Logger
	wait time.Duration // zero means lockWait
}

// SessionLock waits for the lock and says that it does.
func (l *sessionLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	// A killed process should not leave its step running, and locked, for as
	// long as that takes. Servers on some systems cannot look; they refuse this.
	_, _ = conn.ExecContext(ctx, `SET client_connection_check_interval = '1s'`)
	start, wait := time.Now(), l.wait
	if wait == 0 {
		wait = lockWait
	}
	for said := false; ; said = true {
		var got bool
		err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey).Scan(&got)
		switch {
		case err != nil:
			return fmt.Errorf("lock the migrations: %w", err)
		case got:
			return nil
		case time.Since(start) >= wait:
			return errs.New(errs.Unavailable, "migration_running",
				"another process has been migrating the database for %s: look at it, or start again later", wait)
		case !said:
			l.log.Info("another process is migrating the database, waiting for it", "at_most", wait.String())
		}
		if !sleep(ctx, min(wait, 200*time.Millisecond)) {
			return ctx.Err()
		}
	}
}

// SessionUnlock gives the lock back before the connection is used for anything else.
func (l *sessionLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, lockKey)
	return err
}

// Running reports that a process is applying steps.
func Running(ctx context.Context, url string) (running bool, err error) {
	db, err := passing(url)
	if err != nil {
		return false, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (classid::bigint << 32 | objid::bigint) = $1 AND objsubid = 1)`, lockKey).Scan(&running)
	return running, err
}

// sleep is false when the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
