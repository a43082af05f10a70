package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/relay"
)

// Forwards keeps what peers bring (forward.Store), and knows which agents are not
// theirs to answer for.
type Forwards struct{ pool *pgxpool.Pool }

// NewForwards makes the store.
func NewForwards(pool *pgxpool.Pool) *Forwards { return &Forwards{pool} }

// depositSQL is one statement, so that claim and message are there together or not
// at all, whenever the process ends. The row of the mailbox is locked before
// anything is read of it; two that bring the same payload to it come one after the
// other, and two that bring it elsewhere meet at the claim.
var depositSQL = compile(`
	WITH box AS (
		SELECT aid FROM mailbox
		WHERE aid = @to AND is_open AND count < @max_count AND bytes + @size <= @max_bytes
		FOR UPDATE),
	claim AS (
		INSERT INTO forwarded AS f (payload_cid, claimed_at)
		SELECT @cid, @now FROM box
		ON CONFLICT (payload_cid) DO UPDATE SET claimed_at = EXCLUDED.claimed_at WHERE f.claimed_at < @since
		RETURNING payload_cid),
	filled AS (
		UPDATE mailbox
		SET last_id = greatest(last_id + 1, @clock), count = count + 1, bytes = bytes + @size
		WHERE aid = (SELECT aid FROM box) AND EXISTS (SELECT FROM claim)
		RETURNING last_id, count),
	mail AS (
		INSERT INTO message (to_aid, id, size, created_at, envelope)
		SELECT @to, last_id, @size, @now, @envelope FROM filled)
	SELECT last_id, count = 1 FROM filled`)

// Deposit stores a message and claims its payload.
func (s *Forwards) Deposit(ctx context.Context, a forward.Arrival, l relay.Limits) (q relay.Queued, err error) {
	rows, err := s.pool.Query(ctx, depositSQL.sql, depositSQL.bind(pgx.NamedArgs{
		"to": a.To, "envelope": a.Envelope, "size": int64(len(a.Envelope)), "now": a.At, "clock": a.At.UnixMicro(),
		"cid": a.CID, "since": a.Since, "max_count": l.Messages, "max_bytes": l.Bytes,
	})...)
	if err != nil {
		return q, fmt.Errorf("store a forward: %w", err)
	}
	stored, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (q relay.Queued, err error) {
		return q, r.Scan(&q.ID, &q.Alone)
	})
	switch {
	case err != nil:
		return q, fmt.Errorf("store a forward: %w", err)
	case len(stored) == 1:
		return stored[0], nil
	}
	if err := s.Standing(ctx, a); err != nil {
		return q, err
	}
	return q, relay.MailboxFull()
}

// Standing says what stands in the way of a forward, apart from the quota.
func (s *Forwards) Standing(ctx context.Context, a forward.Arrival) error {
	var open, claimed bool
	err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM mailbox WHERE aid = @to AND is_open),
		       EXISTS (SELECT FROM forwarded WHERE payload_cid = @cid AND claimed_at >= @since)`,
		pgx.NamedArgs{"to": a.To, "cid": a.CID, "since": a.Since}).Scan(&open, &claimed)
	switch {
	case err != nil:
		return fmt.Errorf("look at a forward's destination: %w", err)
	case !open:
		return forward.UnknownDestination()
	case claimed:
		return forward.Duplicate()
	}
	return nil
}

// Forget drops one batch of the claims from before a time.
func (s *Forwards) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	_, err = exclusively(ctx, s.pool, lockForwards, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			DELETE FROM forwarded WHERE payload_cid IN (
				SELECT payload_cid FROM forwarded WHERE claimed_at < @before ORDER BY claimed_at LIMIT 10000)
			AND claimed_at < @before`, pgx.NamedArgs{"before": before})
		n = tag.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget forwards: %w", err)
	}
	return n, nil
}

// Local implements forward.Locals.
func (s *Forwards) Local(ctx context.Context, aid string, now time.Time) (here bool, err error) {
	err = s.pool.QueryRow(ctx, standsSQL, pgx.NamedArgs{"to": aid, "asked_at": now}).Scan(nil, &here)
	if err != nil {
		return false, fmt.Errorf("look whether an agent is here: %w", err)
	}
	return here, nil
}

// Keys implements forward.Agents: nothing that was learned of others is among them.
func (s *Forwards) Keys(ctx context.Context, aid string) (keyset, kel []byte, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT k.keyset, m.kel FROM agent_keyset k JOIN member m USING (aid) JOIN agent USING (aid) WHERE k.aid = @aid`,
		pgx.NamedArgs{"aid": aid}).Scan(&keyset, &kel)
	return keyset, kel, found(err, directory.KeysUnknown(), "read a key set for a peer")
}
