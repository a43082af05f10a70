package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/learned"
)

// Learn implements learned.Store. Two round trips hold the locks.
func (s *Learned) Learn(ctx context.Context, j learned.Job, aids []string, now time.Time, decide func(map[string]learned.Record, learned.Room) learned.Lesson) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := hold(ctx, tx, j, now); err != nil {
			return err
		}
		room, err := s.room(ctx, tx, j)
		if err != nil {
			return err
		}
		recs, err := lockRecords(ctx, tx, j, aids)
		if err != nil {
			return err
		}
		b, err := s.lesson(j, recs, decide(recs, room), now)
		if err != nil {
			return err
		}
		return tx.SendBatch(ctx, b).Close()
	})
	return found(err, nil, "learn from a peer")
}

// lockRecords locks AIDs and reads what stands on record of them then.
func lockRecords(ctx context.Context, tx pgx.Tx, j learned.Job, aids []string) (map[string]learned.Record, error) {
	args := jobArgs(j, time.Time{})
	args["aids"] = aids
	if _, err := tx.Exec(ctx, lockAIDsSQL, args); err != nil {
		return nil, fmt.Errorf("lock agents: %w", err)
	}
	return toRecords(tx.Query(ctx, recordsSQL, args))
}

// room locks the count of what a peer taught, and tells what is left of its quota.
func (s *Learned) room(ctx context.Context, tx pgx.Tx, j learned.Job) (r learned.Room, err error) {
	err = tx.QueryRow(ctx, `
		SELECT @agents - agents, @marks - marks, @bytes - bytes FROM teacher WHERE peer_id = @peer FOR UPDATE`,
		pgx.NamedArgs{"peer": j.Peer, "agents": s.quota.Agents, "marks": s.quota.Marks, "bytes": s.quota.Bytes}).
		Scan(&r.Agents, &r.Marks, &r.Bytes)
	return r, found(err, nil, "read what a peer taught")
}

// lesson is what a page writes.
func (s *Learned) lesson(j learned.Job, recs map[string]learned.Record, l learned.Lesson, now time.Time) (*pgx.Batch, error) {
	var b pgx.Batch
	args := jobArgs(j, now)
	args["told"], args["drop"], args["settled"] = l.Told, l.Drop, l.Settled
	if len(l.Told) > 0 {
		b.Queue(`UPDATE learned SET told = @pass WHERE aid = ANY (@told) AND peer_id = @peer AND stream = @stream AND told <> @pass`, args)
	}
	changed := append([]string(nil), l.Drop...)
	for _, t := range l.Take {
		changed = append(changed, t.AID)
	}
	var failed error
	queueChange(&b, changed, func() {
		b.Queue(forgetting(`aid = ANY (@drop) AND peer_id = @peer`), args)
		failed = queueTaken(&b, j, recs, l.Take, now)
	})
	s.queueHeld(&b, l, args)
	queueRead(&b, l.ReadTo, l.Refused, l.Refusal, args)
	return &b, failed
}

// queueRead moves a reading on.
func queueRead(b *pgx.Batch, to int64, refused int, refusal string, args pgx.NamedArgs) {
	args["read_to"], args["refused"], args["refusal"] = to, refused, printed(refusal)
	b.Queue(`
		UPDATE pull SET read_to = @read_to, refused = refused + @refused,
			refusal = CASE WHEN @refused > 0 THEN @refusal ELSE refusal END,
			refused_at = CASE WHEN @refused > 0 THEN @now ELSE refused_at END
		WHERE peer_id = @peer AND stream = @stream`, args)
	b.Queue(heardSQL, args)
}

// printed bounds a sentence that may repeat a peer's words.
func printed(s string) string {
	const most = 300
	return string([]rune(s)[:min(len([]rune(s)), most)])
}

// queueHeld notes what is held, as far as its peer has room for that, and what is
// held no longer.
func (s *Learned) queueHeld(b *pgx.Batch, l learned.Lesson, args pgx.NamedArgs) {
	if len(l.Settled) > 0 {
		b.Queue(`DELETE FROM pull_held WHERE peer_id = @peer AND stream = @stream AND aid = ANY (@settled)`, args)
	}
	if len(l.Hold) == 0 {
		return
	}
	var aids, reasons []string
	var seqs []int64
	var retries []*time.Time
	for _, h := range l.Hold {
		aids, seqs, reasons, retries = append(aids, h.AID), append(seqs, h.FedSeq), append(reasons, h.Reason), append(retries, orNull(h.Retry))
	}
	args["aids"], args["seqs"], args["reasons"], args["retries"], args["most"] = aids, seqs, reasons, retries, s.quota.Agents
	b.Queue(`
		INSERT INTO pull_held (peer_id, stream, aid, fed_seq, reason, retry_at, told)
		SELECT @peer, @stream, h.*, @pass
		FROM unnest(@aids::text[], @seqs::bigint[], @reasons::text[], @retries::timestamptz[]) AS h
		WHERE (SELECT count(*) FROM pull_held WHERE peer_id = @peer) < @most
		ON CONFLICT (peer_id, stream, aid) DO UPDATE SET
			fed_seq = EXCLUDED.fed_seq, reason = EXCLUDED.reason, retry_at = EXCLUDED.retry_at, told = EXCLUDED.told`, args)
}

