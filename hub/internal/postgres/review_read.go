package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/reviews"
)

const (
	reviewsOfSQL = `
		SELECT seq, receipt, review FROM review
		WHERE subject = @aid AND -seq > -@before::bigint ORDER BY -seq LIMIT @n`
	edgesSQL = `
		SELECT seq, reviewer, subject, rating FROM review WHERE seq > @after ORDER BY seq LIMIT @n`
)

// Of implements reviews.Store.
func (s *Reviews) Of(ctx context.Context, aid string, before int64, n int) ([]reviews.Kept, error) {
	rows, err := s.pool.Query(ctx, reviewsOfSQL, pgx.NamedArgs{"aid": aid, "before": before, "n": n})
	if err != nil {
		return nil, fmt.Errorf("read reviews: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[reviews.Kept])
}

// Edges implements reviews.Store.
func (s *Reviews) Edges(ctx context.Context, after int64, n int) ([]reviews.Edge, error) {
	rows, err := s.pool.Query(ctx, edgesSQL, pgx.NamedArgs{"after": after, "n": n})
	if err != nil {
		return nil, fmt.Errorf("read edges: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[reviews.Edge])
}

// Rating implements reviews.Store.
func (s *Reviews) Rating(ctx context.Context, aid string) (r directory.Rating, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT rating_sum, rating_count FROM member WHERE aid = @aid
		UNION ALL
		SELECT rating_sum, rating_count FROM known_elsewhere
		WHERE aid = @aid AND NOT EXISTS (SELECT FROM member WHERE aid = @aid)`,
		pgx.NamedArgs{"aid": aid}).Scan(&r.Sum, &r.Count)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, nil
	}
	return r, found(err, nil, "read a rating")
}

// Total implements reviews.Store.
func (s *Reviews) Total(ctx context.Context) (r directory.Rating, err error) {
	err = s.pool.QueryRow(ctx, `SELECT rating_sum, reviews FROM review_total`).Scan(&r.Sum, &r.Count)
	return r, found(err, nil, "count reviews")
}
