package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/audit"
)

// Audit keeps what operators did.
type Audit struct{ pool *pgxpool.Pool }

// NewAudit makes the store.
func NewAudit(pool *pgxpool.Pool) *Audit { return &Audit{pool: pool} }

// acting runs the effect of an operator's act and writes the act down, all or
// nothing.
func acting(ctx context.Context, pool *pgxpool.Pool, act audit.Act, effect func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := effect(tx); err != nil {
			return err
		}
		return note(ctx, tx, act)
	})
}

func note(ctx context.Context, tx pgx.Tx, act audit.Act) error {
	detail := []byte("{}")
	if act.Detail != nil {
		var err error
		if detail, err = json.Marshal(act.Detail); err != nil {
			return fmt.Errorf("write down an act: %w", err)
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO audit (at, who, how, what, target, why, detail)
		VALUES (@at, @who, @how, @what, @target, @why, @detail)`,
		pgx.NamedArgs{"at": act.At, "who": act.Who, "how": act.How, "what": act.What,
			"target": act.Target, "why": act.Why, "detail": detail})
	return found(err, nil, "write down an act")
}

// Acts gives what was done, the newest first.
func (s *Audit) Acts(ctx context.Context, q audit.Question) ([]audit.Act, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, at, who, how, what, target, why, detail FROM audit
		WHERE at >= @since ORDER BY at DESC, id DESC LIMIT @limit`,
		pgx.NamedArgs{"since": q.Since, "limit": q.Limit})
	if err != nil {
		return nil, fmt.Errorf("read the acts: %w", err)
	}
	return pgx.CollectRows(rows, toAct)
}

func toAct(r pgx.CollectableRow) (a audit.Act, err error) {
	err = r.Scan(&a.ID, &a.At, &a.Who, &a.How, &a.What, &a.Target, &a.Why, &a.Detail)
	return a, err
}
