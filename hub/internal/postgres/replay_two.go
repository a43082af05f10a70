package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/replay"
)

// OnceInTwo is Once in two round trips: BEGIN and the use of the proof travel
// with the statements that ask queues, COMMIT with those that effect returns
// when it has read the answers.
func (r *Replay) OnceInTwo(ctx context.Context, p replay.Proof, ask func(*pgx.Batch), effect effect) error {
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer conn.Release()
	return r.using(ctx, conn, useSQL, p, func(sql named, args pgx.NamedArgs) (bool, error) {
		var b pgx.Batch
		b.Queue("BEGIN")
		b.Queue(sql.sql, sql.bind(args)...)
		ask(&b)
		fresh, err := inTwo(ctx, conn, &b, effect)
		return fresh, errors.Join(err, rollback(ctx, conn))
	})
}

// effect reads the answers to what was asked and gives the statements that
// follow from them.
type effect = func(answers pgx.BatchResults) (*pgx.Batch, error)

func inTwo(ctx context.Context, conn *pgxpool.Conn, first *pgx.Batch, then effect) (fresh bool, err error) {
	last, err := follow(conn.SendBatch(ctx, first), then)
	if err != nil || last == nil {
		return false, err
	}
	last.Queue("COMMIT")
	err = conn.SendBatch(ctx, last).Close()
	return err == nil, err
}

// follow gives nothing where the proof is no good.
func follow(answers pgx.BatchResults, then effect) (last *pgx.Batch, err error) {
	defer func() { err = errors.Join(err, answers.Close()) }()
	if _, err = answers.Exec(); err != nil { // BEGIN
		return nil, err
	}
	tag, err := answers.Exec()
	if err != nil || tag.RowsAffected() == 0 {
		return nil, err
	}
	return then(answers)
}

// rollback ends a transaction that did not come to its COMMIT, so that the
// connection can be used on.
func rollback(ctx context.Context, conn *pgxpool.Conn) error {
	pg := conn.Conn().PgConn()
	if pg.IsClosed() || pg.TxStatus() == 'I' {
		return nil
	}
	_, err := conn.Exec(ctx, "ROLLBACK")
	return err
}
