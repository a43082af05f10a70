package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anet-hub/anet/hub/internal/replay"
)

const (
	shareEvery = time.Second      // counts, where there are new ones
	sweepEvery = 10 * time.Second // totals and what is over
)

// Run shares counts with the other processes and drops what is over, until ctx
// ends. A database that can't be reached is a matter for readiness: Run says so
// and goes on.
func (r *Replay) Run(ctx context.Context) error {
	r.complain(ctx, r.Sweep(ctx))
	share, sweep := time.NewTicker(shareEvery), time.NewTicker(sweepEvery)
	defer share.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-share.C:
			r.complain(ctx, r.shareCounts(ctx))
		case <-sweep.C:
			r.complain(ctx, r.Sweep(ctx))
		case <-r.lost:
			r.complain(ctx, r.begin(ctx))
		}
	}
}

func (r *Replay) complain(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.log.Warn("replay memory: upkeep failed, trying again", "error", err)
	}
}

// Sweep begins the memory where a crash emptied it, drops what is over, and
// reads the totals.
func (r *Replay) Sweep(ctx context.Context) error {
	return errors.Join(r.begin(ctx), r.shareCounts(ctx), r.dropExpired(ctx), r.readTotals(ctx))
}

// begin writes the row whose absence means that the memory was lost. From here
// on only requests signed after the loss are accepted. Clocks covers signers
// that run a little ahead: what they used before the loss is refused as well.
func (r *Replay) begin(ctx context.Context) error {
	tag, err := r.pool.Exec(ctx, `
		INSERT INTO replay_epoch (accept_from)
		SELECT @from WHERE NOT EXISTS (SELECT FROM replay_epoch)
		ON CONFLICT DO NOTHING`, pgx.NamedArgs{"from": r.now().Add(replay.Clocks)})
	if err != nil {
		return fmt.Errorf("begin the replay memory: %w", err)
	}
	if tag.RowsAffected() == 1 {
		r.log.Warn("the database recovered from a crash and lost the replay memory: requests signed before now are refused")
	}
	return nil
}

func (r *Replay) shareCounts(ctx context.Context) error {
	told := r.census.Unshared()
	if len(told) == 0 {
		return nil
	}
	// One order for all processes: two batches can't wait for each other.
	slices.SortFunc(told, func(a, b replay.Count) int {
		return cmp.Or(cmp.Compare(a.AID, b.AID), cmp.Compare(a.Minute, b.Minute))
	})
	sums, err := r.addCounts(ctx, told)
	if err != nil {
		return fmt.Errorf("share replay counts: %w", err)
	}
	r.census.Shared(told, sums)
	return nil
}

func (r *Replay) addCounts(ctx context.Context, told []replay.Count) ([]replay.Count, error) {
	aids, minutes, ns := make([]string, len(told)), make([]int64, len(told)), make([]int64, len(told))
	for i, c := range told {
		aids[i], minutes[i], ns[i] = c.AID, c.Minute, c.N
	}
	rows, err := r.pool.Query(ctx, `
		INSERT INTO replay_count AS c (aid, minute, n)
		SELECT * FROM unnest(@aids::text[], @minutes::bigint[], @ns::bigint[])
		ON CONFLICT (aid, minute) DO UPDATE SET n = c.n + EXCLUDED.n
		RETURNING aid, minute, n`, pgx.NamedArgs{"aids": aids, "minutes": minutes, "ns": ns})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[replay.Count])
}

func (r *Replay) readTotals(ctx context.Context) error {
	now := r.now()
	var t replay.Totals
	err := r.pool.QueryRow(ctx, `
		SELECT coalesce(sum(n), 0)::bigint, count(DISTINCT aid) FROM replay_count WHERE minute >= @minute`,
		pgx.NamedArgs{"minute": replay.MinuteOf(now)}).Scan(&t.Entries, &t.Signers)
	if err != nil {
		return fmt.Errorf("read replay totals: %w", err)
	}
	r.census.Refresh(t, now)
	return nil
}

// dropExpired empties the partition whose minutes are over: of the five that
// are not live, the one in the middle, so that clocks two minutes apart do no
// harm. Where the hub was down meanwhile, the ring comes round again.
func (r *Replay) dropExpired(ctx context.Context) error {
	now := r.now()
	minute := replay.MinuteOf(now)
	slot := fmt.Sprintf("replay_%02d", (minute+13)%replaySlots)
	_, err := exclusively(ctx, r.pool, lockReplay, func(tx pgx.Tx) error {
		if err := truncateUsed(ctx, tx, slot); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM replay_count WHERE minute < @minute`, pgx.NamedArgs{"minute": minute}); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM replay_ahead WHERE expires_at < @now`, pgx.NamedArgs{"now": now})
		return err
	})
	if err != nil {
		return fmt.Errorf("drop expired requests: %w", err)
	}
	return nil
}

// lockNotAvailable is the SQLSTATE of a lock_timeout that was over first.
const lockNotAvailable = "55P03"

// truncateUsed empties a table unless it is empty. A backup may be reading it:
// then the next round of the ring will do, and nothing else fails for it.
func truncateUsed(ctx context.Context, tx pgx.Tx, table string) error {
	name := pgx.Identifier{table}.Sanitize()
	var used bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+name+`)`).Scan(&used); err != nil || !used {
		return err
	}
	err := pgx.BeginFunc(ctx, tx, func(step pgx.Tx) error { // a savepoint
		if _, err := step.Exec(ctx, `SET LOCAL lock_timeout = '100ms'`); err != nil {
			return err
		}
		_, err := step.Exec(ctx, `TRUNCATE `+name)
		return err
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == lockNotAvailable {
		return nil
	}
	return err
}
