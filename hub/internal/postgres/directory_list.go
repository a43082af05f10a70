package postgres

import (
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

// viewSQL is the view of an agent at a place: behind all who are registered here
// stand those of other hubs. Which one it is, the rank tells: whoever is
// registered here costs no look beyond the own row.
const viewSQL = `CASE WHEN p.rank_rating < ` + behindLocals + ` THEN (SELECT view FROM agent a WHERE a.aid = p.aid)
	            ELSE (SELECT view FROM learned l WHERE l.aid = p.aid AND l.shown) END`

const searchedSQL = `$1 = '' OR strpos(search, $1) > 0 AS answers`

// behindLocals is a rank between those of the two kinds (see directory.Place).
const behindLocals = `500000000`

// rankedSQL is one range of the index.
const rankedSQL = `
	SELECT rank_rating, rank_reviews, registered_at, aid,
	       ` + viewSQL + `,
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
	       CASE WHEN answers THEN ` + viewSQL + ` END,
	       (SELECT last_seen FROM agent_seen s WHERE s.aid = p.aid),
	       cap, looked
	FROM place p
	WHERE answers OR i = looked
	ORDER BY i`

// searchSQL reads the order of listed agents, merged of two indexes as far as the
// step goes; strpos knows no wildcards.
const searchSQL = `
	WITH step AS MATERIALIZED (
		SELECT *, row_number() OVER () AS i, count(*) OVER () AS looked
		FROM (
			(SELECT rank_rating, rank_reviews, registered_at, aid, ` + searchedSQL + ` FROM agent
			WHERE listed AND (rank_rating, rank_reviews, registered_at, aid) > ($2, $3, $4, $5)
			ORDER BY rank_rating, rank_reviews, registered_at, aid LIMIT $6)
			UNION ALL
			(SELECT rank_rating, rank_reviews, taught_at, aid, ` + searchedSQL + ` FROM learned
			WHERE shown AND listed AND (rank_rating, rank_reviews, taught_at, aid) > ($2, $3, $4, $5)
			ORDER BY rank_rating, rank_reviews, taught_at, aid LIMIT $6)
			ORDER BY rank_rating, rank_reviews, registered_at, aid LIMIT $6) AS k)
	SELECT rank_rating, rank_reviews, registered_at, aid,
	       CASE WHEN answers THEN ` + viewSQL + ` END,
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
func (s *Directory) Ranked(ctx context.Context, caps []string, after directory.Place, n, most int) (st directory.Step, err error) {
	var ends []directory.Place // of ranges that were not read as far as they go
	for _, c := range caps {
		rows, err := s.pool.Query(ctx, rankedSQL, stepArgs(c, after, n)...)
		read, cut, err := readUpTo(slices.Grow(st.Rows, n), rows, err, most/len(caps), rowReader())
		if err != nil {
			return directory.Step{}, fmt.Errorf("read the directory: %w", err)
		}
		if st.Rows = read; cut {
			ends = append(ends, read[len(read)-1].Place)
		}
	}
	if len(caps) > 1 {
		st.Rows = merge(st.Rows, ends, n)
	}
	if st.Looked = len(st.Rows); len(ends) > 0 {
		st.Looked = n
	}
	return st, nil
}

// merge makes one list of several; no range can hide a row of the first n, or one
// before the first end.
func merge(rows []directory.Row, ends []directory.Place, n int) []directory.Row {
	slices.SortFunc(rows, func(a, b directory.Row) int { return directory.ByRank(a.Place, b.Place) })
	rows = slices.CompactFunc(rows, func(a, b directory.Row) bool { return a.Place.AID == b.Place.AID })
	if len(ends) > 0 {
		first := slices.MinFunc(ends, directory.ByRank)
		rows = slices.DeleteFunc(rows, func(r directory.Row) bool { return directory.ByRank(r.Place, first) > 0 })
	}
	return rows[:min(n, len(rows))]
}

// InRange implements directory.Lists.
func (s *Directory) InRange(ctx context.Context, ranges []directory.Range, i int, after directory.Place, n, most int) (directory.Step, error) {
	var froms, untils []string
	for _, r := range ranges {
		froms, untils = append(froms, r.From), append(untils, r.Until)
	}
	return s.step(ctx, inRangeSQL, n, most, append(stepArgs(after.Cap, after, n), ranges[i].Until, froms, untils))
}

// Search implements directory.Lists.
func (s *Directory) Search(ctx context.Context, text string, after directory.Place, n, most int) (directory.Step, error) {
	return s.step(ctx, searchSQL, n, most, stepArgs(text, after, n))
}

func (s *Directory) step(ctx context.Context, sql string, n, most int, args []any) (st directory.Step, err error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	read, cut, err := readUpTo(make([]directory.Row, 0, maxPlaces), rows, err, most, rowReader(&st.Looked))
	if st.Rows = read; cut {
		st.Looked = n
	}
	return st, found(err, nil, "read the directory")
}

// maxPlaces is room for the rows of a step: most hold no more.
const maxPlaces = 64

// readUpTo appends rows until they have more than most bytes, as scan tells
// their sizes; cut means that there may be more.
func readUpTo[R any](read []R, rows pgx.Rows, err error, most int, scan func(pgx.Rows) (R, int, error)) (_ []R, cut bool, _ error) {
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		row, size, err := scan(rows)
		if err != nil {
			return nil, false, err
		}
		read = append(read, row)
		if most -= size; most < 0 {
			return read, true, nil
		}
	}
	return read, false, rows.Err()
}

// rowReader reads the columns all three statements begin with and, where looked
// is wanted, what two of them have behind. All rows are read into one place and
// copied: a page is fifty rows, and reading it is what a look-up costs the hub.
func rowReader(looked ...*int) func(pgx.Rows) (directory.Row, int, error) {
	var p directory.Place
	var view pgtype.DriverBytes // lasts until the next row
	var seen pgtype.Timestamptz
	var keep arena
	to := []any{&p.Rating, &p.Reviews, &p.RegisteredAt, &p.AID, &view, &seen}
	for _, n := range looked {
		to = append(to, &p.Cap, n)
	}
	return func(rows pgx.Rows) (directory.Row, int, error) {
		err := rows.Scan(to...)
		return directory.Row{Place: p, View: keep.clone(view), LastSeen: seen.Time}, len(view), err
	}
}

// arena keeps many small copies in few allocations.
type arena struct{ free []byte }

const arenaBytes = 16 << 10

func (a *arena) clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	if len(b) > cap(a.free)-len(a.free) {
		a.free = make([]byte, 0, max(arenaBytes, len(b)))
	}
	from := len(a.free)
	a.free = append(a.free, b...)
	return a.free[from:len(a.free):len(a.free)]
}
