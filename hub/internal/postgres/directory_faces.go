package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// facesSQL looks at each agent by its key; joins would leave the planner free to
// hash whole tables.
const facesSQL = `
	SELECT v.aid, coalesce(a.view, l.view), a.view IS NULL AND l.view IS NOT NULL, a.registered_at, s.last_seen, m.first_seen_at,
	       COALESCE(m.rating_sum, 0), COALESCE(m.rating_count, 0)
	FROM unnest(@aids::text[]) WITH ORDINALITY AS v (aid, i)
	LEFT JOIN LATERAL (SELECT view, registered_at FROM agent WHERE agent.aid = v.aid OFFSET 0) AS a ON true
	LEFT JOIN LATERAL (SELECT last_seen FROM agent_seen WHERE agent_seen.aid = v.aid OFFSET 0) AS s ON true
	LEFT JOIN LATERAL (SELECT first_seen_at, rating_sum, rating_count FROM member
		WHERE member.aid = v.aid OFFSET 0) AS m ON true
	LEFT JOIN LATERAL (SELECT view FROM learned WHERE learned.aid = v.aid AND shown OFFSET 0) AS l ON true
	ORDER BY v.i`

// Faces implements directory.Reads.
func (s *Directory) Faces(ctx context.Context, aids []string, most int) ([]directory.Face, error) {
	rows, err := s.pool.Query(ctx, facesSQL, pgx.NamedArgs{"aids": aids})
	first := true
	read, _, err := readUpTo(nil, rows, err, most, func(r pgx.Rows) (directory.Face, int, error) {
		f, size, err := toFace(r)
		if first {
			first, size = false, 0
		}
		return f, size, err
	})
	if err != nil {
		return nil, fmt.Errorf("read agents: %w", err)
	}
	return read, nil
}

func toFace(r pgx.Rows) (f directory.Face, size int, err error) {
	var registered, seen, first *time.Time
	err = r.Scan(&f.AID, &f.View, &f.Elsewhere, &registered, &seen, &first, &f.Member.Rating.Sum, &f.Member.Rating.Count)
	f.RegisteredAt, f.LastSeen, f.Member.FirstSeen = orZero(registered), orZero(seen), orZero(first)
	return f, len(f.View), err
}
