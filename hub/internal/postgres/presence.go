package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/liveness"
)

// maxAbsences is how many absences are taken into account, the newest ones.
const maxAbsences = 1000

// Beat implements liveness.Heart. The row of the presence is locked by the first
// of several processes that start at once: the others find its beat.
func (s *Directory) Beat(ctx context.Context, now time.Time, gap time.Duration, ages directory.Ages) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		args := pgx.NamedArgs{"now": now, "gap": gap, "quiet": ages.Quiet, "hidden": ages.Hidden}
		var b pgx.Batch
		b.Queue(`INSERT INTO hub_presence (beat_at) VALUES (@now) ON CONFLICT DO NOTHING`, args)
		b.Queue(`SELECT FROM hub_presence FOR UPDATE`)
		b.Queue(`
			INSERT INTO hub_absence (began_at, ended_at)
			SELECT beat_at, @now FROM hub_presence WHERE beat_at < @now::timestamptz - @gap::interval
			ON CONFLICT DO NOTHING`, args)
		b.Queue(`UPDATE hub_presence SET beat_at = greatest(beat_at, @now), quiet_after = @quiet, hidden_after = @hidden`, args)
		return tx.SendBatch(ctx, &b).Close()
	})
	return found(err, nil, "note that the hub is up")
}

// Ages are what the hub was set to when it was last up.
func (s *Directory) Ages(ctx context.Context) (a directory.Ages, err error) {
	var quiet, hidden *time.Duration
	err = s.pool.QueryRow(ctx, `SELECT quiet_after, hidden_after FROM hub_presence`).Scan(&quiet, &hidden)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (quiet == nil || hidden == nil) {
		return directory.UsualAges, nil
	}
	if err != nil {
		return a, fmt.Errorf("read what the hub is set to: %w", err)
	}
	return directory.Ages{Quiet: *quiet, Hidden: *hidden}, nil
}

// Absences implements liveness.Heart.
func (s *Directory) Absences(ctx context.Context, now time.Time, gap time.Duration) ([]liveness.Absence, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT beat_at, @now::timestamptz AS ended_at FROM hub_presence WHERE beat_at < @now::timestamptz - @gap::interval
		UNION ALL
		SELECT began_at, ended_at FROM hub_absence
		ORDER BY ended_at DESC LIMIT @most`, pgx.NamedArgs{"now": now, "gap": gap, "most": maxAbsences})
	if err != nil {
		return nil, fmt.Errorf("read when the hub was away: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[liveness.Absence])
}

// tourStep is how many agents one step looks at: few enough for a transaction
// that takes them all out of the lists.
const tourStep = 500

// tourSQL reads the next agents in the order of AIDs.
const tourSQL = `
	WITH k AS MATERIALIZED (
		SELECT aid, last_seen, away FROM agent_seen WHERE aid > @after ORDER BY aid LIMIT @n),
	judged AS (
		SELECT aid, away, coalesce(last_seen, (SELECT registered_at FROM agent a WHERE a.aid = k.aid)) <= @before AS due
		FROM k)
	SELECT count(*), coalesce(max(aid), ''),
	       coalesce(array_agg(aid) FILTER (WHERE due AND NOT away), '{}'),
	       coalesce(array_agg(aid) FILTER (WHERE away AND NOT due), '{}')
	FROM judged`

// Sweep implements liveness.Tour.
func (s *Directory) Sweep(ctx context.Context, step liveness.Step) (swept liveness.Swept, err error) {
	swept.Done = true
	_, err = exclusively(ctx, s.pool, lockTour, func(tx pgx.Tx) error {
		var after string
		var began time.Time
		if err := tx.QueryRow(ctx, `SELECT after, began_at FROM directory_tour`).Scan(&after, &began); err != nil {
			return err
		}
		if after == "" {
			if step.Now.Before(began.Add(step.Every)) {
				return nil
			}
			began = step.Now
		}
		var looked int
		var due, back []string
		err := tx.QueryRow(ctx, tourSQL, pgx.NamedArgs{"after": after, "n": tourStep, "before": step.Before}).
			Scan(&looked, &after, &due, &back)
		if err != nil {
			return err
		}
		if swept.Hidden, err = move(ctx, tx, due, true, step.Before); err != nil {
			return err
		}
		if swept.Back, err = move(ctx, tx, back, false, step.Before); err != nil {
			return err
		}
		if swept.Done = looked < tourStep; swept.Done {
			after = ""
		}
		_, err = tx.Exec(ctx, `UPDATE directory_tour SET after = @after, began_at = @began`, pgx.NamedArgs{"after": after, "began": began})
		return err
	})
	return swept, found(err, nil, "sweep the directory")
}
