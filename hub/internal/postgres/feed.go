package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// Feed keeps what peers are told (feed.Store, feed.Numbers).
type Feed struct{ pool *pgxpool.Pool }

// NewFeed makes the store.
func NewFeed(pool *pgxpool.Pool) *Feed { return &Feed{pool: pool} }

// tellable is whether peers may learn of agent a: the one condition for entries
// and reviews alike.
const tellable = `(a.visibility <> 'hub-local' AND a.shown)`

// queueMark makes the entries of an agent move to the heads of their streams. It
// belongs into the transaction of the change, and costs an agent that peers never
// learn of nothing.
func queueMark(b *pgx.Batch, aid string) {
	b.Queue(`INSERT INTO feed_dirty (aid) VALUES (@aid)`, pgx.NamedArgs{"aid": aid})
}

// retold reports whether a registration changes what peers are told. It never
// changes whom they may be told of.
func retold(rec directory.Record, ch directory.Change) bool {
	return ch.Agent.Visibility.ToPeers() &&
		(ch.Card.Store != nil || ch.Card.Drop || ch.Keyset != nil || ch.ADP != nil ||
			!bytes.Equal(rec.KEL, ch.KEL) || rec.Agent == nil || rec.Agent.Shown() != ch.Agent.Shown())
}

// marks tells the numberer of this process that there is something to do.
type marks chan struct{}

func newMarks() marks { return make(marks, 1) }

func (m marks) tell() {
	select {
	case m <- struct{}{}:
	default: // it has not looked since the last one
	}
}

// numberSQL takes changed agents off the list and writes what is to be told of
// them now, in one snapshot: a change and its mark are committed together, so
// what is seen marked is seen changed. Two streams of one agent are two rows.
//
// The bytes of an entry are those of its JSON: base64 takes four bytes for three,
// and 512 are enough for names, numbers and the address of the hub.
const numberSQL = `
	WITH dirty AS (
		DELETE FROM feed_dirty WHERE id = ANY (ARRAY(SELECT id FROM feed_dirty ORDER BY id LIMIT @n))
		RETURNING aid),
	who AS (SELECT DISTINCT aid FROM dirty),
	facts AS MATERIALIZED (
		SELECT who.aid, stream,
		       CASE WHEN a.aid IS NULL THEN 'left'
		            WHEN a.visibility = 'hub-local' THEN 'visibility'
		            WHEN NOT ` + tellable + ` THEN 'not_listed'
		            WHEN card IS NULL THEN 'card_withdrawn'
		            ELSE '' END AS withdrawn,
		       coalesce(card, 0) + (kel + keyset) * 4 / 3 + 512 AS size
		FROM who
		LEFT JOIN LATERAL (SELECT aid, visibility, shown FROM agent WHERE agent.aid = who.aid OFFSET 0) AS a ON true
		CROSS JOIN LATERAL (SELECT
			coalesce((SELECT octet_length(kel) FROM member m WHERE m.aid = who.aid), 0) AS kel,
			coalesce((SELECT octet_length(keyset) FROM agent_keyset k WHERE k.aid = who.aid), 0) AS keyset) AS keys
		CROSS JOIN LATERAL (VALUES
			(1::smallint, (SELECT octet_length(card) FROM agent_adp_card c WHERE c.aid = who.aid)),
			(2::smallint, (SELECT octet_length(card) FROM agent_card c WHERE c.aid = who.aid))) AS cards (stream, card)),
	gone AS (
		DELETE FROM feed USING facts f
		WHERE feed.stream = 1 AND f.stream = 1 AND feed.aid = f.aid AND f.withdrawn <> ''),
	moved AS MATERIALIZED (
		SELECT *, row_number() OVER () AS i FROM facts f
		WHERE withdrawn = '' OR stream = 2 AND
			(SELECT withdrawn = '' FROM feed WHERE feed.stream = f.stream AND feed.aid = f.aid)),
	head AS (
		UPDATE feed_head SET seq = seq + (SELECT count(*) FROM moved)
		RETURNING seq - (SELECT count(*) FROM moved) AS seq),
	put AS (
		INSERT INTO feed (stream, aid, fed_seq, withdrawn, at, size)
		SELECT stream, aid, head.seq + i, withdrawn, @now, size FROM moved, head
		ON CONFLICT (stream, aid) DO UPDATE SET
			fed_seq = EXCLUDED.fed_seq, withdrawn = EXCLUDED.withdrawn, at = EXCLUDED.at, size = EXCLUDED.size)
	SELECT count(*) FROM dirty`

// Number implements feed.Numbers. Most looks find nothing and lock nothing.
func (s *Feed) Number(ctx context.Context, now time.Time, n int) (looked int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT 1 FROM feed_dirty ORDER BY id LIMIT 1`).Scan(nil)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		_, err = exclusively(ctx, s.pool, lockFeed, func(tx pgx.Tx) error {
			return tx.QueryRow(ctx, numberSQL, pgx.NamedArgs{"n": n, "now": now}).Scan(&looked)
		})
	}
	if err != nil {
		return 0, fmt.Errorf("number what changed for peers: %w", err)
	}
	return looked, nil
}
