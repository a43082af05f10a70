package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/peers"
)

// List implements learned.Store. Where another process is at it, there is nothing
// to do.
func (s *Learned) List(ctx context.Context, peer int64, listed bool) (done bool, err error) {
	done = true
	_, err = exclusively(ctx, s.pool, lockTeaching, func(tx pgx.Tx) (err error) {
		args := pgx.NamedArgs{"peer": peer, "listed": listed}
		if _, err := tx.Exec(ctx, `UPDATE teacher SET listed = @listed, tour = '' WHERE peer_id = @peer AND listed <> @listed`, args); err != nil {
			return err
		}
		done, err = tour(ctx, tx, args)
		return err
	})
	return done, found(err, nil, "list what a peer taught")
}

// tour lists the next agents of a peer anew, until all are.
func tour(ctx context.Context, tx pgx.Tx, args pgx.NamedArgs) (done bool, err error) {
	aids, err := aidsOf(tx.Query(ctx, `
		SELECT aid FROM learned
		WHERE peer_id = @peer AND aid > (SELECT tour FROM teacher WHERE peer_id = @peer)
		ORDER BY aid LIMIT 500`, args))
	if err != nil {
		return false, err
	}
	args["tour"] = nil
	if len(aids) == tourStep {
		args["tour"] = aids[len(aids)-1]
	}
	if _, err := tx.Exec(ctx, `UPDATE teacher SET tour = @tour WHERE peer_id = @peer`, args); err != nil {
		return false, err
	}
	return args["tour"] == nil, relearn(ctx, tx, aids)
}

// Sweep implements learned.Store, a bounded number of rows at a time.
func (s *Learned) Sweep(ctx context.Context, j learned.Job, now time.Time) error {
	for done := false; !done; {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
			if err := hold(ctx, tx, j, now); err != nil {
				return err
			}
			done, err = sweep(ctx, tx, j, now)
			return err
		})
		if err != nil {
			return fmt.Errorf("forget what a peer tells no more: %w", err)
		}
	}
	return nil
}

func sweep(ctx context.Context, tx pgx.Tx, j learned.Job, now time.Time) (done bool, err error) {
	args := jobArgs(j, now)
	if j.Stream == peers.Reviews {
		if done, err = forgetReviews(ctx, tx, `told < @pass`, args); done && err == nil {
			err = countReviews(ctx, tx, j.Peer, `true`)
		}
		return done, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM pull_held WHERE peer_id = @peer AND stream = @stream AND told < @pass`, args); err != nil {
		return false, err
	}
	const untold = `peer_id = @peer AND stream = @stream AND told < @pass`
	return forgetSome(ctx, tx, untold, args)
}

// forgetSome forgets up to a number of agents that a condition on rows of one peer
// picks.
func forgetSome(ctx context.Context, tx pgx.Tx, which string, args pgx.NamedArgs) (done bool, err error) {
	aids, err := aidsOf(tx.Query(ctx, `SELECT DISTINCT aid FROM learned WHERE `+which+` LIMIT 500`, args))
	if err != nil || len(aids) == 0 {
		return true, err
	}
	// Whoever counts what a peer taught holds its row before the agents.
	if _, err := tx.Exec(ctx, `SELECT FROM teacher WHERE peer_id = @peer FOR UPDATE`, args); err != nil {
		return false, err
	}
	if err := lockAIDs(ctx, tx, aids); err != nil {
		return false, err
	}
	var b pgx.Batch
	args["aids"] = aids
	queueChange(&b, aids, func() { b.Queue(forgetting(`aid = ANY (@aids) AND `+which), args) })
	return len(aids) < tourStep, tx.SendBatch(ctx, &b).Close()
}

// forgetReviews does the same with reviews, which stand in no list.
func forgetReviews(ctx context.Context, tx pgx.Tx, which string, args pgx.NamedArgs) (done bool, err error) {
	tag, err := tx.Exec(ctx, `
		WITH gone AS (
			DELETE FROM learned_review WHERE ctid IN (
				SELECT ctid FROM learned_review WHERE peer_id = @peer AND `+which+` LIMIT 5000)
			RETURNING size)
		UPDATE teacher SET bytes = bytes - sizes, reviews = reviews - n
		FROM (SELECT count(*) AS n, sum(size) AS sizes FROM gone) AS g WHERE peer_id = @peer AND n > 0`, args)
	return err == nil && tag.RowsAffected() == 0, err
}

// removing is how long nobody reads a peer that is about to be removed.
const removing = 5 * time.Minute

// forget forgets all that a peer taught, a bounded number of rows at a time; its
// marks stay. It is called before the peer is removed: with its row gone there would
// be nothing to go on with after a kill.
func forget(ctx context.Context, pool *pgxpool.Pool, peer int64, now time.Time) error {
	for done := false; !done; {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
			args := pgx.NamedArgs{"peer": peer, "now": now, "until": now.Add(removing)}
			_, err = tx.Exec(ctx, `
				UPDATE pull SET leased_by = 'removed', leased_until = @until, read_to = 0 WHERE peer_id = @peer`, args)
			if err != nil {
				return err
			}
			if done, err = forgetSome(ctx, tx, `peer_id = @peer`, args); err != nil || !done {
				return err
			}
			done, err = forgetReviews(ctx, tx, `true`, args)
			return err
		})
		if err != nil {
			return fmt.Errorf("forget what a peer taught: %w", err)
		}
	}
	return nil
}
