package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/shared/errs"
)

// replaySlots is the number of partitions in the ring.
const replaySlots = 16

// Replay is the memory of signed requests that all processes on one database
// share. A store runs its effects through Once; a request that changes nothing
// goes through Remember.
type Replay struct {
	pool   *pgxpool.Pool
	census *replay.Census
	now    func() time.Time
	log    *slog.Logger
	lost   chan struct{} // asks Run to begin the memory anew
}

// NewReplay makes the memory. Its Run keeps it small and shares the counts.
func NewReplay(pool *pgxpool.Pool, b replay.Bounds, now func() time.Time, log *slog.Logger) *Replay {
	return &Replay{pool: pool, census: replay.NewCensus(b), now: now, log: log, lost: make(chan struct{}, 1)}
}

// Remembered is the number of requests in the memory, as this process knows it.
func (r *Replay) Remembered() int64 { return r.census.Entries() }

// Limit is how many there may be.
func (r *Replay) Limit() int64 { return r.census.Limit() }

// statement is SQL that begins by using up a proof. Its first table, once, has
// a row, or none when the proof is no good; again tells why. What hangs its
// effect on that row needs one round trip for both. A proof dated further ahead
// than accept_from covers is written down durably as well, with ahead.
type statement struct{ usual, ahead texts }

// texts are the same but for the signer's history, which known compares with
// the one on record. One text with a condition that is often NULL would be
// planned anew each time: the plan for NULL alone looks cheaper than the general one.
type texts struct{ bare, known named }

// The parts of the table once, and what writes a proof down durably as well.
const (
	onceFrom = `once AS (
		INSERT INTO replay (slot, key)
		SELECT @replay_slot, @replay_key FROM replay_epoch`
	onceWhere = `
		WHERE accept_from <= @signed_at AND NOT EXISTS (SELECT FROM replay_ahead WHERE key = @replay_key)
			AND NOT EXISTS (SELECT ` + blocksAID + `) AND NOT EXISTS (SELECT ` + blocksHost + `)`
	onceEnd = `
		ON CONFLICT DO NOTHING
		RETURNING key)`
	alsoAhead = `,
	ahead AS (
		INSERT INTO replay_ahead (key, expires_at) SELECT key, @replay_expires FROM once)`
)

// once makes a statement of what follows the table once.
func once(rest string) statement {
	return statement{onceAnd(rest), onceAnd(alsoAhead + rest)}
}

// onceAnd compares the history that was remembered for the signer within the
// statement, so that a rotation, a departure or a block at another process
// counts from its commit on.
func onceAnd(rest string) texts {
	const first = `WITH ` + onceFrom + onceWhere
	const known = `
			AND (SELECT sha256(kel) = @history FROM member JOIN agent USING (aid) WHERE aid = @signer)`
	return texts{compile(first + onceEnd + rest), compile(first + known + onceEnd + rest)}
}

func (s statement) pick(p replay.Proof, now time.Time) named {
	t := s.usual
	if p.Ahead(now) {
		t = s.ahead
	}
	if p.Under == nil {
		return t.bare
	}
	return t.known
}

func onceArgs(p replay.Proof, now time.Time) pgx.NamedArgs {
	args := visitorArgs(p.Visitor(now))
	maps.Copy(args, pgx.NamedArgs{
		"replay_slot": int16(p.Minute() % replaySlots), "replay_key": p.Key,
		"signed_at": p.SignedAt, "replay_expires": p.Expires(), "history": p.Under,
	})
	return args
}

// soon makes a transaction not wait for the disk. The crash that would lose its
// row in the memory empties the memory as well, and accept_from provides for
// that; what is dated further ahead has to be on disk.
const soon = `set_config('synchronous_commit', 'off', true)`

var (
	useSQL      = once(` SELECT FROM once`)
	rememberSQL = statement{once(` SELECT ` + soon + ` FROM once`).usual, useSQL.ahead}
)

