package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/shared/errs"
)

// Learned keeps what peers taught (learned.Store). Whatever decides whether an AID
// stands in lists as one of another hub locks the AID itself, before any row: of
// many there is none yet.
type Learned struct {
	pool  *pgxpool.Pool
	quota learned.Room
}

// NewLearned makes the store. quota is what one peer may teach.
func NewLearned(pool *pgxpool.Pool, quota learned.Room) *Learned {
	return &Learned{pool: pool, quota: quota}
}

// lockAIDsSQL locks AIDs in one order; lockAIDSQL one, in a FROM.
const (
	aidKeys     = `hashtextextended(aid, 63)`
	lockAIDSQL  = `pg_advisory_xact_lock(hashtextextended(@aid, 63))`
	lockAIDsSQL = `
	SELECT count(pg_advisory_xact_lock(key))
	FROM (SELECT DISTINCT ` + aidKeys + ` AS key FROM unnest(@aids::text[]) AS t (aid) ORDER BY 1) AS k`
)

// lease is how long a reading has until its next page.
const lease = time.Minute

// Enroll implements learned.Store. The rows are locked, so that a peer that is being
// removed is waited for and then passed.
func (s *Learned) Enroll(ctx context.Context, peers []int64, now time.Time) error {
	var b pgx.Batch
	args := pgx.NamedArgs{"peers": peers, "now": now}
	b.Queue(`
		INSERT INTO teacher (peer_id, heard_at) SELECT id, @now FROM peer WHERE id = ANY (@peers) FOR KEY SHARE
		ON CONFLICT DO NOTHING`, args)
	b.Queue(`
		INSERT INTO pull (peer_id, stream, next_at, leased_until)
		SELECT peer_id, stream, @now, @now FROM teacher, unnest('{cards,adp-cards,reviews}'::text[]) AS s (stream)
		WHERE peer_id = ANY (@peers)
		ON CONFLICT DO NOTHING`, args)
	return found(s.pool.SendBatch(ctx, &b).Close(), nil, "begin to learn from a peer")
}

// tooFar is further than any reading or lease is put off: what lies behind it was
// set by a clock that ran ahead, and holds nothing up.
const tooFar = 10 * time.Minute

// leaseSQL takes the streams that have waited longest. Rows that another process
// is looking at are its affair.
const leaseSQL = `
	WITH due AS MATERIALIZED (
		SELECT DISTINCT ON (peer_id) peer_id, stream, next_at FROM pull p
		WHERE peer_id = ANY (@peers) AND (next_at <= @now OR next_at > @far) AND NOT EXISTS (
			SELECT FROM pull o WHERE o.peer_id = p.peer_id AND o.leased_until > @now AND o.leased_until <= @far)
		ORDER BY peer_id, next_at, stream = 'cards' DESC),
	mine AS MATERIALIZED (
		SELECT p.peer_id, p.stream FROM pull p, (SELECT * FROM due ORDER BY next_at LIMIT @n) AS d
		WHERE p.peer_id = d.peer_id AND p.stream = d.stream AND (p.leased_until <= @now OR p.leased_until > @far)
		FOR UPDATE OF p SKIP LOCKED)
	UPDATE pull p SET leased_by = @lease || p.peer_id, leased_until = @until
	FROM mine WHERE p.peer_id = mine.peer_id AND p.stream = mine.stream
	RETURNING p.peer_id, p.stream, p.leased_by, p.read_to, p.round, p.calm, p.pass, p.passing, p.failures`

// Lease implements learned.Store.
func (s *Learned) Lease(ctx context.Context, peers []int64, n int, now time.Time) ([]learned.Job, error) {
	rows, err := s.pool.Query(ctx, leaseSQL, pgx.NamedArgs{
		"peers": peers, "n": n, "now": now, "far": now.Add(tooFar), "until": now.Add(lease), "lease": rand.Text() + " "})
	if err != nil {
		return nil, fmt.Errorf("lease the reading of peers: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[learned.Job])
}

// hold makes sure of a lease, for the transaction and for the next page.
func hold(ctx context.Context, tx pgx.Tx, j learned.Job, now time.Time) error {
	tag, err := tx.Exec(ctx, `
		UPDATE pull SET leased_until = @until WHERE peer_id = @peer AND stream = @stream AND leased_by = @lease`, jobArgs(j, now))
	if err == nil && tag.RowsAffected() == 0 {
		return errs.New(errs.Conflict, "lease_lost", "another process reads the stream by now")
	}
	return found(err, nil, "hold a lease")
}

func jobArgs(j learned.Job, now time.Time) pgx.NamedArgs {
	return pgx.NamedArgs{"peer": j.Peer, "stream": j.Stream, "lease": j.Lease, "pass": j.Pass,
		"now": now, "until": now.Add(lease)}
}

// heardSQL notes that a peer answered; a reading that wrote nothing would
// otherwise write two rows each time.
const heardSQL = `
	UPDATE teacher SET heard_at = @now WHERE peer_id = @peer AND heard_at < @now::timestamptz - interval '1 minute'`

// Release implements learned.Store.
func (s *Learned) Release(ctx context.Context, j learned.Job, o learned.Outcome, now time.Time) error {
	args := jobArgs(j, now)
	for name, v := range map[string]any{"next": o.Next, "failure": o.Failure, "end": o.End, "again": o.Again, "news": o.News} {
		args[name] = v
	}
	tag, err := s.pool.Exec(ctx, `
		UPDATE pull SET leased_by = '', leased_until = @now, next_at = @next,
			failure = @failure, failures = CASE WHEN @failure = '' THEN 0 ELSE failures + 1 END,
			round = round + @end::boolean::int,
			calm = CASE WHEN @news THEN 0 ELSE calm + @end::boolean::int END,
			passing = @again OR (passing AND NOT @end), pass = pass + @again::boolean::int,
			read_to = CASE WHEN @again THEN 0 ELSE read_to END,
			last_ok_at = CASE WHEN @end THEN @now ELSE last_ok_at END
		WHERE peer_id = @peer AND stream = @stream AND leased_by = @lease`, args)
	if err != nil || tag.RowsAffected() == 0 || !o.End {
		return found(err, nil, "end a lease")
	}
	_, err = s.pool.Exec(ctx, heardSQL, args)
	return found(err, nil, "note that a peer was heard of")
}

// Teachers implements learned.Store.
func (s *Learned) Teachers(ctx context.Context) ([]learned.Teacher, error) {
	rows, err := s.pool.Query(ctx, `SELECT peer_id, listed, tour IS NOT NULL, heard_at FROM teacher ORDER BY peer_id`)
	if err != nil {
		return nil, fmt.Errorf("read who teaches: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[learned.Teacher])
}
