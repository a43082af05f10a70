package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/errs"
)

// Database is the hub's database, and the private server behind it where this
// process runs one.
type Database struct {
	DB      *postgres.DB
	url     string
	direct  string
	private *embedpg.Server
}

// OpenDatabase connects to the configured database, or starts the private one
// and becomes its owner.
func OpenDatabase(ctx context.Context, cfg Config, log *slog.Logger) (*Database, error) {
	if cfg.DatabaseURL != "" {
		return connect(ctx, cfg, &Database{url: cfg.DatabaseURL, direct: cfg.DatabaseDirectURL}, log)
	}
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	pg, err := embedpg.Start(ctx, embedpg.Options{DataDir: dir, BinDir: cfg.PostgresBinDir, Log: log})
	if err != nil {
		return nil, err
	}
	return connect(ctx, cfg, &Database{url: pg.URL(), private: pg}, log)
}

// AttachDatabase is OpenDatabase for a command beside the hub: a private server
// that already runs is used as it is. Who else became its owner meanwhile, a hub or
// another command, is asked once more.
func AttachDatabase(ctx context.Context, cfg Config, log *slog.Logger) (*Database, error) {
	data, err := attachRunning(ctx, cfg, log)
	if errs.Is(err, "database_not_running") && embedpg.Made(cfg.DataDir) {
		data, err = OpenDatabase(ctx, cfg, log)
	}
	if errs.Is(err, "data_dir_in_use") {
		return attachRunning(ctx, cfg, log)
	}
	return data, err
}

// attachRunning uses the database of a hub that runs.
func attachRunning(ctx context.Context, cfg Config, log *slog.Logger) (*Database, error) {
	if cfg.DatabaseURL != "" {
		return OpenDatabase(ctx, cfg, log)
	}
	url, err := embedpg.Attach(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	return connect(ctx, cfg, &Database{url: url}, log)
}

// recovery is how long a private server that was adopted may take to recover
// from a crash: it can have lost a session, or its life, in this very moment.
const (
	recovery   = 30 * time.Second
	retryEvery = 200 * time.Millisecond
)

func connect(ctx context.Context, cfg Config, d *Database, log *slog.Logger) (_ *Database, err error) {
	o := postgres.Options{URL: d.url, DirectURL: d.direct, MaxConns: int32(cfg.DatabaseConns), Log: log}
	d.DB, err = postgres.Open(ctx, o)
	for start := time.Now(); d.private != nil && postgres.Down(err) && ctx.Err() == nil && time.Since(start) < recovery; {
		log.Info("waiting for the database to take connections", "error", err)
		time.Sleep(retryEvery)
		d.DB, err = postgres.Open(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// DirectURL leads past a pooler, where one was configured.
func (d *Database) DirectURL() string {
	if d.direct != "" {
		return d.direct
	}
	return d.url
}

// Close lets go of the database and stops a private server, also where ctx has
// ended.
func (d *Database) Close(ctx context.Context) error { return stop(ctx, d.parts()...) }

// parts are what there is to end, of a database that may be half open.
func (d *Database) parts() (parts []part) {
	if d != nil && d.DB != nil {
		parts = append(parts, part{"connections", connectionsBy, func(context.Context) error { d.DB.Close(); return nil }})
	}
	if d != nil && d.private != nil {
		parts = append(parts, part{"database", databaseBy, d.private.Stop})
	}
	return parts
}
