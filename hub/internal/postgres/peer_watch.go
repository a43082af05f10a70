package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/peers"
)

// Records implements peers.Records. It counts nothing that grows with what peers
// teach: every process asks it again and again.
func (s *Peers) Records(ctx context.Context) (map[int64]peers.Record, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT p.id, p.added_at, p.last_success_at, coalesce(t.agents, 0), u.stream, u.last_ok_at,
		       (SELECT count(*) FROM pull_held h WHERE h.peer_id = u.peer_id AND h.stream = u.stream)
		FROM peer p LEFT JOIN teacher t ON t.peer_id = p.id LEFT JOIN pull u ON u.peer_id = p.id
		ORDER BY p.id, u.stream`)
	if err != nil {
		return nil, fmt.Errorf("read how peers do: %w", err)
	}
	all := map[int64]peers.Record{}
	var id int64
	var r peers.Record
	var success, read *time.Time
	var stream *string
	var held int64
	_, err = pgx.ForEachRow(rows, []any{&id, &r.AddedAt, &success, &r.Agents, &stream, &read, &held}, func() error {
		r.LastSuccess, r.Streams = orZero(success), all[id].Streams
		if stream != nil {
			r.Streams = append(r.Streams, peers.Reading{Stream: peers.Stream(*stream), LastOK: orZero(read), Held: held})
		}
		all[id] = r
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read how peers do: %w", err)
	}
	return all, nil
}
