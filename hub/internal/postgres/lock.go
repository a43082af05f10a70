package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Keys of the locks that make background work run once, whatever the number of
// processes. They share one space with everything else in the database: each
// starts with "anet".
const (
	lockReplay int64 = 0x616e6574_00000001 + iota
	lockExpiry
	lockTour
	lockBlocks
	lockFeed
	lockForwards
	lockTeaching
)

// exclusively runs f in a transaction unless another process is at the same
// work. The lock ends with the transaction, so it works behind a pooler too.
func exclusively(ctx context.Context, pool *pgxpool.Pool, key int64, f func(pgx.Tx) error) (ran bool, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, key).Scan(&ran); err != nil || !ran {
			return err
		}
		return f(tx)
	})
	return ran, err
}
