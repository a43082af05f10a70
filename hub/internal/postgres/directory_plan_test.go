package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/pgtest"
)

// seedSQL makes n agents with four capabilities each: one that all share, one
// of a thousand that each are shared by n/1000, one of a family, one of its own.
// Every tenth has a card; ratings and ages differ.
const seedSQL = `
	WITH made AS (
		SELECT i, 'b' || translate(lpad(i::text, 58, '0'), '0189', 'klmn') AS aid,
		       '2026-01-01Z'::timestamptz + i * interval '1 second' AS at,
		       -(i % 501 * 7919 % 501) * 10000 AS rating, -(i % 50 * 31 % 50) AS reviews,
		       ARRAY['common.cap', 'shared.c' || i % 1000, 'fam.' || i % 97 || '.x', 'own.n' || i] AS caps
		FROM generate_series(1, @n) AS i),
	members AS (
		INSERT INTO member (aid, kel, first_seen_at) SELECT aid, '\x80', at FROM made),
	agents AS (
		INSERT INTO agent (aid, name, tags, registered_at, rank_rating, rank_reviews, listed, view, search)
		SELECT aid, 'agent ' || i, caps, at, rating, reviews, true,
		       convert_to(json_build_object('aid', aid, 'name', 'agent ' || i, 'caps', caps, 'tags', caps, 'summary',
		       	repeat('what it does ', 10), 'listed', true, 'avg_rating', 0, 'review_count', 0, 'registered_at', at, 'registered', true)::text, 'UTF8'),
		       aid || ' agent ' || i || ' ' || array_to_string(caps, ' ') || repeat(' what it does', 10)
		FROM made),
	offered AS (
		INSERT INTO agent_cap (aid, cap, skill, rank_rating, rank_reviews, registered_at)
		SELECT aid, cap, i % 10 = 0, rating, reviews, at FROM made, unnest(caps || ''::text) AS cap),
	cards AS (
		INSERT INTO agent_card (aid, card, verified_at, tags, search)
		SELECT aid, '{}', at, '{common}', 'agent ' || i FROM made WHERE i % 10 = 0),
	tags AS (
		INSERT INTO agent_card_tag (tag, aid) SELECT 'common', aid FROM made WHERE i % 10 = 0)
	INSERT INTO agent_seen (aid, last_seen) SELECT aid, at FROM made`

// seedTaughtSQL makes agents that a peer told of, a tenth as many, with the
// capabilities of others and one of their own.
const seedTaughtSQL = `
	WITH peers AS (
		INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, added_at, next_try_at)
		VALUES (1, 'p', 'https://p', 'p', true, true, '2026-01-01Z', '2026-01-01Z') RETURNING id),
	teachers AS (
		INSERT INTO teacher (peer_id, heard_at) SELECT id, '2026-01-01Z' FROM peers RETURNING peer_id),
	made AS (
		SELECT i, 'c' || translate(lpad(i::text, 58, '0'), '0189', 'klmn') AS aid, '2026-01-01Z'::timestamptz + i * interval '1 second' AS at,
		       ARRAY['common.cap', 'fam.' || i % 97 || '.x', 'taught.n' || i] AS caps
		FROM generate_series(1, @n / 10) AS i),
	known AS (
		INSERT INTO known_elsewhere (aid, kel, taught_by, since) SELECT aid, '\x80', peer_id, at FROM made, teachers),
	taught AS (
		INSERT INTO learned (aid, peer_id, stream, entry, card, home, fed_seq, seq, name, summary, caps, tags, search, card_search,
			view, listed, rating_sum, rating_count, rank_rating, rank_reviews, taught_at, verified_at, told, size, shown)
		SELECT aid, peer_id, 'cards', '', '{}', 'https://p', i, i, 'agent ' || i, '', caps, '{common}', aid || ' agent ' || i, 'agent ' || i,
		       convert_to(json_build_object('aid', aid, 'name', 'agent ' || i, 'caps', caps)::text, 'UTF8'), true, 0, 0,
		       1000000000, 0, at, at, 1, 100, true
		FROM made, teachers),
	tagged AS (
		INSERT INTO agent_card_tag (tag, aid) SELECT 'common', aid FROM made)
	INSERT INTO agent_cap (aid, cap, skill, rank_rating, rank_reviews, registered_at)
	SELECT aid, cap, cap <> '', 1000000000, 0, at FROM made, unnest(caps || ''::text) AS cap`