// Once runs an effect and uses up the proof in one transaction: a failed effect
// leaves the proof as it was.
func (r *Replay) Once(ctx context.Context, p replay.Proof, effect func(pgx.Tx) error) error {
	counted := false
	err := pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		if err := r.use(ctx, tx, useSQL, p); err != nil {
			return err
		}
		counted = true
		return effect(tx)
	})
	if err != nil && counted {
		r.census.Add(p, -1)
	}
	return err
}

// Remember uses up the proof of a request that changes nothing.
func (r *Replay) Remember(ctx context.Context, p replay.Proof) error {
	return r.use(ctx, r.pool, rememberSQL, p)
}

// querier is a pool or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (r *Replay) use(ctx context.Context, q querier, s statement, p replay.Proof) error {
	return r.using(ctx, q, s, p, func(sql named, args pgx.NamedArgs) (bool, error) {
		tag, err := q.Exec(ctx, sql.sql, sql.bind(args)...)
		return tag.RowsAffected() == 1, err
	})
}

// using is the frame around a statement that uses up a proof: run runs it and
// says whether once had its row.
func (r *Replay) using(ctx context.Context, q querier, s statement, p replay.Proof,
	run func(sql named, args pgx.NamedArgs) (fresh bool, err error)) error {
	for {
		fresh, err := r.try(s, p, run)
		if err != nil || fresh {
			return err
		}
		if p, err = r.again(ctx, q, p); err != nil {
			return err
		}
	}
}

// try is using without the question why once had no row.
func (r *Replay) try(s statement, p replay.Proof, run func(named, pgx.NamedArgs) (fresh bool, err error)) (fresh bool, err error) {
	now := r.now()
	if err := r.census.Admit(p.AID, now); err != nil {
		return false, err
	}
	fresh, err = run(s.pick(p, now), onceArgs(p, now))
	switch {
	case err != nil:
		return false, fmt.Errorf("use up a signed request: %w", err)
	case fresh:
		r.census.Add(p, 1)
	}
	return fresh, nil
}

// again says why a proof was not used up. Where the reason is that the signer
// has another history by now, it is the proof under that one; histories only
// grow, so this comes to an end.
func (r *Replay) again(ctx context.Context, q querier, p replay.Proof) (replay.Proof, error) {
	if err := refusal(q.QueryRow(ctx, blockedSQL, visitorArgs(p.Visitor(r.now())))); err != nil {
		return p, err
	}
	var from *time.Time
	var kel []byte
	err := q.QueryRow(ctx, `
		SELECT (SELECT max(accept_from) FROM replay_epoch),
		       (SELECT kel FROM member JOIN agent USING (aid) WHERE aid = @signer)`,
		pgx.NamedArgs{"signer": p.AID}).Scan(&from, &kel)
	if err != nil {
		return p, fmt.Errorf("ask why a signed request was not used up: %w", err)
	}
	sum := sha256.Sum256(kel)
	switch {
	case p.Under == nil, bytes.Equal(sum[:], p.Under):
		return p, r.refused(p, from)
	case kel == nil:
		return p, replay.UnknownSigner()
	}
	return p.Again(kel)
}

func (r *Replay) refused(p replay.Proof, from *time.Time) error {
	if from == nil {
		select {
		case r.lost <- struct{}{}:
		default:
		}
	}
	switch {
	case from == nil, p.SignedAt.Before(*from) && r.now().Before(*from):
		return errs.New(errs.Unavailable, "replay_memory_restarting",
			"the hub's database has just recovered: sign the request again in a moment").After(replay.Clocks + time.Second)
	case p.SignedAt.Before(*from):
		return errs.New(errs.Unauthorized, "signed_before_restart",
			"the request was signed before the hub's database recovered from a crash: sign it again")
	}
	return errs.New(errs.Unauthorized, "replayed", "this signature was used before: sign every request anew")
}