// forgetting deletes rows of one peer and takes them off what is counted.
func forgetting(which string) string {
	return `
	WITH gone AS (DELETE FROM learned WHERE ` + which + ` RETURNING size, shown),
	moved AS (SELECT FROM gone WHERE shown),
	counted AS (` + fmt.Sprintf(countElsewhere, "-") + `)
	UPDATE teacher SET agents = agents - n, bytes = bytes - sizes
	FROM (SELECT count(*) AS n, sum(size) AS sizes FROM gone) AS g WHERE peer_id = @peer AND n > 0`
}

// takenSQL writes agents, of which each counts once for its peer. What was taught
// before keeps its place in lists.
const takenSQL = `
	WITH taken AS (
		INSERT INTO learned (aid, peer_id, stream, entry, card, keyset, home, fed_seq, seq, name, summary, caps, tags,
			search, card_search, view, listed, rating_sum, rating_count, rank_rating, rank_reviews, taught_at, verified_at, told, size)
		SELECT t.aid, @peer, @stream, entry, card, keyset, home, fed_seq, seq, name, summary,
			ARRAY(SELECT jsonb_array_elements_text(caps)), ARRAY(SELECT jsonb_array_elements_text(tags)),
			search, card_search, view, listed, sum, count, rating, reviews, taught_at, @now, @pass, size
		FROM unnest(@aids::text[], @entries::bytea[], @cards::bytea[], @keysets::bytea[], @homes::text[], @fed_seqs::bigint[],
			@seqs::bigint[], @names::text[], @summaries::text[], @caps::jsonb[], @tags::jsonb[], @searches::text[],
			@card_searches::text[], @views::bytea[], @listed::boolean[], @sums::bigint[], @counts::bigint[], @ratings::int[], @reviews::int[], @taught::timestamptz[], @sizes::int[])
			AS t (aid, entry, card, keyset, home, fed_seq, seq, name, summary, caps, tags, search,
			card_search, view, listed, sum, count, rating, reviews, taught_at, size)
		ON CONFLICT (aid, peer_id, stream) DO UPDATE SET
			entry = EXCLUDED.entry, card = EXCLUDED.card, keyset = EXCLUDED.keyset, home = EXCLUDED.home,
			fed_seq = EXCLUDED.fed_seq, seq = EXCLUDED.seq, name = EXCLUDED.name, summary = EXCLUDED.summary,
			caps = EXCLUDED.caps, tags = EXCLUDED.tags, search = EXCLUDED.search,
			card_search = EXCLUDED.card_search, view = EXCLUDED.view, listed = EXCLUDED.listed,
			rating_sum = EXCLUDED.rating_sum, rating_count = EXCLUDED.rating_count, rank_rating = EXCLUDED.rank_rating, rank_reviews = EXCLUDED.rank_reviews,
			verified_at = EXCLUDED.verified_at, told = EXCLUDED.told, size = EXCLUDED.size, stale = false),
	known AS (
		INSERT INTO known_elsewhere (aid, kel, card_seq, card_hash, adp_seq, taught_by, since)
		SELECT k.*, @peer, @now
		FROM unnest(@aids::text[], @kels::bytea[], @card_seqs::bigint[], @card_hashes::bytea[], @adp_seqs::bigint[]) AS k
		ON CONFLICT (aid) DO UPDATE SET kel = EXCLUDED.kel,
			card_seq = COALESCE(EXCLUDED.card_seq, known_elsewhere.card_seq),
			card_hash = COALESCE(EXCLUDED.card_hash, known_elsewhere.card_hash),
			adp_seq = COALESCE(EXCLUDED.adp_seq, known_elsewhere.adp_seq))
	UPDATE teacher SET agents = agents + @more_agents, marks = marks + @more_marks, bytes = bytes + @more_bytes
	WHERE peer_id = @peer`

func queueTaken(b *pgx.Batch, j learned.Job, recs map[string]learned.Record, list []learned.Taken, now time.Time) error {
	if len(list) == 0 {
		return nil
	}
	c, err := toColumns(list)
	if err != nil {
		return err
	}
	args := c.args(jobArgs(j, now))
	grown := count(args, recs, list)
	if len(grown) > 0 {
		args["grown"] = grown
		b.Queue(`UPDATE learned SET stale = true WHERE aid = ANY (@grown) AND (peer_id, stream) <> (@peer, @stream)`, args)
	}
	b.Queue(takenSQL, args)
	return nil
}

// count adds up what the peer will have taught more, and gives whose history has
// grown.
func count(args pgx.NamedArgs, recs map[string]learned.Record, list []learned.Taken) (grown []string) {
	var agents, marks, bytes int64
	for _, t := range list {
		rec := recs[t.AID]
		bytes += int64(t.Size())
		if rec.Mine != nil {
			bytes -= int64(rec.Mine.Size)
		} else {
			agents++
		}
		marks += t.Marks(rec)
		if t.Grown && len(rec.KEL) > 0 {
			grown = append(grown, t.AID)
		}
	}
	args["more_agents"], args["more_marks"], args["more_bytes"] = agents, marks, bytes
	return grown
}
