package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anet-hub/anet/shared/errs"
)

// Scratch is a database beside the hub's, for the time of a check. The lock that
// its maker holds says that it is in use; what is not locked was left by a kill.
type Scratch struct {
	URL  string
	name string
	lock *pgx.Conn
}

// NewScratch makes one and removes those that were left behind. The URL is the
// hub's own, past a pooler.
func NewScratch(ctx context.Context, hub string) (*Scratch, error) {
	conn, err := patient(ctx, hub)
	if err != nil {
		return nil, err
	}
	s := &Scratch{lock: conn}
	if err := s.open(ctx, hub); err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

func (s *Scratch) open(ctx context.Context, hub string) error {
	var prefix string
	// The number of the hub's database: locks are seen in one database only.
	err := s.lock.QueryRow(ctx, `SELECT format('anet_scratch_%s_', oid) FROM pg_database WHERE datname = current_database()`).Scan(&prefix)
	if err != nil {
		return fmt.Errorf("name a scratch database: %w", err)
	}
	if err := sweepScratch(ctx, s.lock, prefix); err != nil {
		return fmt.Errorf("remove scratch databases that were left: %w", err)
	}
	name := prefix + strings.ToLower(rand.Text()[:8])
	if _, err := s.lock.Exec(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, name); err != nil {
		return fmt.Errorf("lock a scratch database: %w", err)
	}
	s.name = name
	if s.URL, err = onDatabase(hub, name); err != nil {
		return err
	}
	_, err = s.lock.Exec(ctx, `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'UTF8'`)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" {
		return errs.New(errs.Forbidden, "createdb_denied",
			"the hub's role may make no database to check the backup in: allow it (ALTER ROLE %s CREATEDB)", s.lock.Config().User)
	}
	return found(err, nil, "make a scratch database")
}

func sweepScratch(ctx context.Context, conn *pgx.Conn, prefix string) error {
	rows, err := conn.Query(ctx, `
		SELECT datname FROM pg_database
		WHERE starts_with(datname, $1) AND pg_try_advisory_lock(hashtextextended(datname, 0))`, prefix)
	if err != nil {
		return err
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range left {
		if err == nil {
			err = drop(ctx, conn, name)
		}
	}
	return err
}

func drop(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, `DROP DATABASE IF EXISTS `+pgx.Identifier{name}.Sanitize()+` WITH (FORCE)`)
	return err
}

// Close drops the database, also where ctx has ended.
func (s *Scratch) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var err error
	if s.name != "" {
		if err = drop(ctx, s.lock, s.name); err != nil {
			err = fmt.Errorf("remove the scratch database (the next check tries again): %w", err)
		}
	}
	return errors.Join(err, s.lock.Close(ctx))
}

// onDatabase is the URL of another database of the same server.
func onDatabase(raw, name string) (string, error) {
	if !strings.Contains(raw, "://") {
		return raw + " dbname=" + name, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", errs.New(errs.Invalid, "database_url", "a check needs a database URL that names one host")
	}
	q := u.Query()
	q.Del("dbname")
	q.Del("database")
	u.Path, u.RawQuery = "/"+name, q.Encode()
	return u.String(), nil
}
