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
// databases are copies of it. The mark "is a template" is set last, so a
// database a killed run left half migrated is made anew.
func (s *server) makeTemplate(ctx context.Context) (string, error) {
	name := "anet_template_" + migrations.Hash()
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
	var ready bool
	const ask = `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)`
	if err := conn.QueryRow(ctx, ask, name).Scan(&ready); err != nil || ready {
		return name, err
	}
	return name, s.migrateTemplate(ctx, name)
}

func (s *server) migrateTemplate(ctx context.Context, name string) error {
	if err := s.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
		return err
	}
	if err := s.exec("CREATE DATABASE " + name + " " + blank); err != nil {
		return err
	}
	if err := migrations.Up(ctx, on(s.url, name), slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	return s.exec("ALTER DATABASE " + name + " IS_TEMPLATE true")
}
