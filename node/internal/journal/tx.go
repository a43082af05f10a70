package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Tx is one transaction. Its methods stand beside what they keep.
type Tx struct {
	ctx context.Context
	tx  *sql.Tx
	*statements
	j       *Journal
	now     time.Time
	version int64
	touched bool // a task
	queued  bool // an outgoing message
}

// Now is the one time of the transaction.
func (t *Tx) Now() time.Time { return t.now }

func (t *Tx) exec(query string, args ...any) error {
	_, err := t.affect(query, args...)
	return err
}

func (t *Tx) affect(query string, args ...any) (int64, error) {
	s, err := t.within(t.ctx, t.tx, query)
	if err != nil {
		return 0, fmt.Errorf("write the journal: %w", err)
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("write the journal: %w", err)
	}
	return r.RowsAffected()
}

// one scans a single row into dest; false when there is none.
func (t *Tx) one(query string, args []any, dest ...any) (bool, error) {
	s, err := t.within(t.ctx, t.tx, query)
	if err == nil {
		err = s.QueryRowContext(t.ctx, args...).Scan(dest...)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the journal: %w", err)
	}
	return true, nil
}

// scanner is a row, single or among many.
type scanner interface{ Scan(dest ...any) error }

// collect reads every row of a query.
func collect[T any](t *Tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	s, err := t.within(t.ctx, t.tx, query)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return all, nil
}

// ms and at are the two directions of a time in a column; zero is zero.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
