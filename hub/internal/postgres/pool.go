package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/shared/errs"
)

const (
	defaultConns   = 20
	defaultTimeout = 15 * time.Second // no statement of the hub's is meant to take one
	connectTimeout = 10 * time.Second
	oldestServer   = 15
)

// Options say which database, and how much of it one process may use.
type Options struct {
	URL              string
	DirectURL        string // past a pooler, for what needs a session; empty when URL is direct
	MaxConns         int32
	StatementTimeout time.Duration
	AppName          string // seen in pg_stat_activity
	Log              *slog.Logger
}

// DB is the hub's database.
type DB struct {
	Pool *pgxpool.Pool
	// Pooled says that a pooler stands between: sessions do not last.
	Pooled bool

	direct *pgx.ConnConfig // nil when no session can be had
}

// Open connects, looks at what answers, and sets the pool up for it. A server
// that the schema cannot live in is refused with a sentence that says why.
func Open(ctx context.Context, o Options) (*DB, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := suitable(conn); err != nil {
		return nil, err
	}
	behind, err := pooled(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("look at the database: %w", err)
	}
	db := &DB{Pooled: behind}
	if behind {
		err = o.adaptToPooler(ctx, conn, config)
	} else {
		config.ConnConfig.RuntimeParams["statement_timeout"] = o.timeout()
	}
	if err != nil {
		return nil, err
	}
	return db.open(ctx, o, config)
}

func (db *DB) open(ctx context.Context, o Options, config *pgxpool.Config) (_ *DB, err error) {
	switch {
	case o.DirectURL != "":
		if db.direct, err = o.directConfig(); err != nil {
			return nil, err
		}
	case !db.Pooled:
		db.direct = config.ConnConfig.Copy()
	}
	db.Pool, err = pgxpool.NewWithConfig(ctx, config)
	return db, err
}

// Close ends all connections of the pool.
func (db *DB) Close() { db.Pool.Close() }

// Direct opens a connection that is one session for as long as it lives, for
// LISTEN. It is an errs.Unavailable "database_pooled" where none can be had.
func (db *DB) Direct(ctx context.Context) (*pgx.Conn, error) {
	if db.direct == nil {
		return nil, errPooled
	}
	conn, err := connect(ctx, db.direct)
	if err != nil {
		return nil, err
	}
	if behind, err := pooled(ctx, conn); err != nil || behind {
		_ = conn.Close(ctx)
		return nil, cmp.Or(err, error(errPooled))
	}
	return conn, nil
}

func (o Options) config() (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, errURL
	}
	config.MaxConns = cmp.Or(o.MaxConns, defaultConns)
	o.name(config.ConnConfig)
	return config, nil
}

func (o Options) directConfig() (*pgx.ConnConfig, error) {
	config, err := parse(o.DirectURL)
	if err != nil {
		return nil, err
	}
	o.name(config)
	config.RuntimeParams["statement_timeout"] = o.timeout()
	return config, nil
}

func (o Options) name(config *pgx.ConnConfig) {
	config.RuntimeParams["application_name"] = cmp.Or(o.AppName, "anet-hub")
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
}

func (o Options) timeout() string {
	return strconv.FormatInt(cmp.Or(o.StatementTimeout, defaultTimeout).Milliseconds(), 10)
}

// adaptToPooler gives up what a pooler in transaction mode breaks. Prepared
// statements live in a session, so statements are only described ahead. A
// time-out set at the start of a session is refused by the pooler, and one set
// later would stay with a session that others get: it becomes the role's own.
func (o Options) adaptToPooler(ctx context.Context, conn *pgx.Conn, config *pgxpool.Config) error {
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	if o.Log != nil {
		o.Log.Warn("a connection pooler stands before the database: sessions do not last there",
			"direct_url_given", o.DirectURL != "")
	}
	const set = `DO $$ BEGIN
		IF current_setting('statement_timeout')::interval <> interval '%[1]s milliseconds' THEN
			EXECUTE format('ALTER ROLE %%I IN DATABASE %%I SET statement_timeout = %[1]s', current_user, current_database());
		END IF;
	END $$`
	if _, err := conn.Exec(ctx, fmt.Sprintf(set, o.timeout()), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("set the role's statement_timeout: %w", err)
	}
	return nil
}

// suitable refuses what would fail later and less clearly. Both facts are told
// by the server at the start of every connection.
func suitable(conn *pgx.Conn) error {
	version, encoding := conn.PgConn().ParameterStatus("server_version"), conn.PgConn().ParameterStatus("server_encoding")
	number, _, _ := strings.Cut(version, ".")
	if major, err := strconv.Atoi(number); err == nil && major < oldestServer {
		return errs.New(errs.Unavailable, "database_too_old", "the database is PostgreSQL %s, the hub needs %d or newer", version, oldestServer)
	}
	if encoding != "UTF8" {
		return errs.New(errs.Unavailable, "database_encoding", "the database is encoded in %s, the hub needs UTF8: create it with ENCODING 'UTF8'", encoding)
	}
	return nil
}

var (
	// The URL may hold a password, so nothing of it is repeated.
	errURL    = errs.New(errs.Invalid, "database_url", "the database URL cannot be read; it looks like postgres://USER@HOST/DATABASE")
	errPooled = errs.New(errs.Unavailable, "database_pooled", "a connection pooler stands before the database and no direct URL was given")
)

func parse(url string) (*pgx.ConnConfig, error) {
	config, err := pgxpool.ParseConfig(url) // which knows the pool's own parameters for what they are
	if err != nil {
		return nil, errURL
	}
	return config.ConnConfig, nil
}

func connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return conn, nil
}
