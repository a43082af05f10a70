package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/backup"
)

// Backups keeps which backups were taken and which of them were proven.
type Backups struct {
	pool  *pgxpool.Pool
	taken atomic.Pointer[Moments]
}

// NewBackups makes the store.
func NewBackups(pool *pgxpool.Pool) *Backups { return &Backups{pool: pool} }

// Moments are those whose state the newest backups hold; zero where there is none.
type Moments struct{ Taken, Proven time.Time }

// Taken writes down a backup. A schema from before there was a place for it keeps
// nothing, and is backed up all the same.
func (s *Backups) Taken(ctx context.Context, m backup.Manifest, act audit.Act) error {
	return s.write(ctx, m, nil, act)
}

// Proven writes down that a backup was restored.
func (s *Backups) Proven(ctx context.Context, m backup.Manifest, act audit.Act) error {
	return s.write(ctx, m, &act.At, act)
}

func (s *Backups) write(ctx context.Context, m backup.Manifest, proven *time.Time, act audit.Act) error {
	sum, err := hex.DecodeString(m.SHA256)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var backups, audits bool
		err := tx.QueryRow(ctx, `SELECT to_regclass('backup') IS NOT NULL, to_regclass('audit') IS NOT NULL`).Scan(&backups, &audits)
		if err == nil && backups {
			_, err = tx.Exec(ctx, `
				INSERT INTO backup AS b (sha256, taken_at, bytes, proven_at) VALUES (@sum, @taken, @bytes, @proven)
				ON CONFLICT (sha256) DO UPDATE SET proven_at = coalesce(EXCLUDED.proven_at, b.proven_at)`,
				pgx.NamedArgs{"sum": sum, "taken": m.TakenAt, "bytes": m.Bytes, "proven": proven})
		}
		if err != nil || !audits {
			return found(err, nil, "write down a backup")
		}
		return note(ctx, tx, act)
	})
}

// Read asks for the moments.
func (s *Backups) Read(ctx context.Context) (m Moments, err error) {
	var taken, proven *time.Time
	err = s.pool.QueryRow(ctx, `
		SELECT max(taken_at), max(taken_at) FILTER (WHERE proven_at IS NOT NULL) FROM backup`).Scan(&taken, &proven)
	if err != nil {
		return m, fmt.Errorf("read when backups were taken: %w", err)
	}
	return Moments{orZero(taken), orZero(proven)}, nil
}

// momentsEvery is how soon the metrics of a process know of a backup.
const momentsEvery = 15 * time.Second

// Run keeps Last up to date until ctx ends.
func (s *Backups) Run(ctx context.Context) error {
	tick := time.NewTicker(momentsEvery)
	defer tick.Stop()
	for {
		if m, err := s.Read(ctx); err == nil { // a database that is gone is a matter for readiness
			s.taken.Store(&m)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Last is what Run read.
func (s *Backups) Last() Moments {
	if m := s.taken.Load(); m != nil {
		return *m
	}
	return Moments{}
}
