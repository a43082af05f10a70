package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// progressSQL tells how far each stream of a peer was read. Behind an entry that is
// held it was read on; the stream counts as read up to there.
const progressSQL = `
	SELECT p.stream, coalesce(h.fed_seq - 1, p.read_to), coalesce(h.fed_seq, 0), coalesce(h.aid, ''), coalesce(h.reason, ''),
	       p.last_ok_at, p.next_at, p.failure, p.refused, p.refusal, p.refused_at,
	       CASE p.stream WHEN 'reviews' THEN coalesce((SELECT reviews FROM teacher t WHERE t.peer_id = p.peer_id), 0)
	            ELSE (SELECT count(*) FROM learned l WHERE l.peer_id = p.peer_id AND l.stream = p.stream) END,
	       CASE WHEN p.passing OR p.failure <> '' THEN -1
	            ELSE (SELECT count(*) FROM pull_held w WHERE w.peer_id = p.peer_id AND w.stream = p.stream) END
	FROM pull p LEFT JOIN LATERAL (
		SELECT fed_seq, aid, reason FROM pull_held h
		WHERE h.peer_id = p.peer_id AND h.stream = p.stream ORDER BY fed_seq LIMIT 1) AS h ON true
	WHERE p.peer_id = @peer ORDER BY p.stream`

// Progress implements peers.Entries.
func (s *Peers) Progress(ctx context.Context, id int64) ([]peers.Progress, error) {
	rows, err := s.pool.Query(ctx, progressSQL, pgx.NamedArgs{"peer": id})
	if err != nil {
		return nil, fmt.Errorf("read how far a peer was read: %w", err)
	}
	return pgx.CollectRows(rows, toProgress)
}

func toProgress(r pgx.CollectableRow) (p peers.Progress, err error) {
	var ok, refused *time.Time
	var cursor, held int64
	err = r.Scan(&p.Stream, &cursor, &held, &p.HeldAID, &p.HeldReason, &ok, &p.NextAt,
		&p.Failure, &p.Refused, &p.Refusal, &refused, &p.Entries, &p.Lag)
	p.Cursor, p.HeldSeq, p.LastOK, p.RefusedAt = uint64(max(0, cursor)), uint64(max(0, held)), orZero(ok), orZero(refused)
	return p, err
}
