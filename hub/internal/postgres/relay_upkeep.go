package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/hub/internal/wake"
)

// Expire deletes one batch of the messages stored before a time. It locks the
// mailboxes in the order of their AIDs before it deletes.
func (s *Relay) Expire(ctx context.Context, before time.Time) (n, bytes int64, err error) {
	_, err = exclusively(ctx, s.pool, lockExpiry, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			WITH due AS (
				SELECT to_aid, id FROM message WHERE created_at < @before ORDER BY created_at LIMIT 1000),
			box AS (
				SELECT aid FROM mailbox WHERE aid IN (SELECT to_aid FROM due) ORDER BY aid FOR UPDATE),
			gone AS (
				DELETE FROM message m USING due, box
				WHERE m.to_aid = due.to_aid AND m.id = due.id AND box.aid = m.to_aid
				RETURNING m.to_aid, m.size),
			less AS (
				UPDATE mailbox b SET count = b.count - g.n, bytes = b.bytes - g.bytes
				FROM (SELECT to_aid, count(*) AS n, sum(size) AS bytes FROM gone GROUP BY to_aid) g
				WHERE b.aid = g.to_aid)
			SELECT count(*), coalesce(sum(size), 0)::bigint FROM gone`,
			pgx.NamedArgs{"before": before}).Scan(&n, &bytes)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("expire mail: %w", err)
	}
	return n, bytes, nil
}

// Totals adds up the mailboxes.
func (s *Relay) Totals(ctx context.Context) (t relay.Totals, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT coalesce(sum(count), 0)::bigint, coalesce(sum(bytes), 0)::bigint, count(*) FILTER (WHERE count > 0)
		FROM mailbox`).Scan(&t.Messages, &t.Bytes, &t.Mailboxes)
	if err != nil {
		return t, fmt.Errorf("add up the mailboxes: %w", err)
	}
	return t, nil
}

// WithMail gives the AIDs of the places after which there is mail (wake.Mail).
func (s *Relay) WithMail(ctx context.Context, places []wake.Place) ([]string, error) {
	aids, after := make([]string, len(places)), make([]int64, len(places))
	for i, p := range places {
		aids[i], after[i] = p.AID, p.After
	}
	rows, err := s.pool.Query(ctx, `
		SELECT w.aid FROM unnest(@aids::text[], @after::bigint[]) AS w (aid, after)
		WHERE EXISTS (SELECT FROM message m WHERE m.to_aid = w.aid AND m.id > w.after)`,
		pgx.NamedArgs{"aids": aids, "after": after})
	if err != nil {
		return nil, fmt.Errorf("look into waiting mailboxes: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
