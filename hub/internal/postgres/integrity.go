package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/backup"
	"github.com/anet-hub/anet/shared/identity"
)

// Integrity asks whether a database holds a hub that could serve: it looks at
// every row, so it is for a restored copy and not for the hub at work.
type Integrity struct {
	pool *pgxpool.Pool
	step func(what string)
}

// NewIntegrity makes the question. step is told what is looked at.
func NewIntegrity(pool *pgxpool.Pool, step func(what string)) *Integrity {
	return &Integrity{pool: pool, step: step}
}

// maxFindings is how many of one kind are told: a damaged table has a million.
const maxFindings = 5

// CountsLike compares with what was counted when the backup was taken.
func (i *Integrity) CountsLike(ctx context.Context, m backup.Manifest) (wrong []string, err error) {
	i.step("rows")
	have, err := countRows(ctx, i.pool)
	if err != nil {
		return nil, err
	}
	for _, table := range slices.Sorted(maps.Keys(m.Rows)) {
		if n, there := have[table]; !there || n != m.Rows[table] {
			wrong = append(wrong, fmt.Sprintf("%s has %d rows, and had %d", table, n, m.Rows[table]))
		}
	}
	hub, schema, err := hubAndSchema(ctx, i.pool)
	if err == nil && (hub != m.Hub || schema != m.Schema) {
		wrong = append(wrong, fmt.Sprintf("it holds hub %s at schema %d, and its manifest says %s at %d", hub, schema, m.Hub, m.Schema))
	}
	return wrong, err
}

// Check looks at a hub whose schema is this program's.
func (i *Integrity) Check(ctx context.Context) (wrong []string, err error) {
	for _, look := range []struct {
		what string
		at   func(context.Context) ([]string, error)
	}{
		{"references", i.references}, {"indexes", i.indexes}, {"key histories", i.histories},
		{"cards", i.cards}, {"capabilities", i.agents}, {"reviews", i.reviews}, {"ledger", i.ledger},
	} {
		i.step(look.what)
		found, err := look.at(ctx)
		if err != nil {
			return wrong, fmt.Errorf("check the %s: %w", look.what, err)
		}
		wrong = append(wrong, found...)
	}
	return wrong, nil
}

