package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// winnersSQL are, of AIDs that are locked, the rows that lists show: of an agent
// that is registered here none, of others the one with the newest card, and of two
// like that the one that was taught first. A network card goes before an older one.
const winnersSQL = `
	SELECT DISTINCT ON (l.aid) l.aid, l.peer_id, l.stream
	FROM learned l JOIN teacher t ON t.peer_id = l.peer_id AND t.listed
	WHERE l.aid = ANY (@aids) AND NOT l.stale
	  AND NOT EXISTS (SELECT FROM agent a WHERE a.aid = l.aid)
	  AND NOT EXISTS (SELECT FROM block b WHERE b.aid = l.aid)
	  AND NOT EXISTS (SELECT FROM member m WHERE m.aid = l.aid AND m.hidden_at IS NOT NULL)
	ORDER BY l.aid, l.stream = 'cards' DESC, l.seq DESC, l.taught_at, l.peer_id`

// countElsewhere is queueListed for agents of other hubs.
const countElsewhere = `
	INSERT INTO directory_count (name, shard, n)
	SELECT 'federated', pg_backend_pid() %% 1024, %s count(*) FROM moved HAVING count(*) > 0
	ON CONFLICT (name, shard) DO UPDATE SET n = directory_count.n + EXCLUDED.n`

// relearnSQLs bring lists to the winners. No two rows of an AID are shown at any
// time, so one steps back before the other comes.
var relearnSQLs = []string{
	`WITH winners AS MATERIALIZED (` + winnersSQL + `),
	moved AS (
		UPDATE learned l SET shown = false
		WHERE l.aid = ANY (@aids) AND l.shown AND NOT EXISTS (
			SELECT FROM winners w WHERE (w.aid, w.peer_id, w.stream) = (l.aid, l.peer_id, l.stream))
		RETURNING l.aid)` + fmt.Sprintf(countElsewhere, "-"),
	`WITH winners AS MATERIALIZED (` + winnersSQL + `),
	moved AS (
		UPDATE learned l SET shown = true FROM winners w
		WHERE (w.aid, w.peer_id, w.stream) = (l.aid, l.peer_id, l.stream) AND NOT l.shown
		RETURNING l.aid)` + fmt.Sprintf(countElsewhere, ""),
	`DELETE FROM agent_cap c
	WHERE c.aid = ANY (@aids) AND c.rank_rating >= 500000000 AND NOT EXISTS (
		SELECT FROM learned l WHERE l.aid = c.aid AND l.shown AND (c.cap = ANY (l.caps) OR c.cap = '' AND l.caps <> '{}')
			AND (c.skill, c.rank_rating, c.rank_reviews, c.registered_at)
			  = (l.stream = 'cards' AND c.cap <> '', l.rank_rating, l.rank_reviews, l.taught_at))`,
	`INSERT INTO agent_cap (aid, cap, skill, rank_rating, rank_reviews, registered_at)
	SELECT l.aid, cap, l.stream = 'cards' AND cap <> '', l.rank_rating, l.rank_reviews, l.taught_at
	FROM learned l, unnest(l.caps || ''::text) AS cap
	WHERE l.aid = ANY (@aids) AND l.shown AND l.caps <> '{}'
	ON CONFLICT (aid, cap) DO NOTHING`,
	`INSERT INTO agent_card_tag (tag, aid)
	SELECT DISTINCT tag, l.aid FROM learned l, unnest(l.tags) AS tag
	WHERE l.aid = ANY (@aids) AND l.shown
	ON CONFLICT DO NOTHING`,
}

// queueChange lists agents of other hubs anew, whose AIDs are locked, around a
// change of what was taught of them.
func queueChange(b *pgx.Batch, aids []string, change func()) {
	if len(aids) == 0 {
		return
	}
	args := pgx.NamedArgs{"aids": aids}
	b.Queue(untagSQL, args) // what tags there were is known until then
	change()
	for _, sql := range relearnSQLs {
		b.Queue(sql, args)
	}
}

const untagSQL = `
	DELETE FROM agent_card_tag g
	USING (SELECT aid, unnest(tags) AS tag FROM learned WHERE aid = ANY (@aids) AND shown) AS had
	WHERE g.tag = had.tag AND g.aid = had.aid`

// relearn locks AIDs and does it.
func relearn(ctx context.Context, tx pgx.Tx, aids []string) error {
	if len(aids) == 0 {
		return nil
	}
	if err := lockAIDs(ctx, tx, aids); err != nil {
		return err
	}
	var b pgx.Batch
	queueChange(&b, aids, func() {})
	return found(tx.SendBatch(ctx, &b).Close(), nil, "list agents of other hubs anew")
}

func lockAIDs(ctx context.Context, tx pgx.Tx, aids []string) error {
	_, err := tx.Exec(ctx, lockAIDsSQL, pgx.NamedArgs{"aids": aids})
	return found(err, nil, "lock agents")
}
