package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
)

// LookAgain implements ledger.Witnessing.
func (s *Ledger) LookAgain(ctx context.Context, hubs []string, now, next time.Time) ([]string, error) {
	rows, err := s.pool.Query(ctx, `
		INSERT INTO witnessed (hub, next_at) SELECT hub, @next FROM unnest(@hubs::text[]) AS h (hub) ORDER BY hub
		ON CONFLICT (hub) DO UPDATE SET next_at = EXCLUDED.next_at WHERE witnessed.next_at <= @now
		RETURNING hub`, pgx.NamedArgs{"hubs": hubs, "now": now, "next": next})
	if err != nil {
		return nil, fmt.Errorf("take the turn of a witness: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// LastSeen implements ledger.Witnessing.
func (s *Ledger) LastSeen(ctx context.Context, hub string) (seq uint64, id string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT seq, head_id FROM witnessed WHERE hub = @hub`, pgx.NamedArgs{"hub": hub}).Scan(&seq, &id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", nil
	}
	return seq, id, found(err, nil, "read what was witnessed")
}

// Saw implements ledger.Witnessing.
func (s *Ledger) Saw(ctx context.Context, hub string, a ledger.Attested) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE witnessed SET seq = @seq, head_id = @id, signed = @signed, observed_at = @at WHERE hub = @hub AND seq <= @seq`,
		pgx.NamedArgs{"hub": hub, "seq": int64(a.Seq), "id": a.HeadID, "signed": a.Signed, "at": a.ObservedAt})
	return found(err, nil, "keep what was witnessed")
}
