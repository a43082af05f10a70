package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/backup"
	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/pgtools"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/version"
)

// Progress is told how far something is: bytes of total, where that is known.
type Progress func(what string, done, total int64)

// passage tells of what goes through it.
type passage struct {
	to    Progress
	what  string
	total int64
	n     int64
}

func (c *passage) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	c.to(c.what, c.n, c.total)
	return len(p), nil
}

// BackupFile writes a backup that has its name once it is whole.
func (o *Operator) BackupFile(ctx context.Context, path string, force, mail bool, by audit.By, p Progress) (m backup.Manifest, err error) {
	f, err := backup.Create(path, force)
	if err != nil {
		return m, fmt.Errorf("begin the backup: %w", err)
	}
	defer f.Discard()
	if m, err = o.dump(ctx, f, mail, p); err != nil {
		return m, err
	}
	if err := f.Keep(); err != nil {
		return m, err
	}
	return m, o.taken(ctx, m, by)
}

// BackupTo writes a backup to a stream.
func (o *Operator) BackupTo(ctx context.Context, to io.Writer, mail bool, by audit.By, p Progress) (backup.Manifest, error) {
	m, err := o.dump(ctx, to, mail, p)
	if err != nil {
		return m, err
	}
	return m, o.taken(ctx, m, by)
}

func (o *Operator) taken(ctx context.Context, m backup.Manifest, by audit.By) error {
	act := by.Did("backup.take", m.SHA256, time.Now()).With("bytes", m.Bytes).With("mail", m.Mail)
	return o.Backups.Taken(ctx, m, act)
}

func (o *Operator) dump(ctx context.Context, to io.Writer, mail bool, p Progress) (m backup.Manifest, err error) {
	began, url := time.Now(), o.data.DirectURL()
	snapshot, err := postgres.TakeSnapshot(ctx, url, mail)
	if err != nil {
		return m, err
	}
	defer snapshot.Close(context.WithoutCancel(ctx))
	p("counting rows", 0, 0)
	if m, err = snapshot.Manifest(ctx); err != nil {
		return m, err
	}
	m.TakenAt, m.Program = began.UTC().Truncate(time.Microsecond), version.String()
	tools, err := clientTools(o.cfg, m.Postgres, url)
	if err != nil {
		return m, err
	}
	w := backup.NewWriter(to)
	if err := tools.Dump(ctx, io.MultiWriter(w, &passage{to: p, what: "written"}), snapshot.ID, snapshot.LeaveOut...); err != nil {
		return m, fmt.Errorf("back up the database: %w", err)
	}
	return w.Finish(m)
}

func clientTools(cfg Config, server int, url string) (pgtools.Tools, error) {
	dir, err := embedpg.Clients(cfg.PostgresBinDir, server)
	if err != nil {
		return pgtools.Tools{}, err
	}
	return pgtools.New(dir, url)
}
