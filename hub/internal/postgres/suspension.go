package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/errs"
)

// Members keeps who may act here.
type Members struct{ pool *pgxpool.Pool }

// NewMembers makes the store.
func NewMembers(pool *pgxpool.Pool) *Members { return &Members{pool: pool} }

// Suspend suspends one member; one that is suspended is a Conflict.
func (s *Members) Suspend(ctx context.Context, act audit.Act) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := expect(ctx, tx, act.Target, false); err != nil {
			return err
		}
		return suspend(ctx, tx, []string{act.Target}, act)
	})
}

// Resume lifts a suspension; a member that is not suspended is a Conflict.
func (s *Members) Resume(ctx context.Context, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		if err := expect(ctx, tx, act.Target, true); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE member SET suspended_at = NULL WHERE aid = @aid`, pgx.NamedArgs{"aid": act.Target})
		if err != nil {
			return fmt.Errorf("lift a suspension: %w", err)
		}
		return suspensionChanged(ctx, tx, []string{act.Target}, false)
	})
}

// expect locks a member that has to be suspended, or not.
func expect(ctx context.Context, tx pgx.Tx, aid string, suspended bool) error {
	var is bool
	err := tx.QueryRow(ctx, `SELECT suspended_at IS NOT NULL FROM member WHERE aid = @aid FOR UPDATE`,
		pgx.NamedArgs{"aid": aid}).Scan(&is)
	switch {
	case err != nil:
		return found(err, errs.New(errs.NotFound, "agent_unknown", "no agent with this AID was ever registered here").In("aid"), "lock a member")
	case is && !suspended:
		return errs.New(errs.Conflict, "suspended_already", "this agent is suspended already").In("aid")
	case !is && suspended:
		return errs.New(errs.Conflict, "not_suspended", "this agent is not suspended").In("aid")
	}
	return nil
}

// suspend suspends members and writes an act for each, by who did act. They are
// locked in the order of their AIDs, like everywhere.
func suspend(ctx context.Context, tx pgx.Tx, aids []string, act audit.Act) error {
	args := pgx.NamedArgs{"aids": aids, "now": act.At}
	if _, err := tx.Exec(ctx, lockMembersSQL, args); err != nil {
		return fmt.Errorf("lock members: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE member SET suspended_at = @now WHERE aid = ANY (@aids)`, args); err != nil {
		return fmt.Errorf("suspend members: %w", err)
	}
	if err := suspensionChanged(ctx, tx, aids, true); err != nil {
		return err
	}
	for _, aid := range aids {
		each := act.Did("agent.suspend", aid, act.At)
		if act.Target != aid {
			each = each.With("with", act.Target)
		}
		if err := note(ctx, tx, each); err != nil {
			return err
		}
	}
	return nil
}

// suspensionChanged brings lists and mailboxes of locked members to what their
// suspension says.
func suspensionChanged(ctx context.Context, tx pgx.Tx, aids []string, suspended bool) error {
	if err := relist(ctx, tx, aids, func(a *directory.Agent) { a.Suspended = !suspended }); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE mailbox b SET is_open = @open FROM agent a WHERE a.aid = b.aid AND b.aid = ANY (@aids)`,
		pgx.NamedArgs{"aids": aids, "open": !suspended})
	return found(err, nil, "open or close mailboxes")
}
