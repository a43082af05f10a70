package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/anet-hub/anet/migrations"
)

// Facts are what a database says of itself, for whoever looks after it.
type Facts struct {
	Version  string
	Settings map[string]string // those of settingsAsked
	Ahead    time.Duration     // how far its clock is before ours
	Free     int               // connections that ordinary users may still open
	Pooled   bool
	Direct   bool // a session can be had

	Schema, Known int64 // the latest migration there, and of this program
	Served        error // why this program may not serve on it

	Peers                     bool // whether there is a table of them
	Backups                   bool // whether they are written down
	BackupTaken, BackupProven time.Time
	Archived                  time.Time // the last log that was archived
}

var settingsAsked = []string{"fsync", "full_page_writes", "synchronous_commit", "archive_mode", "max_connections", "server_version"}

// Facts asks. Nothing is changed, and a schema of any age will do.
func (db *DB) Facts(ctx context.Context, now func() time.Time) (f Facts, err error) {
	f = Facts{Pooled: db.Pooled, Direct: db.direct != nil, Known: migrations.Latest(), Settings: map[string]string{}}
	if err := db.askSettings(ctx, &f); err != nil {
		return f, err
	}
	if err := db.askServer(ctx, now, &f); err != nil {
		return f, err
	}
	if f.Served = NewSchema(db.Pool, nil).Served(ctx); f.Schema > 0 {
		err = db.askTables(ctx, &f)
	}
	return f, err
}

func (db *DB) askSettings(ctx context.Context, f *Facts) error {
	rows, err := db.Pool.Query(ctx, `SELECT name, setting FROM pg_settings WHERE name = ANY ($1)`, settingsAsked)
	if err != nil {
		return err
	}
	var name, setting string
	_, err = pgx.ForEachRow(rows, []any{&name, &setting}, func() error { f.Settings[name] = setting; return nil })
	f.Version = f.Settings["server_version"]
	return err
}

func (db *DB) askServer(ctx context.Context, now func() time.Time, f *Facts) error {
	var clock time.Time
	var archived *time.Time
	err := db.Pool.QueryRow(ctx, `
		SELECT clock_timestamp(),
		       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
		         - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
		       (SELECT last_archived_time FROM pg_stat_archiver)`).Scan(&clock, &f.Free, &archived)
	f.Ahead = clock.Sub(now())
	if archived != nil {
		f.Archived = *archived
	}
	if err != nil {
		return err
	}
	sqlDB := stdlib.OpenDBFromPool(db.Pool)
	defer sqlDB.Close()
	f.Schema, err = migrations.Applied(ctx, sqlDB)
	return err
}

func (db *DB) askTables(ctx context.Context, f *Facts) error {
	err := db.Pool.QueryRow(ctx, `SELECT to_regclass('backup') IS NOT NULL, to_regclass('peer') IS NOT NULL`).Scan(&f.Backups, &f.Peers)
	if err != nil || !f.Backups {
		return err
	}
	var taken, proven *time.Time
	err = db.Pool.QueryRow(ctx, `SELECT max(taken_at), max(taken_at) FILTER (WHERE proven_at IS NOT NULL) FROM backup`).Scan(&taken, &proven)
	for at, to := range map[*time.Time]*time.Time{taken: &f.BackupTaken, proven: &f.BackupProven} {
		if at != nil {
			*to = *at
		}
	}
	return err
}