// seed fills the directory in bulk and lets the planner know.
func seed(tb testing.TB, pool *pgxpool.Pool, n int) { seedWith(tb, pool, n, seedSQL) }

// seedTaught adds agents of another hub.
func seedTaught(tb testing.TB, pool *pgxpool.Pool, n int) { seedWith(tb, pool, n, seedTaughtSQL) }

func seedWith(tb testing.TB, pool *pgxpool.Pool, n int, sql string) {
	tb.Helper()
	_, err := pool.Exec(context.Background(), sql, pgx.NamedArgs{"n": n})
	if err == nil {
		_, err = pool.Exec(context.Background(), `ANALYZE`)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// plan is a node of EXPLAIN's answer.
type plan struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Plans    []plan  `json:"Plans"`
}

func (p plan) walk(visit func(plan)) {
	visit(p)
	for _, sub := range p.Plans {
		sub.walk(visit)
	}
}

// explain runs a statement the way the pool comes to run it: prepared, and with
// the plan the mode says.
func explain(t *testing.T, conn *pgxpool.Conn, mode, sql string, args []any) plan {
	t.Helper()
	var err error
	if named, ok := args[0].(pgx.NamedArgs); ok {
		if sql, args, err = named.RewriteQuery(t.Context(), conn.Conn(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	literals := make([]string, len(args))
	for i, v := range args {
		literals[i] = literal(v)
	}
	for _, s := range []string{`SET plan_cache_mode = ` + mode, `DEALLOCATE ALL`, `PREPARE q AS ` + sql} {
		if _, err := conn.Conn().PgConn().Exec(t.Context(), s).ReadAll(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	res, err := conn.Conn().PgConn().Exec(t.Context(),
		`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE q (`+strings.Join(literals, ", ")+`)`).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []struct{ Plan plan }
	if err := json.Unmarshal(res[0].Rows[0][0], &out); err != nil {
		t.Fatal(err)
	}
	return out[0].Plan
}

func literal(v any) string {
	switch v := v.(type) {
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []string:
		var parts []string
		for _, s := range v {
			parts = append(parts, literal(s))
		}
		return "ARRAY[" + strings.Join(parts, ", ") + "]::text[]"
	case []int64:
		return literal(strings.NewReplacer("[", "{", "]", "}", " ", ",").Replace(fmt.Sprint(v))) + "::bigint[]"
	case []byte:
		return fmt.Sprintf(`'\x%x'::bytea`, v)
	case nil:
		return "NULL"
	case time.Time:
		return literal(v.Format(time.RFC3339Nano))
	default:
		return fmt.Sprint(v)
	}
}

// At a hundred thousand agents no question reads a table, and
// none reads more of an index than it shows.
func TestNoQuestionScansATable(t *testing.T) {
	pool := pgtest.New(t)
	const agents = 100_000
	seed(t, pool, agents)
	seedTaught(t, pool, agents)
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	start := func(c string) directory.Place {
		return directory.Place{Cap: c, Rating: math.MinInt32, Reviews: math.MinInt32}
	}
	ranked := func(capID string) []any { return stepArgs(capID, start(""), 51) }
	behind := func(capID string) []any {
		p := start("")
		p.Rating = 900_000_000
		return stepArgs(capID, p, 51)
	}
	within := func(from, until string) []any {
		return append(stepArgs(from, start(from), 51), until, []string{from}, []string{until})
	}
	text := func(s string, n int) []any { return stepArgs(s, start(""), n) }
	cards := func(skill, tag, text string) []any {
		return []any{pgx.NamedArgs{"skill": skill, "tag": tag, "text": text, "after": "", "n": 51}}
	}
	for _, c := range []question{
		{"a common id", rankedSQL, ranked("common.cap"), "agent_cap_order", 51},
		{"a rare id", rankedSQL, ranked("own.n777"), "agent_cap_order", 51},
		{"an id nobody has", rankedSQL, ranked("nobody"), "agent_cap_order", 51},
		{"everyone", rankedSQL, ranked(""), "agent_cap_order", 51},
		{"a wide prefix", inRangeSQL, within("fam.", "fam/"), "agent_cap_order", 5 * 51},
		{"a narrow prefix", inRangeSQL, within("own.n7777", "own.n7778"), "agent_cap_order", 5 * 51},
		{"a prefix nobody has", inRangeSQL, within("zzz", "zz{"), "agent_cap_order", 51},
		{"an id that agents of other hubs have", rankedSQL, ranked("taught.n77"), "agent_cap_order", 51},
		{"theirs behind ours", rankedSQL, behind("common.cap"), "learned_shown", 51},
		{"a prefix of theirs", inRangeSQL, within("taught.", "taught/"), "learned_shown", 5 * 51},
		{"everybody listed", searchSQL, text("", 51), "agent_listed", 51},
		{"everybody listed, theirs behind ours", searchSQL, behind(""), "learned_order", 51},
		{"words nobody uses among theirs", searchSQL, behind("nowhere"), "learned_order", 51},
		{"words nobody uses", searchSQL, text("nowhere", 4000), "agent_listed", 4000},
		{"cards by skill", `WITH k AS (` + cardsBySkillSQL + `)` + cardsSQL, cards("common.cap", "", ""), "agent_cap_skill", 51},
		{"cards by tag", `WITH k AS (` + cardsByTagSQL + `)` + cardsSQL, cards("", "common", "agent"), "agent_card_tag_pk", 51},
		{"a step of the tour", tourSQL, []any{pgx.NamedArgs{"after": "", "n": tourStep, "before": time.Unix(0, 0)}}, "agent_seen_pk", tourStep},
		{"all cards", `WITH k AS (` + allCardsSQL + `)` + cardsSQL, cards("", "", ""), "agent_card_pk", 51},
	} {
		c.ask(t, conn)
	}
}

// Twenty thousand blocks cost a request two look-ups.
func TestNoBlockIsLookedForInATable(t *testing.T) {
	pool := pgtest.New(t)
	for _, sql := range []string{`
		INSERT INTO block (aid, host, why, created_at)
		SELECT CASE WHEN i % 2 = 0 THEN 'b' || i END, CASE WHEN i % 2 = 1 THEN ('10.0.0.0'::inet + i * 256)::cidr END, '', '2026-01-01Z'
		FROM generate_series(1, 20000) AS i`, `ANALYZE`} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, index := range []string{"block_aid_uq", "block_hosts"} {
		args := []any{pgx.NamedArgs{"signer": "b777", "from": "10.0.1.7", "asked_at": time.Unix(0, 0)}}
		question{"whether a visitor is blocked", blockedSQL, args, index, 2}.ask(t, conn)
	}
}

// question is a statement with the index that answers it.
type question struct {
	why, sql string
	args     []any
	index    string
	most     float64 // rows any part may touch
}

// ask runs it with both kinds of plan.
func (c question) ask(t *testing.T, conn *pgxpool.Conn) {
	t.Helper()
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		used := false
		explain(t, conn, mode, c.sql, c.args).walk(func(p plan) {
			if (p.Type == "Seq Scan" || p.Type == "Bitmap Heap Scan") && p.Relation != "feed_head" && p.Relation != "ledger" { // which are one row
				t.Errorf("%s (%s): %s of %s", c.why, mode, p.Type, p.Relation)
			}
			if touched := (p.Rows + p.Removed) * p.Loops; p.Index != "" && touched > c.most {
				t.Errorf("%s (%s): %s touches %.0f rows, want at most %.0f", c.why, mode, p.Index, touched, c.most)
			}
			used = used || p.Index == c.index
		})
		if !used {
			t.Errorf("%s (%s): %s is not used", c.why, mode, c.index)
		}
	}
}
