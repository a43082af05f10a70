package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/backup"
	"github.com/anet-hub/anet/shared/identity"
)

// mailTables are left out of a backup unless they are asked for: mail is sealed,
// lives for days, and is most of what a hub holds. What peers brought is left out
// with it: remembered without its mail, it could not be brought again.
var mailTables = []string{"message", "forwarded"}

// Snapshot is the database as it is at one moment, as long as it is held.
type Snapshot struct {
	ID       string // by which other sessions see the same
	LeaveOut []string
	conn     *pgx.Conn
	tx       pgx.Tx
}

// TakeSnapshot holds a moment. The URL has to lead to the database itself: a
// snapshot lives in a session.
func TakeSnapshot(ctx context.Context, url string, mail bool) (*Snapshot, error) {
	conn, err := patient(ctx, url)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{conn: conn}
	if !mail {
		s.LeaveOut = mailTables
	}
	s.tx, err = conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err == nil {
		err = s.tx.QueryRow(ctx, `SELECT pg_export_snapshot()`).Scan(&s.ID)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("take a snapshot: %w", err)
	}
	return s, nil
}

// patient opens a session without a limit on its statements. Behind a pooler there
// is none.
func patient(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	Options{AppName: "anet-hub backup"}.name(config)
	conn, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	behind, err := pooled(ctx, conn)
	if err == nil && behind {
		err = needsSession("backups and restores")
	}
	if err == nil {
		_, err = conn.Exec(ctx, `SET statement_timeout = 0`)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// Close lets the moment go.
func (s *Snapshot) Close(ctx context.Context) { _ = s.conn.Close(ctx) }

// Manifest describes what the snapshot shows.
func (s *Snapshot) Manifest(ctx context.Context) (m backup.Manifest, err error) {
	m.Mail = len(s.LeaveOut) == 0
	if m.Postgres, err = serverMajor(s.conn); err != nil {
		return m, err
	}
	if m.Hub, m.Schema, err = hubAndSchema(ctx, s.tx); err != nil {
		return m, err
	}
	m.Rows, err = countRows(ctx, s.tx)
	for _, table := range s.LeaveOut {
		if _, there := m.Rows[table]; there { // an older schema may have it not
			m.Rows[table] = 0
		}
	}
	return m, err
}

// ServerMajor is the major version of the server behind a URL.
func ServerMajor(ctx context.Context, url string) (int, error) {
	conn, err := patient(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	return serverMajor(conn)
}

func serverMajor(conn *pgx.Conn) (int, error) {
	number, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	major, err := strconv.Atoi(number)
	if err != nil {
		return 0, fmt.Errorf("read the server's version: %w", err)
	}
	return major, nil
}

// asker is a pool, a session or a transaction.
type asker interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// hubAndSchema says whose database it is. An identity that cannot be read is an
// error: what cannot speak as the hub is not the hub.
func hubAndSchema(ctx context.Context, q asker) (aid string, schema int64, err error) {
	var blob []byte
	err = q.QueryRow(ctx, `
		SELECT (SELECT blob FROM hub_identity), (SELECT max(version_id) FROM goose_db_version WHERE is_applied)`).Scan(&blob, &schema)
	if err != nil {
		return "", 0, fmt.Errorf("read whose database it is: %w", err)
	}
	key, err := identity.LoadController(blob)
	if err != nil {
		return "", 0, fmt.Errorf("the stored hub identity is damaged: %w", err)
	}
	return key.AID(), schema, nil
}

// countRows counts every table that is backed up.
func countRows(ctx context.Context, q asker) (map[string]int64, error) {
	rows, err := q.Query(ctx, `
		SELECT relname FROM pg_class c
		WHERE relkind = 'r' AND relpersistence = 'p'
		  AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'hub_identity'::regclass)
		  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	counts := make(map[string]int64, len(tables))
	for _, table := range tables {
		var n int64
		if err := q.QueryRow(ctx, `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()).Scan(&n); err != nil {
			return nil, fmt.Errorf("count %s: %w", table, err)
		}
		counts[table] = n
	}
	return counts, nil
}
