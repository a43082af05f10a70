package pgtest

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/anet-hub/anet/migrations"
)

// blank asks for an empty database that sorts and encodes as the hub's own
// does, whatever the server's default is.
const blank = "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"

// makeTemplate migrates one database for each set of migrations; the tests'
// databases are copies of it. What a killed run left half migrated is made anew,
// and so is what is older than the server's last start: after a crash its
// unlogged tables are empty.
func (s *server) makeTemplate(ctx context.Context) (string, error) {
	name := "anet_model_" + migrations.Hash()
	conn, err := s.admin.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	const lock = `SELECT pg_advisory_lock(hashtext($1))`
	if _, err := conn.Exec(ctx, lock, name); err != nil {
		return "", fmt.Errorf("wait for the template: %w", err)
	}
	defer conn.Exec(ctx, `SELECT pg_advisory_unlock(hashtext($1))`, name)
	var mark string
	var ready bool
	const ask = `
		SELECT s.mark, EXISTS (SELECT FROM pg_database WHERE datname = $1 AND shobj_description(oid, 'pg_database') = s.mark)
		FROM (SELECT 'complete, made since ' || extract(epoch FROM pg_postmaster_start_time())) AS s (mark)`
	if err := conn.QueryRow(ctx, ask, name).Scan(&mark, &ready); err != nil || ready {
		return name, err
	}
	return name, s.migrateTemplate(ctx, name, mark)
}

// migrateTemplate sets the mark last, so that it stands on nothing half made.
func (s *server) migrateTemplate(ctx context.Context, name, mark string) error {
	if err := s.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
		return err
	}
	if err := s.exec("CREATE DATABASE " + name + " " + blank); err != nil {
		return err
	}
	if err := migrations.Up(ctx, on(s.url, name), slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	return s.exec("COMMENT ON DATABASE " + name + " IS '" + mark + "'")
}
