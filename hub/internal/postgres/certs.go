package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/shared/errs"
)

// Certs keeps certificates, their keys and open challenges (certs.Store).
type Certs struct {
	pool *pgxpool.Pool
	now  func() time.Time
}

// NewCerts makes the store.
func NewCerts(pool *pgxpool.Pool, now func() time.Time) *Certs { return &Certs{pool, now} }

// Load gives what is kept under a name.
func (s *Certs) Load(ctx context.Context, name string) (data []byte, err error) {
	err = s.pool.QueryRow(ctx, `SELECT data FROM acme_cache WHERE name = $1`, name).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errs.New(errs.NotFound, "acme_unknown", "nothing is kept under this name")
	}
	return data, err
}

// openChallenge is how long a challenge can be open. What a killed process left
// is forgotten after it.
const openChallenge = 24 * time.Hour

// Store keeps data under a name.
func (s *Certs) Store(ctx context.Context, name string, data []byte) error {
	now := s.now()
	_, err := s.pool.Exec(ctx, `
		WITH forgotten AS (
			DELETE FROM acme_cache WHERE (name LIKE '%+http-01' OR name LIKE '%+token') AND name <> @name AND changed_at < @old)
		INSERT INTO acme_cache (name, data, changed_at) VALUES (@name, @data, @now)
		ON CONFLICT ON CONSTRAINT acme_cache_pk DO UPDATE SET data = EXCLUDED.data, changed_at = EXCLUDED.changed_at`,
		pgx.NamedArgs{"name": name, "data": data, "now": now, "old": now.Add(-openChallenge)})
	return err
}

// Forget drops what is kept under a name.
func (s *Certs) Forget(ctx context.Context, name string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM acme_cache WHERE name = $1`, name)
	return err
}

// TakeTurn makes it one process's turn until then, or longer where it is
// already; false where it is another's.
func (s *Certs) TakeTurn(ctx context.Context, who string, until time.Time) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		INSERT INTO acme_turn (who, until) VALUES (@who, @until)
		ON CONFLICT ON CONSTRAINT acme_turn_pk DO UPDATE SET who = EXCLUDED.who, until = EXCLUDED.until
		WHERE acme_turn.who = EXCLUDED.who OR acme_turn.until <= @now`,
		pgx.NamedArgs{"who": who, "until": until, "now": s.now()})
	return tag.RowsAffected() == 1, err
}

// EndTurn ends a turn that is this process's.
func (s *Certs) EndTurn(ctx context.Context, who string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM acme_turn WHERE who = $1`, who)
	return err
}
