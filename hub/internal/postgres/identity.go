package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/shared/errs"
)

// Identity keeps the hub's identity blob (hubkey.Store).
type Identity struct {
	pool *pgxpool.Pool
	now  func() time.Time
}

// NewIdentity makes the store.
func NewIdentity(pool *pgxpool.Pool, now func() time.Time) *Identity {
	return &Identity{pool: pool, now: now}
}

// noHubYet is told beside a hub that is starting for the first time as well as
// where somebody mistyped the database.
const noHubYet = "this database holds no hub yet: \"anet-hub serve\" makes one; try again in a moment where it is just starting"

// Load gives the blob and its version.
func (s *Identity) Load(ctx context.Context) ([]byte, int64, error) {
	var blob []byte
	var version int64
	err := s.pool.QueryRow(ctx, `SELECT blob, version FROM hub_identity`).Scan(&blob, &version)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, errs.New(errs.NotFound, "hub_identity_missing", noHubYet)
	}
	return blob, version, err
}

// HoldsHub is a NotFound error for a database in which no hub was ever made.
func HoldsHub(ctx context.Context, pool *pgxpool.Pool) error {
	var made bool
	err := pool.QueryRow(ctx, `SELECT to_regclass('hub_identity') IS NOT NULL`).Scan(&made)
	if err == nil && !made {
		return errs.New(errs.NotFound, "no_hub_here", noHubYet)
	}
	return found(err, nil, "look for a hub")
}

// Create stores the first blob; the single row decides between processes that
// start at once.
func (s *Identity) Create(ctx context.Context, blob []byte) error {
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO hub_identity (version, blob, created_at, changed_at)
		VALUES (1, @blob, @now, @now) ON CONFLICT DO NOTHING`,
		pgx.NamedArgs{"blob": blob, "now": s.now()})
	return oneRow(tag.RowsAffected(), err)
}

// Replace stores a later blob over the version it grew from, so that two
// rotations at once can't fork the history.
func (s *Identity) Replace(ctx context.Context, blob []byte, version int64, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE hub_identity SET blob = @blob, version = version + 1, changed_at = @now
			WHERE version = @version`,
			pgx.NamedArgs{"blob": blob, "now": act.At, "version": version})
		return oneRow(tag.RowsAffected(), err)
	})
}

func oneRow(n int64, err error) error {
	if err == nil && n != 1 {
		return errs.New(errs.Conflict, "hub_identity_changed", "the hub's identity was changed by another process: try again")
	}
	return err
}
