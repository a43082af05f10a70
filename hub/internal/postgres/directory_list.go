package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// The statements below find places first and fetch the agents there by key, in
// scalar subqueries: a join would leave the planner free to hash a whole table
// for a page of fifty. They are asked most of all, so their parameters are
// numbered: $2 to $5 are the place to go on from, $6 is how many places to look
// at, $1 is what is asked for.

// rankedSQL is one range of the index.
const rankedSQL = `
	SELECT rank_rating, rank_reviews, registered_at, aid,
	       (SELECT view FROM agent a WHERE a.aid = p.aid),
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid)
	FROM agent_cap p
	WHERE cap = $1 AND (rank_rating, rank_reviews, registered_at, aid) > ($2, $3, $4, $5)
	ORDER BY rank_rating, rank_reviews, registered_at, aid
	LIMIT $6`

// inRangeSQL walks the index as it lies, from the capability $1 on. An agent
// that has a smaller matching capability was shown there; the last row is kept
// all the same, since the walk goes on from it.
const inRangeSQL = `
	WITH step AS MATERIALIZED (
		SELECT *, row_number() OVER () AS i, count(*) OVER () AS looked
		FROM (
			SELECT cap, rank_rating, rank_reviews, registered_at, aid FROM agent_cap
			WHERE cap < $7
			  AND (cap, rank_rating, rank_reviews, registered_at, aid) > ($1, $2, $3, $4, $5)
			ORDER BY cap, rank_rating, rank_reviews, registered_at, aid
			LIMIT $6) AS k),
	place AS MATERIALIZED (
		SELECT step.*, NOT EXISTS (
			SELECT FROM agent_cap earlier
			WHERE earlier.aid = step.aid AND earlier.cap < step.cap AND EXISTS (
				SELECT FROM unnest($8::text[], $9::text[]) AS r (from_cap, until_cap)
				WHERE earlier.cap >= r.from_cap AND earlier.cap < r.until_cap)) AS answers
		FROM step)
	SELECT rank_rating, rank_reviews, registered_at, aid,
	       CASE WHEN answers THEN (SELECT view FROM agent a WHERE a.aid = p.aid) END,
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid),
	       cap, looked
	FROM place p
	WHERE answers OR i = looked
	ORDER BY i`

// searchSQL reads the order of listed agents; strpos knows no wildcards.
const searchSQL = `
	WITH step AS MATERIALIZED (
		SELECT *, row_number() OVER () AS i, count(*) OVER () AS looked
		FROM (
			SELECT rank_rating, rank_reviews, registered_at, aid,
			       $1 = '' OR strpos(search, $1) > 0 AS answers
			FROM agent
			WHERE listed AND (rank_rating, rank_reviews, registered_at, aid) > ($2, $3, $4, $5)
			ORDER BY rank_rating, rank_reviews, registered_at, aid
			LIMIT $6) AS k)
	SELECT rank_rating, rank_reviews, registered_at, aid,
	       CASE WHEN answers THEN (SELECT view FROM agent a WHERE a.aid = p.aid) END,
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid),
	       '' AS cap, looked
	FROM step p
	WHERE answers OR i = looked
	ORDER BY i`

// stepArgs are the parameters all three share.
func stepArgs(asked string, p directory.Place, n int) []any {
	return []any{asked, p.Rating, p.Reviews, p.RegisteredAt, p.AID, n}
}

// Ranked implements directory.Lists. Several capabilities are several ranges;
// an agent has the same place in all of them.
func (s *Directory) Ranked(ctx context.Context, caps []string, after directory.Place, n int) (st directory.Step, err error) {
	for _, c := range caps {
		rows, err := s.pool.Query(ctx, rankedSQL, stepArgs(c, after, n)...)
		if err == nil {
			st.Rows, err = appendRows(st.Rows, rows, n)
		}
		if err != nil {
			return directory.Step{}, fmt.Errorf("read the directory: %w", err)
		}
	}
	if len(caps) > 1 {
		st.Rows = merge(st.Rows, n)
	}
	st.Looked = len(st.Rows)
	return st, nil
}

// merge makes one list of several; no range can hide a row of the first n.
func merge(rows []directory.Row, n int) []directory.Row {
	slices.SortFunc(rows, func(a, b directory.Row) int { return directory.ByRank(a.Place, b.Place) })
	rows = slices.CompactFunc(rows, func(a, b directory.Row) bool { return a.Place.AID == b.Place.AID })
	return rows[:min(n, len(rows))]
}

// InRange implements directory.Lists.
func (s *Directory) InRange(ctx context.Context, ranges []directory.Range, i int, after directory.Place, n int) (directory.Step, error) {
	var froms, untils []string
	for _, r := range ranges {
		froms, untils = append(froms, r.From), append(untils, r.Until)
	}
	return s.step(ctx, inRangeSQL, append(stepArgs(after.Cap, after, n), ranges[i].Until, froms, untils))
}

// Search implements directory.Lists.
func (s *Directory) Search(ctx context.Context, text string, after directory.Place, n int) (directory.Step, error) {
	return s.step(ctx, searchSQL, stepArgs(text, after, n))
}

func (s *Directory) step(ctx context.Context, sql string, args []any) (st directory.Step, err error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err == nil {
		st.Rows, err = appendRows(nil, rows, maxPlaces, &st.Looked)
	}
	return st, found(err, nil, "read the directory")
}

// maxPlaces is room for the rows of a step: most hold no more.
const maxPlaces = 64

// appendRows reads the columns all three statements begin with and, where
// looked is wanted, what two of them have behind. All rows are read into one
// place and copied: a page is fifty rows, and reading it is what a look-up
// costs the hub.
func appendRows(out []directory.Row, rows pgx.Rows, room int, looked ...*int) ([]directory.Row, error) {
	var p directory.Place
	var view pgtype.DriverBytes // lasts until the next row
	var seen pgtype.Timestamptz
	to := []any{&p.Rating, &p.Reviews, &p.RegisteredAt, &p.AID, &view, &seen}
	for _, n := range looked {
		to = append(to, &p.Cap, n)
	}
	out = slices.Grow(out, room)
	_, err := pgx.ForEachRow(rows, to, func() error {
		out = append(out, directory.Row{Place: p, View: bytes.Clone(view), LastSeen: seen.Time})
		return nil
	})
	return out, err
}
