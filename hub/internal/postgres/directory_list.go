package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// The statements below find places first and fetch the agents there by key, in
// scalar subqueries: a join would leave the planner free to hash a whole table
// for a page of fifty.

// rankedSQL merges one index range per capability. An agent has the same place
// in all of them, so DISTINCT leaves it once.
const rankedSQL = `
	WITH place AS (
		SELECT DISTINCT k.rank_rating, k.rank_reviews, k.registered_at, k.aid
		FROM unnest(@caps::text[]) AS asked (cap)
		CROSS JOIN LATERAL (
			SELECT rank_rating, rank_reviews, registered_at, aid FROM agent_cap
			WHERE cap = asked.cap COLLATE "C"
			  AND (rank_rating, rank_reviews, registered_at, aid) > (@rating, @reviews, @registered, @aid)
			ORDER BY rank_rating, rank_reviews, registered_at, aid
			LIMIT @n) AS k
		ORDER BY rank_rating, rank_reviews, registered_at, aid
		LIMIT @n)
	SELECT '' AS cap, p.*,
	       (SELECT view FROM agent a WHERE a.aid = p.aid),
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid),
	       (SELECT count(*) FROM place)
	FROM place p
	ORDER BY rank_rating, rank_reviews, registered_at, aid`

// inRangeSQL walks the index as it lies. An agent that has a smaller matching
// capability was shown there; the last row is kept all the same, since the walk
// goes on from it.
const inRangeSQL = `
	WITH step AS MATERIALIZED (
		SELECT *, row_number() OVER () AS i, count(*) OVER () AS looked
		FROM (
			SELECT cap, rank_rating, rank_reviews, registered_at, aid FROM agent_cap
			WHERE cap < @until
			  AND (cap, rank_rating, rank_reviews, registered_at, aid) > (@cap, @rating, @reviews, @registered, @aid)
			ORDER BY cap, rank_rating, rank_reviews, registered_at, aid
			LIMIT @n) AS k),
	place AS MATERIALIZED (
		SELECT step.*, NOT EXISTS (
			SELECT FROM agent_cap earlier
			WHERE earlier.aid = step.aid AND earlier.cap < step.cap AND EXISTS (
				SELECT FROM unnest(@froms::text[], @untils::text[]) AS r (from_cap, until_cap)
				WHERE earlier.cap >= r.from_cap AND earlier.cap < r.until_cap)) AS answers
		FROM step)
	SELECT cap, rank_rating, rank_reviews, registered_at, aid,
	       CASE WHEN answers THEN (SELECT view FROM agent a WHERE a.aid = p.aid) END,
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid),
	       looked
	FROM place p
	WHERE answers OR i = looked
	ORDER BY i`

// searchSQL reads the order of listed agents; strpos knows no wildcards.
const searchSQL = `
	WITH step AS MATERIALIZED (
		SELECT *, row_number() OVER () AS i, count(*) OVER () AS looked
		FROM (
			SELECT rank_rating, rank_reviews, registered_at, aid,
			       @text = '' OR strpos(search, @text) > 0 AS answers
			FROM agent
			WHERE listed
			  AND (rank_rating, rank_reviews, registered_at, aid) > (@rating, @reviews, @registered, @aid)
			ORDER BY rank_rating, rank_reviews, registered_at, aid
			LIMIT @n) AS k)
	SELECT '' AS cap, rank_rating, rank_reviews, registered_at, aid,
	       CASE WHEN answers THEN (SELECT view FROM agent a WHERE a.aid = p.aid) END,
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid),
	       looked
	FROM step p
	WHERE answers OR i = looked
	ORDER BY i`

// Ranked implements directory.Lists.
func (s *Directory) Ranked(ctx context.Context, caps []string, after directory.Place, n int) (directory.Step, error) {
	args := placeArgs(after, n)
	args["caps"] = caps
	return s.step(ctx, rankedSQL, args)
}

// InRange implements directory.Lists.
func (s *Directory) InRange(ctx context.Context, ranges []directory.Range, i int, after directory.Place, n int) (directory.Step, error) {
	args := placeArgs(after, n)
	var froms, untils []string
	for _, r := range ranges {
		froms, untils = append(froms, r.From), append(untils, r.Until)
	}
	args["until"], args["froms"], args["untils"] = ranges[i].Until, froms, untils
	return s.step(ctx, inRangeSQL, args)
}

// Search implements directory.Lists.
func (s *Directory) Search(ctx context.Context, text string, after directory.Place, n int) (directory.Step, error) {
	args := placeArgs(after, n)
	args["text"] = text
	return s.step(ctx, searchSQL, args)
}

func placeArgs(p directory.Place, n int) pgx.NamedArgs {
	return pgx.NamedArgs{
		"cap": p.Cap, "rating": p.Rating, "reviews": p.Reviews,
		"registered": p.RegisteredAt, "aid": p.AID, "n": n,
	}
}

func (s *Directory) step(ctx context.Context, sql string, args pgx.NamedArgs) (directory.Step, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return directory.Step{}, fmt.Errorf("read the directory: %w", err)
	}
	var st directory.Step
	st.Rows, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (directory.Row, error) {
		return toRow(r, &st.Looked)
	})
	if err != nil {
		return directory.Step{}, fmt.Errorf("read the directory: %w", err)
	}
	return st, nil
}

func toRow(r pgx.CollectableRow, looked *int) (row directory.Row, err error) {
	var seen *time.Time
	p := &row.Place
	err = r.Scan(&p.Cap, &p.Rating, &p.Reviews, &p.RegisteredAt, &p.AID, &row.View, &seen, looked)
	if seen != nil {
		row.LastSeen = *seen
	}
	return row, err
}