// loose are rows that nothing in the schema ties to what they belong to, and sums
// that stand beside what they sum up.
var loose = []struct{ says, query string }{
	{"constraints were never validated", `SELECT conname::text FROM pg_constraint WHERE NOT convalidated`},
	{"capabilities of no agent", `
		SELECT DISTINCT aid FROM agent_cap c WHERE rank_rating < ` + behindLocals + ` AND NOT EXISTS (SELECT FROM agent a WHERE a.aid = c.aid)`},
	{"capabilities of agents of other hubs that differ from what peers told", `
		(SELECT aid FROM (
			SELECT aid, cap, skill, rank_rating, rank_reviews, registered_at FROM agent_cap WHERE rank_rating >= ` + behindLocals + `
			EXCEPT ` + taughtCaps + `) AS more)
		UNION (SELECT aid FROM (` + taughtCaps + `
			EXCEPT SELECT aid, cap, skill, rank_rating, rank_reviews, registered_at FROM agent_cap) AS fewer)`},
	{"agents of other hubs that are listed in spite of what stands about them, or that are not", `
		SELECT l.aid FROM learned l WHERE l.shown AND NOT EXISTS (
			SELECT FROM teacher t WHERE t.peer_id = l.peer_id AND (t.listed OR t.tour IS NOT NULL) AND NOT l.stale
				AND NOT EXISTS (SELECT FROM agent a WHERE a.aid = l.aid) AND NOT EXISTS (SELECT FROM block b WHERE b.aid = l.aid)
				AND NOT EXISTS (SELECT FROM member m WHERE m.aid = l.aid AND m.hidden_at IS NOT NULL))
		UNION
		SELECT l.aid FROM learned l JOIN teacher t ON t.peer_id = l.peer_id AND t.listed AND t.tour IS NULL
		WHERE NOT l.stale AND NOT EXISTS (SELECT FROM learned s WHERE s.aid = l.aid AND s.shown)
			AND NOT EXISTS (SELECT FROM agent a WHERE a.aid = l.aid) AND NOT EXISTS (SELECT FROM block b WHERE b.aid = l.aid)
			AND NOT EXISTS (SELECT FROM member m WHERE m.aid = l.aid AND m.hidden_at IS NOT NULL)`},
	{"agents of other hubs without a history", `
		SELECT aid FROM learned l WHERE NOT EXISTS (SELECT FROM known_elsewhere k WHERE k.aid = l.aid)`},
	{"peers that teach another number of agents, reviews, or bytes, than is counted", `
		SELECT peer_id::text FROM teacher t
		LEFT JOIN (SELECT peer_id, count(*) AS n, sum(size) AS sizes FROM learned GROUP BY peer_id) l USING (peer_id)
		LEFT JOIN (SELECT peer_id, count(*) AS words, sum(size) AS sizes FROM learned_review GROUP BY peer_id) r USING (peer_id)
		WHERE agents <> coalesce(n, 0) OR reviews <> coalesce(words, 0) OR bytes <> coalesce(l.sizes, 0) + coalesce(r.sizes, 0)`},
	{"agents of other hubs that are miscounted", `
		SELECT 'in all' FROM (SELECT coalesce(sum(n), 0) AS n FROM directory_count WHERE name = 'federated') c,
			(SELECT count(*) AS n FROM learned WHERE shown) l WHERE c.n <> l.n`},
	{"cards of no agent", `SELECT aid FROM agent_card c WHERE NOT EXISTS (SELECT FROM agent a WHERE a.aid = c.aid)`},
	{"older cards of no agent", `SELECT aid FROM agent_adp_card c WHERE NOT EXISTS (SELECT FROM agent a WHERE a.aid = c.aid)`},
	{"key sets of no agent", `SELECT aid FROM agent_keyset k WHERE NOT EXISTS (SELECT FROM agent a WHERE a.aid = k.aid)`},
	{"card tags that differ from their card", `
		(SELECT aid FROM (SELECT aid, tag FROM agent_card_tag EXCEPT (` + taggedCards + `)) m) UNION
		(SELECT aid FROM ((` + taggedCards + `) EXCEPT SELECT aid, tag FROM agent_card_tag) d)`},
	{"agents that cannot be seen", `SELECT aid FROM agent a WHERE NOT EXISTS (SELECT FROM agent_seen s WHERE s.aid = a.aid)`},
	{"agents without a mailbox", `
		SELECT aid FROM agent a WHERE NOT EXISTS (SELECT FROM mailbox b WHERE b.aid = a.aid
			AND (b.is_open OR EXISTS (SELECT FROM block x WHERE x.aid = a.aid)))`},
	{"agents shown in spite of what stands about them", `
		SELECT aid FROM agent a WHERE shown = (
			EXISTS (SELECT FROM block x WHERE x.aid = a.aid) OR EXISTS (SELECT FROM member m WHERE m.aid = a.aid AND m.hidden_at IS NOT NULL)
			OR EXISTS (SELECT FROM agent_seen s WHERE s.aid = a.aid AND s.away))`},
	{"mailboxes that miscount what lies in them", `
		SELECT aid FROM mailbox LEFT JOIN (SELECT to_aid, count(*) AS n, sum(size) AS sizes, max(id) AS top FROM message GROUP BY to_aid) m ON to_aid = aid
		WHERE count <> coalesce(n, 0) OR bytes <> coalesce(sizes, 0) OR last_id < coalesce(top, 0)`},
	{"members whose rating is not that of their reviews", `
		SELECT aid FROM member LEFT JOIN (SELECT subject, count(*) AS n, sum(rating) AS ratings FROM review GROUP BY subject) r ON subject = aid
		WHERE rating_count <> coalesce(n, 0) OR rating_sum <> coalesce(ratings, 0)`},
	{"agents that never registered here whose rating is not that of their reviews", `
		SELECT aid FROM known_elsewhere k LEFT JOIN (SELECT subject, count(*) AS n, sum(rating) AS ratings FROM review
			WHERE NOT EXISTS (SELECT FROM member m WHERE m.aid = subject) GROUP BY subject) r ON subject = aid
		WHERE rating_count <> coalesce(n, 0) OR rating_sum <> coalesce(ratings, 0)`},
	{"agents with another rating than their member's", `
		SELECT aid FROM agent a JOIN member m USING (aid) WHERE (a.rating_sum, a.rating_count) <> (m.rating_sum, m.rating_count)`},
	{"reviews that are miscounted", `
		SELECT 'in all' FROM review_total, (SELECT count(*) AS n, coalesce(sum(rating), 0) AS ratings, coalesce(max(seq), 0) AS top FROM review) r
		WHERE (reviews, rating_sum) <> (n, ratings) OR seq < top`},
	{"entries for peers that differ from their agents", `
		SELECT coalesce(f.aid, t.aid) FROM (SELECT stream, aid FROM feed WHERE withdrawn = '') f FULL JOIN (
			SELECT 1::smallint AS stream, aid FROM agent a JOIN agent_adp_card USING (aid) WHERE ` + tellable + ` UNION ALL
			SELECT 2::smallint, aid FROM agent a JOIN agent_card USING (aid) WHERE ` + tellable + `) t ON (f.stream, f.aid) = (t.stream, t.aid)
		WHERE (f.aid IS NULL OR t.aid IS NULL) AND NOT EXISTS (SELECT FROM feed_dirty d WHERE d.aid IN (f.aid, t.aid))`},
	{"entries for peers with numbers to come", `SELECT aid FROM feed, feed_head WHERE fed_seq > seq`},
	{"grants due to nobody", `SELECT aid FROM grant_due g WHERE NOT EXISTS (SELECT FROM member m WHERE m.aid = g.aid)`},
	{"mail in no mailbox", `SELECT DISTINCT to_aid FROM message m WHERE NOT EXISTS (SELECT FROM mailbox b WHERE b.aid = m.to_aid)`},
}

