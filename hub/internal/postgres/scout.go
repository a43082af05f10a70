package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/learned"
)

// Here knows the agents of this hub (learned.Here).
type Here struct{ pool *pgxpool.Pool }

// NewHere makes the store.
func NewHere(pool *pgxpool.Pool) *Here { return &Here{pool: pool} }

// Locals implements learned.Here. It reads all agents, for an operator who asks.
func (s *Here) Locals(ctx context.Context, aids, names []string) ([]learned.Local, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT aid, name FROM (SELECT aid, coalesce(nullif(card_name, ''), name) AS name FROM agent) AS a
		WHERE aid = ANY (@aids) OR lower(name) = ANY (@names) ORDER BY aid DESC`, pgx.NamedArgs{"aids": aids, "names": names})
	if err != nil {
		return nil, fmt.Errorf("look for agents of the same name: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[learned.Local])
}

// Exposure implements learned.Here.
func (s *Here) Exposure(ctx context.Context) (e learned.Exposure, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE `+tellable+`), count(*) FROM agent a`).Scan(&e.Federated, &e.Registered)
	return e, found(err, nil, "count the agents")
}
