package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/learned"
)

// recordsSQL reads what stands on record of AIDs, each by its key.
const recordsSQL = `
	SELECT v.aid, EXISTS (SELECT FROM agent a WHERE a.aid = v.aid),
	       m.kel, m.card_seq, m.card_hash, m.adp_seq, coalesce(m.rating_sum, 0), coalesce(m.rating_count, 0),
	       k.kel, k.card_seq, k.card_hash, k.adp_seq, coalesce(k.rating_sum, 0), coalesce(k.rating_count, 0),
	       CASE WHEN l.stale THEN '' ELSE l.entry END, l.size, l.taught_at,
	       EXISTS (SELECT FROM learned o WHERE o.aid = v.aid AND o.peer_id = @peer AND o.stream <> @stream)
	FROM unnest(@aids::text[]) AS v (aid)
	LEFT JOIN LATERAL (SELECT * FROM member WHERE member.aid = v.aid OFFSET 0) AS m ON true
	LEFT JOIN LATERAL (SELECT * FROM known_elsewhere k WHERE k.aid = v.aid OFFSET 0) AS k ON true
	LEFT JOIN LATERAL (SELECT * FROM learned l
		WHERE l.aid = v.aid AND l.peer_id = @peer AND l.stream = @stream OFFSET 0) AS l ON true`

// remembered is what a member row, or its counterpart for agents of other hubs,
// says of an AID.
type remembered struct {
	kel        []byte
	seq, adp   *int64
	hash       []byte
	sum, count int64
}

func (m *remembered) columns() []any {
	return []any{&m.kel, &m.seq, &m.hash, &m.adp, &m.sum, &m.count}
}

func (m remembered) add(rec *learned.Record) {
	if len(m.kel) > len(rec.KEL) {
		rec.KEL = m.kel // of two on record one extends the other
	}
	if mark := toMark(m.seq, m.hash); mark != nil {
		rec.Marks = append(rec.Marks, *mark)
	}
	if m.adp != nil {
		rec.ADPSeqs = append(rec.ADPSeqs, *m.adp)
	}
	rec.Rating.Sum, rec.Rating.Count = rec.Rating.Sum+m.sum, rec.Rating.Count+m.count
}

func toRecords(rows pgx.Rows, err error) (map[string]learned.Record, error) {
	if err != nil {
		return nil, fmt.Errorf("read what is known of agents: %w", err)
	}
	out := map[string]learned.Record{}
	var aid string
	var rec learned.Record
	var here, there remembered
	var entry []byte
	var size *int
	var taught *time.Time
	to := append([]any{&aid, &rec.Registered}, append(here.columns(), there.columns()...)...)
	_, err = pgx.ForEachRow(rows, append(to, &entry, &size, &taught, &rec.Sister), func() error {
		r := learned.Record{Registered: rec.Registered, Sister: rec.Sister, Known: there.kel != nil}
		here.add(&r)
		there.add(&r)
		if size != nil {
			r.Mine = &learned.Row{Size: *size, TaughtAt: orZero(taught)}
			copy(r.Mine.Entry[:], entry)
		}
		out[aid] = r
		return nil
	})
	return out, err
}

// Look implements learned.Store.
func (s *Learned) Look(ctx context.Context, j learned.Job, aids []string) (map[string]learned.Record, error) {
	args := jobArgs(j, time.Time{})
	args["aids"] = aids
	return toRecords(s.pool.Query(ctx, recordsSQL, args))
}

// Histories implements learned.Store.
func (s *Learned) Histories(ctx context.Context, aids []string) (map[string][]byte, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT DISTINCT ON (aid) aid, kel FROM (
			SELECT aid, kel FROM member WHERE aid = ANY (@aids) UNION ALL
			SELECT aid, kel FROM known_elsewhere WHERE aid = ANY (@aids)) AS k
		ORDER BY aid, octet_length(kel) DESC`, pgx.NamedArgs{"aids": aids})
	if err != nil {
		return nil, fmt.Errorf("read key histories: %w", err)
	}
	out := map[string][]byte{}
	var aid string
	var kel []byte
	_, err = pgx.ForEachRow(rows, []any{&aid, &kel}, func() error { out[aid] = kel; return nil })
	return out, err
}

// Due implements learned.Store.
func (s *Learned) Due(ctx context.Context, j learned.Job, now time.Time) ([]learned.Held, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT aid, fed_seq, reason FROM pull_held h
		WHERE peer_id = @peer AND stream = @stream AND (retry_at <= @now OR
			(retry_at IS NULL AND NOT EXISTS (SELECT FROM agent a WHERE a.aid = h.aid)))
		ORDER BY fed_seq LIMIT 100`, jobArgs(j, now))
	if err != nil {
		return nil, fmt.Errorf("read which entries are held: %w", err)
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (h learned.Held, err error) {
		err = r.Scan(&h.AID, &h.FedSeq, &h.Reason)
		return h, err
	})
}
