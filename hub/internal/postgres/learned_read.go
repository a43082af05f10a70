package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
)

// shownElsewhere holds for rows l of an AID that lists show as one of another hub,
// by whatever row.
const shownElsewhere = `EXISTS (SELECT FROM learned s WHERE s.aid = l.aid AND s.shown)`

// elsewhereColumns are what toElsewhere reads.
const elsewhereColumns = `l.aid, l.name, l.caps, l.stream = 'adp-cards', l.summary, l.home, l.taught_at, l.rating_sum, l.rating_count`

// toElsewhere reads elsewhereColumns, and more behind them.
func toElsewhere(r pgx.Row, more ...any) (e directory.Elsewhere, err error) {
	err = r.Scan(append([]any{&e.AID, &e.Card.Name, &e.Card.Skills, &e.Older, &e.Summary, &e.Home, &e.TaughtAt,
		&e.Rating.Sum, &e.Rating.Count}, more...)...)
	return e, err
}

// Elsewhere implements directory.Reads.
func (s *Directory) Elsewhere(ctx context.Context, aid string) (directory.Elsewhere, error) {
	e, err := toElsewhere(s.pool.QueryRow(ctx, `SELECT `+elsewhereColumns+` FROM learned l WHERE l.aid = @aid AND l.shown`,
		pgx.NamedArgs{"aid": aid}))
	return e, found(err, errAgentUnknown(), "read an agent of another hub")
}

// KnownElsewhere implements directory.Reads.
func (s *Directory) KnownElsewhere(ctx context.Context, aid string) (kel []byte, err error) {
	err = s.pool.QueryRow(ctx, `SELECT kel FROM known_elsewhere WHERE aid = @aid`, pgx.NamedArgs{"aid": aid}).Scan(&kel)
	return kel, found(err, errAgentUnknown(), "read a key history")
}

// TaughtKeys implements directory.Reads: with network cards before with older ones
// (wire 2, I.6). Who is in no list is unknown to senders as well.
func (s *Directory) TaughtKeys(ctx context.Context, aid string) (keysets [][]byte, kel []byte, err error) {
	rows, err := s.pool.Query(ctx, `
		SELECT l.keyset, (SELECT kel FROM known_elsewhere k WHERE k.aid = l.aid) FROM learned l
		WHERE l.aid = @aid AND l.keyset IS NOT NULL AND NOT l.stale AND `+shownElsewhere+`
		ORDER BY l.stream = 'cards' DESC, l.shown DESC, l.seq DESC, l.taught_at`, pgx.NamedArgs{"aid": aid})
	if err != nil {
		return nil, nil, fmt.Errorf("read key sets of another hub: %w", err)
	}
	var keyset []byte
	_, err = pgx.ForEachRow(rows, []any{&keyset, &kel}, func() error { keysets = append(keysets, keyset); return nil })
	return keysets, kel, err
}

// Taught implements directory.Reads.
func (s *Directory) Taught(ctx context.Context, aid string) ([]directory.Taught, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT name, shown, listed, stale, reason FROM (
			SELECT p.name, l.shown, t.listed, l.stale, '' AS reason, p.position, p.id, l.stream FROM learned l
			JOIN teacher t ON t.peer_id = l.peer_id JOIN peer p ON p.id = l.peer_id
			WHERE l.aid = @aid
			UNION ALL
			SELECT p.name, false, t.listed, false, h.reason, p.position, p.id, h.stream FROM teacher t
			JOIN peer p ON p.id = t.peer_id
			JOIN pull_held h ON h.peer_id = t.peer_id AND h.stream IN ('cards', 'adp-cards') AND h.aid = @aid) AS told
		ORDER BY reason <> '', position, id, stream`, pgx.NamedArgs{"aid": aid})
	if err != nil {
		return nil, fmt.Errorf("read who teaches an agent: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[directory.Taught])
}
