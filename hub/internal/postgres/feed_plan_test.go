package postgres

import (
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/pgtest"
)

// openSQL opens all seeded agents to peers, with cards and as many reviews.
var openSQL = []string{
	`UPDATE agent SET visibility = 'federated'`,
	`INSERT INTO agent_card (aid, card, verified_at, tags, search) SELECT aid, '{}', registered_at, '{}', '' FROM agent ON CONFLICT DO NOTHING`,
	`INSERT INTO agent_adp_card (aid, card) SELECT aid, '{}' FROM agent`,
	`INSERT INTO agent_keyset (aid, keyset) SELECT aid, '\x00' FROM agent`,
	`INSERT INTO feed (stream, aid, fed_seq, at, size)
		SELECT stream, aid, 2 * row_number() OVER (ORDER BY registered_at) + stream, registered_at, 1000 FROM agent, (VALUES (1), (2)) AS s (stream)`,
	`UPDATE feed_head SET seq = (SELECT max(fed_seq) FROM feed)`,
	`INSERT INTO review (interaction, subject, reviewer, seq, rating, receipt, review, accepted_at)
		SELECT 'i', aid, aid, row_number() OVER (), 5, '\x00', '\x00', registered_at FROM agent`,
	`INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, added_at, next_try_at) VALUES (1, 'p', 'p', 'p', true, true, 'epoch', 'epoch')`,
	`INSERT INTO teacher (peer_id, heard_at) SELECT id, 'epoch' FROM peer`,
	`INSERT INTO known_elsewhere (aid, kel, taught_by, since) SELECT 'b' || i, '\x80', id, 'epoch' FROM peer, generate_series(1, 10000) AS i`,
	`INSERT INTO learned (aid, peer_id, stream, entry, card, home, fed_seq, seq, name, summary, caps, tags, search, card_search, view, listed,
			rating_sum, rating_count, rank_rating, rank_reviews, taught_at, verified_at, told, size, shown)
		SELECT aid, taught_by, 'cards', '', '', '', 1, 1, '', '', '{}', '{}', '', '', '', true, 0, 0, 0, 0, 'epoch', 'epoch', 1, 1, true FROM known_elsewhere`,
	`INSERT INTO feed_dirty (aid) SELECT aid FROM agent ORDER BY aid`,
	`VACUUM ANALYZE`,
}

// At a hundred thousand agents that peers are told of, no page scans a table,
// wherever in a stream it is.
func TestNoPageForPeersScansATable(t *testing.T) {
	pool := pgtest.New(t)
	const agents = 100_000
	seed(t, pool, agents)
	for _, sql := range openSQL {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	page := func(s feed.Stream, after int64) []any {
		until := after + 4*int64(s.Limits().Entries) // both streams share the numbers, two each
		if s == feed.Reviews {
			until = after + 100
		}
		return []any{pgx.NamedArgs{"stream": int(s), "after": after, "n": s.Limits().Entries, "most": s.Limits().Bytes, "until": until, "look": reviewStep}}
	}
	forever := func(a []any) []any { a[0].(pgx.NamedArgs)["until"] = int64(math.MaxInt64); return a }
	for _, after := range []int64{0, agents - 500} {
		for _, q := range []question{
			{"the bytes of a page", cardSpanSQL, page(feed.Cards, after), "feed_order_uq", 200},
			{"the bytes of a page of older cards", cardSpanSQL, page(feed.OlderCards, after), "feed_order_uq", 200},
			{"a page", cardsTold[feed.Cards], page(feed.Cards, after), "feed_order_uq", 400},
			{"a page of older cards", cardsTold[feed.OlderCards], page(feed.OlderCards, after), "feed_order_uq", 800},
			{"the bytes of a page of reviews", reviewSpanSQL, forever(page(feed.Reviews, after)), "review_seq_uq", reviewStep},
			{"a page of reviews", reviewsToldSQL, page(feed.Reviews, after), "review_seq_uq", reviewStep},
		} {
			q.ask(t, conn)
		}
	}
	number := []any{pgx.NamedArgs{"n": 100, "now": time.Unix(0, 0)}}
	question{"giving out numbers", numberSQL, number, "feed_dirty_pk", 400}.ask(t, conn)
}
