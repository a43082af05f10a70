package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
)

// ofShown are offers that were signed lately, of agents that lists show.
const ofShown = ` FROM gateway_offer o WHERE (SELECT shown FROM agent a WHERE a.aid = o.aid) AND at >= @since`

const (
	shelfSQL = `
	SELECT aid, capability, total
	FROM (SELECT aid, capability, row_number() OVER (ORDER BY aid, capability) AS n, count(*) OVER () AS total` + ofShown + `) k
	WHERE (n - 1) % @stretch = 0 ORDER BY n`
	offersSQL = `
	SELECT aid, capability, price, at` + ofShown + ` AND (aid, capability) >= (@aid, @cap)
	ORDER BY aid, capability OFFSET @skip LIMIT @limit`
	offersOfSQL = `SELECT aid, capability, price, at` + ofShown + ` AND aid = @aid ORDER BY capability`
)

// Shelf implements ledger.Selling.
func (s *Ledger) Shelf(ctx context.Context, since time.Time, stretch int) (shelf ledger.Shelf, err error) {
	rows, err := s.pool.Query(ctx, shelfSQL, pgx.NamedArgs{"since": since, "stretch": stretch})
	if err != nil {
		return shelf, fmt.Errorf("count offers: %w", err)
	}
	var m ledger.Mark
	_, err = pgx.ForEachRow(rows, []any{&m.AID, &m.Capability, &shelf.Total}, func() error {
		shelf.Marks = append(shelf.Marks, m)
		return nil
	})
	return shelf, found(err, nil, "count offers")
}

// Offers implements ledger.Selling.
func (s *Ledger) Offers(ctx context.Context, since time.Time, from ledger.Mark, skip, limit int) ([]ledger.Listed, error) {
	return s.offers(ctx, offersSQL, pgx.NamedArgs{"since": since, "aid": from.AID, "cap": from.Capability, "skip": skip, "limit": limit})
}

// OffersOf implements ledger.Selling.
func (s *Ledger) OffersOf(ctx context.Context, since time.Time, seller string) ([]ledger.Listed, error) {
	return s.offers(ctx, offersOfSQL, pgx.NamedArgs{"since": since, "aid": seller})
}

func (s *Ledger) offers(ctx context.Context, sql string, args pgx.NamedArgs) ([]ledger.Listed, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, fmt.Errorf("read offers: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Listed])
}
