package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/backup"
	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/migrations"
	"github.com/anet-hub/anet/shared/errs"
)

// Archive is a backup's file.
type Archive struct {
	backup.Manifest
	file *os.File
}

// OpenArchive opens a file and reads what it says of itself.
func OpenArchive(path string) (*Archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := backup.Read(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Archive{m, f}, nil
}

// Close closes the file.
func (a *Archive) Close() { _ = a.file.Close() }

// fits checks, before anything is touched, what could be wrong later.
func (a *Archive) fits(server int, p Progress) error {
	if err := a.Fits(migrations.Latest(), server); err != nil {
		return err
	}
	return backup.Verify(a.file, a.Manifest, &passage{to: p, what: "read", total: a.Bytes})
}

// pour runs the archive in one transaction.
func (a *Archive) pour(ctx context.Context, cfg Config, url string, server int, over postgres.Target, p Progress) error {
	tools, err := clientTools(cfg, max(server, a.Postgres), url)
	if err != nil {
		return err
	}
	p("restoring", 0, 0)
	err = tools.Restore(ctx, a.file.Name(), postgres.BeforeRestore(over), postgres.AfterRestore(a.Mail, time.Now()))
	if err != nil {
		return fmt.Errorf("restore the database; nothing of it was kept (the server's log may say more): %w", err)
	}
	return nil
}

// Verdict is what a check came to.
type Verdict struct {
	backup.Manifest
	Wrong  []string `json:"wrong"`  // what does not hold
	Proven bool     `json:"proven"` // and it was written down
}

// Check restores an archive into a database of its own and looks at everything
// there. A backup of this hub in which all holds counts as proven.
func (o *Operator) Check(ctx context.Context, a *Archive, by audit.By, p Progress) (v Verdict, err error) {
	v.Manifest = a.Manifest
	server, err := postgres.ServerMajor(ctx, o.data.DirectURL())
	if err != nil {
		return v, err
	}
	if err := a.fits(server, p); err != nil {
		return v, err
	}
	scratch, err := postgres.NewScratch(ctx, o.data.DirectURL())
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, scratch.Close(ctx)) }()
	if err := a.pour(ctx, o.cfg, scratch.URL, server, postgres.Target{}, p); err != nil {
		return v, err
	}
	if v.Wrong, err = inspect(ctx, scratch.URL, a.Manifest, p); err != nil || len(v.Wrong) > 0 {
		return v, err
	}
	if v.Proven = v.Hub == o.key.Current().AID(); !v.Proven {
		return v, nil
	}
	return v, o.Backups.Proven(ctx, a.Manifest, by.Did("backup.check", a.SHA256, time.Now()))
}

// inspect counts in the schema of the backup and looks at the rest in the schema
// of this program, to which the copy is migrated.
func inspect(ctx context.Context, url string, m backup.Manifest, p Progress) (wrong []string, err error) {
	db, err := postgres.Open(ctx, postgres.Options{URL: url, MaxConns: 2, StatementTimeout: 24 * time.Hour, AppName: "anet-hub check"})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	look := postgres.NewIntegrity(db.Pool, func(what string) { p("checking "+what, 0, 0) })
	if wrong, err = look.CountsLike(ctx, m); err != nil || len(wrong) > 0 {
		return wrong, err
	}
	p("migrating", 0, 0)
	if err := migrations.Up(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
		return nil, fmt.Errorf("migrate the restored copy: %w", err)
	}
	db.Pool.Reset() // sessions that remember tables as they were
	return look.Check(ctx)
}

// Landing is a database that a backup is going to be restored into.
type Landing struct {
	postgres.Target
	cfg     Config
	log     *slog.Logger
	url     string
	private *embedpg.Server
}

// NewLanding finds the database that serve would use, and makes a private one
// where none is configured and none was made.
func NewLanding(ctx context.Context, cfg Config, log *slog.Logger) (_ *Landing, err error) {
	l := &Landing{cfg: cfg, log: log, url: (&Database{url: cfg.DatabaseURL, direct: cfg.DatabaseDirectURL}).DirectURL()}
	if cfg.DatabaseURL == "" {
		dir, err := filepath.Abs(cfg.DataDir)
		if err != nil {
			return nil, err
		}
		l.private, err = embedpg.Start(ctx, embedpg.Options{DataDir: dir, BinDir: cfg.PostgresBinDir, Log: log})
		if err != nil {
			return nil, err
		}
		l.url = l.private.URL()
	}
	if l.Target, err = postgres.LookAt(ctx, l.url); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	return l, nil
}

// Free refuses a database that holds something: over may be a hub that nobody
// ever registered at.
func (l *Landing) Free(over bool) error {
	switch {
	case l.Empty() || over && l.Unused():
		return nil
	case l.Unused():
		return errs.New(errs.Conflict, "database_not_empty",
			"a hub was made in this database already (%s), and nobody registered at it: restore over it with --into-empty", l.Hub)
	case l.Hub != "":
		return errs.New(errs.Conflict, "database_not_empty",
			"this database holds hub %s with %d members: restore into an empty one", l.Hub, l.Members)
	}
	return errs.New(errs.Conflict, "database_not_empty", "this database holds tables that are no hub's: restore into an empty one")
}

// Restore makes the database the hub of the archive. All of it is there
// afterwards, or nothing changed.
func (l *Landing) Restore(ctx context.Context, a *Archive, by audit.By, p Progress) error {
	server, err := postgres.ServerMajor(ctx, l.url)
	if err != nil {
		return err
	}
	if err := a.fits(server, p); err != nil {
		return err
	}
	if err := a.pour(ctx, l.cfg, l.url, server, l.Target, p); err != nil {
		return err
	}
	p("migrating", 0, 0)
	if err := postgres.Migrate(ctx, l.url, l.log); err != nil {
		return fmt.Errorf("the hub is restored; bring its schema up to date: %w", err)
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: l.url, MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return postgres.NewBackups(db.Pool).Proven(ctx, a.Manifest, by.Did("backup.restore", a.SHA256, time.Now()))
}

// Close stops a private server.
func (l *Landing) Close(ctx context.Context) error { return (&Database{private: l.private}).Close(ctx) }
