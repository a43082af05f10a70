package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// Due implements peers.Proofs. Nobody waits longer than ten minutes for a next
// try: one that is further away was set by a clock that ran ahead.
func (s *Peers) Due(ctx context.Context, now, again time.Time) (peers.Peer, bool, error) {
	p, err := toPeer(s.pool.QueryRow(ctx, `
		UPDATE peer p SET tried_at = @now, next_try_at = @again
		WHERE id = (
			SELECT id FROM peer WHERE NOT paused AND (next_try_at <= @now OR next_try_at > @now::timestamptz + interval '10 minutes')
			ORDER BY next_try_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING `+peerColumns, pgx.NamedArgs{"now": now, "again": again}))
	if errors.Is(err, pgx.ErrNoRows) {
		return p, false, nil
	}
	return p, err == nil, found(err, nil, "claim a peer")
}

// Sooner implements peers.Proofs.
func (s *Peers) Sooner(ctx context.Context, aid string, now time.Time, gap time.Duration) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE peer SET next_try_at = LEAST(next_try_at, GREATEST(@now::timestamptz, tried_at + @gap::interval)) WHERE aid = @aid`,
		pgx.NamedArgs{"aid": aid, "now": now, "gap": gap})
	return found(err, nil, "have a peer fetched sooner")
}

// Proved implements peers.Proofs. The history that p was read with is compared in
// the statement, so that of two fetches at once neither takes the other's back.
func (s *Peers) Proved(ctx context.Context, p peers.Peer, kel []byte, now, next time.Time) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE peer SET kel = @kel::bytea, astray = false, last_success_at = @now, next_try_at = @next,
		       proved_at = COALESCE(proved_at, @now::timestamptz),
		       revision = revision + (astray OR kel IS DISTINCT FROM @kel::bytea)::int
		WHERE id = @id AND aid = @aid AND kel IS NOT DISTINCT FROM @was::bytea`,
		pgx.NamedArgs{"id": p.ID, "aid": p.AID, "was": p.KEL, "kel": kel, "now": now, "next": next})
	return found(err, nil, "pin the history of a peer")
}

// Refused implements peers.Proofs.
func (s *Peers) Refused(ctx context.Context, id int64, now time.Time, f peers.Failure) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE peer SET last_refused_at = @now, last_refusal = @code, last_refusal_why = @why,
		       astray = astray OR @astray, revision = revision + (@astray AND NOT astray)::int
		WHERE id = @id`,
		pgx.NamedArgs{"id": id, "now": now, "code": f.Code, "why": f.Why, "astray": f.Astray})
	return found(err, nil, "keep why a peer was refused")
}