// What follows from the agents of other hubs that lists show, and from cards.
const (
	taughtCaps = `
	SELECT l.aid, cap, l.stream = 'cards' AND cap <> '', l.rank_rating, l.rank_reviews, l.taught_at
	FROM learned l, unnest(l.caps || ''::text) AS cap WHERE l.shown AND l.caps <> '{}'`
	taggedCards = `
	SELECT aid, unnest(tags) AS tag FROM agent_card UNION SELECT aid, unnest(tags) FROM learned WHERE shown`
)

func (i *Integrity) references(ctx context.Context) (wrong []string, err error) {
	for _, l := range loose {
		rows, err := i.pool.Query(ctx, l.query+fmt.Sprintf(" LIMIT %d", maxFindings))
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %v", l.says, found))
		}
	}
	return wrong, nil
}

// indexes compares every index with its table, where the server has the tool and
// lets us use it.
func (i *Integrity) indexes(ctx context.Context) (wrong []string, err error) {
	if _, err := i.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS amcheck`); err != nil {
		return nil, nil
	}
	rows, err := i.pool.Query(ctx, `
		SELECT i.indexrelid::oid::bigint, i.indexrelid::regclass::text, i.indisvalid FROM pg_index i
		JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
		WHERE a.amname = 'btree' AND c.relkind = 'i' AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return nil, err
	}
	type index struct {
		OID   int64
		Name  string
		Valid bool
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	for _, x := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !x.Valid {
			wrong = append(wrong, x.Name+" was never finished")
		} else if _, err := i.pool.Exec(ctx, `SELECT bt_index_check($1::bigint::oid::regclass, true)`, x.OID); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", x.Name, err))
		}
	}
	return wrong, err
}

// histories replays every key history.
func (i *Integrity) histories(ctx context.Context) (wrong []string, err error) {
	rows, err := i.pool.Query(ctx, `SELECT aid, kel FROM member`)
	if err != nil {
		return nil, err
	}
	var aid string
	var kel []byte
	_, err = pgx.ForEachRow(rows, []any{&aid, &kel}, func() error {
		h, err := identity.Replay(kel)
		switch {
		case len(wrong) >= maxFindings:
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("the key history of %s does not replay: %v", aid, err))
		case h.AID() != aid:
			wrong = append(wrong, fmt.Sprintf("the key history of %s is that of %s", aid, h.AID()))
		}
		return nil
	})
	return wrong, err
}
