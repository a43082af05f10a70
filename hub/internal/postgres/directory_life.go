package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// stampSQL locks rows in the order of AIDs, since two processes may write the
// same ones at once.
const stampSQL = `
	WITH locked AS (
		SELECT aid FROM agent_seen WHERE aid = ANY (@aids::text[]) ORDER BY aid FOR UPDATE),
	stamped AS (
		UPDATE agent_seen s SET last_seen = GREATEST(s.last_seen, v.at)
		FROM unnest(@aids::text[], @times::timestamptz[]) AS v (aid, at), locked
		WHERE locked.aid = v.aid AND s.aid = v.aid AND (s.away OR s.last_seen IS DISTINCT FROM GREATEST(s.last_seen, v.at))
		RETURNING s.aid, s.away)
	SELECT aid FROM stamped WHERE away ORDER BY aid`

// Stamp implements liveness.Store. Who was away is brought back right behind the
// stamp; where a kill comes between the two, the tour finds it.
func (s *Directory) Stamp(ctx context.Context, seen map[string]time.Time) (back int, err error) {
	aids := slices.Sorted(maps.Keys(seen))
	times := make([]time.Time, len(aids))
	for i, aid := range aids {
		times[i] = seen[aid]
	}
	rows, err := s.pool.Query(ctx, stampSQL, pgx.NamedArgs{"aids": aids, "times": times})
	if err != nil {
		return 0, fmt.Errorf("stamp signs of life: %w", err)
	}
	away, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("stamp signs of life: %w", err)
	}
	for some := range slices.Chunk(away, tourStep) {
		n := 0
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
			n, err = move(ctx, tx, some, false, time.Time{})
			return err
		})
		if err != nil {
			return back, err
		}
		back += n
	}
	return back, nil
}

// move makes agents be away, who were last heard of at a time or before, or
// brings back who was heard of since. They are locked, members first as
// everywhere, before it is looked at when they were heard of.
func move(ctx context.Context, tx pgx.Tx, aids []string, away bool, before time.Time) (int, error) {
	if len(aids) == 0 {
		return 0, nil
	}
	args := pgx.NamedArgs{"aids": aids, "away": away, "before": before}
	if _, err := tx.Exec(ctx, lockMembersSQL, args); err != nil {
		return 0, fmt.Errorf("lock members: %w", err)
	}
	rows, err := tx.Query(ctx, `
		UPDATE agent_seen s SET away = @away
		WHERE aid = ANY (@aids) AND away <> @away AND @away = (
			coalesce(last_seen, (SELECT registered_at FROM agent a WHERE a.aid = s.aid)) <= @before)
		RETURNING aid`, args)
	if err != nil {
		return 0, fmt.Errorf("note who is away: %w", err)
	}
	moved, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("note who is away: %w", err)
	}
	return len(moved), relist(ctx, tx, moved)
}

// lockMembersSQL locks in the order of AIDs, like everything that locks several.
const lockMembersSQL = `SELECT FROM member WHERE aid = ANY (@aids) ORDER BY aid FOR UPDATE`

// relist brings the lists to what stands about locked agents, whatever they show
// now. Who is not registered is in no list anyway.
func relist(ctx context.Context, tx pgx.Tx, aids []string) error {
	if len(aids) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT `+agentColumns+`, a.shown, a.listed FROM agent a WHERE a.aid = ANY (@aids) ORDER BY a.aid`,
		pgx.NamedArgs{"aids": aids})
	if err != nil {
		return fmt.Errorf("read registrations: %w", err)
	}
	var b pgx.Batch
	for rows.Next() {
		var shown, listed bool
		a, err := toAgent(rows, &shown, &listed)
		if err == nil {
			err = queueLists(&b, a, shown, listed)
		}
		if err != nil {
			rows.Close()
			return fmt.Errorf("read registrations: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read registrations: %w", err)
	}
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("list agents anew: %w", err)
	}
	return nil
}

// queueLists changes where an agent is shown, and nothing that it said.
func queueLists(b *pgx.Batch, a directory.Agent, shown, listed bool) error {
	view, err := a.Rendered()
	if err != nil {
		return err
	}
	b.Queue(`UPDATE agent SET shown = @shown, listed = @listed, view = @view WHERE aid = @aid`,
		pgx.NamedArgs{"aid": a.AID, "shown": a.Shown(), "listed": a.InLists(), "view": view})
	queueListed(b, listed, a.InLists())
	if shown != a.Shown() && a.Visibility.ToPeers() {
		queueMark(b, a.AID)
	}
	switch {
	case shown && !a.Shown():
		b.Queue(`DELETE FROM agent_cap WHERE aid = @aid`, pgx.NamedArgs{"aid": a.AID})
	case !shown && a.Shown():
		queueCaps(b, nil, a)
	}
	return nil
}
