package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/evidence"
)

// chain is the end of the chain, which nobody else can move until the
// transaction ends.
type chain struct {
	tx   pgx.Tx
	head evidence.Head
	ledger.Circulation
}

func lockChain(ctx context.Context, tx pgx.Tx) (c chain, err error) {
	c.tx = tx
	var readOnly bool
	err = tx.QueryRow(ctx, `SELECT head_seq, head_id, issued, retired, read_only_since IS NOT NULL FROM ledger FOR UPDATE`).
		Scan(&c.head.Seq, &c.head.ID, &c.Issued, &c.Retired, &readOnly)
	if err == nil && readOnly {
		err = ledger.ReadOnly()
	}
	return c, err
}

// append signs issues as the next links and counts them.
func (c *chain) append(ctx context.Context, issues []ledger.Issue, seal ledger.Seal) error {
	sum, err := c.Add(issues)
	if err != nil {
		return err
	}
	links, err := seal(c.head, issues)
	if err != nil {
		return err
	}
	rows := make([][]any, len(links))
	for i, k := range links {
		rows[i] = []any{int64(k.Seq), k.ID, k.Kind, k.AID, int64(k.Amount), k.Reason, k.At, k.Record}
		c.head.Seq, c.head.ID = k.Seq, k.ID
	}
	if _, err := c.tx.CopyFrom(ctx, pgx.Identifier{"issuance"},
		[]string{"seq", "id", "kind", "aid", "amount", "reason", "at", "record"}, pgx.CopyFromRows(rows)); err != nil {
		return fmt.Errorf("write links of the chain: %w", err)
	}
	c.Circulation = sum
	_, err = c.tx.Exec(ctx, `UPDATE ledger SET head_seq = @seq, head_id = @id, issued = @issued, retired = @retired`,
		pgx.NamedArgs{"seq": int64(c.head.Seq), "id": c.head.ID, "issued": int64(sum.Issued), "retired": int64(sum.Retired)})
	return found(err, nil, "move the end of the chain")
}

// Accounts are opened where there are none, locked, and then credited.
const (
	openAccountsSQL = `
	INSERT INTO account (aid) SELECT aid FROM unnest(@aids::text[]) AS t (aid) ORDER BY aid ON CONFLICT DO NOTHING`
	lockAccountsSQL = `SELECT aid, granted_at IS NOT NULL FROM account WHERE aid = ANY (@aids::text[]) ORDER BY aid FOR UPDATE`
	creditSQL       = `
	WITH booked AS (SELECT),
	line AS MATERIALIZED (
		SELECT aid, delta, reason, i
		FROM unnest(@aids::text[], @deltas::bigint[], @reasons::text[]) WITH ORDINALITY AS l (aid, delta, reason, i)),` + postedSQL + `
	SELECT aid, before + row_number() OVER (PARTITION BY aid ORDER BY i), delta, reason, NULL, @at
	FROM line JOIN moved USING (aid)`
)

func issueArgs(issues []ledger.Issue) pgx.NamedArgs {
	aids, deltas, reasons := make([]string, len(issues)), make([]int64, len(issues)), make([]string, len(issues))
	for i, is := range issues {
		aids[i], deltas[i], reasons[i] = is.AID, int64(is.Amount), is.Reason
	}
	return pgx.NamedArgs{"aids": aids, "deltas": deltas, "reasons": reasons, "at": issues[0].At}
}

// credit books issues of one moment into accounts, which are locked already.
func (c *chain) credit(ctx context.Context, issues []ledger.Issue, seal ledger.Seal) error {
	if err := c.append(ctx, issues, seal); err != nil {
		return err
	}
	_, err := c.tx.Exec(ctx, creditSQL, issueArgs(issues))
	return found(err, nil, "credit accounts")
}

// GrantMember implements ledger.Store.
func (s *Ledger) GrantMember(ctx context.Context, i ledger.Issue, act audit.Act, seal ledger.Seal) (balance uint64, err error) {
	err = acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		c, err := lockChain(ctx, tx)
		if err != nil {
			return err
		}
		args := pgx.NamedArgs{"aid": i.AID, "aids": []string{i.AID}}
		var known bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM member WHERE aid = @aid)`, args).Scan(&known); err != nil || !known {
			return errors.Join(err, moderation.NeverHere())
		}
		if _, err := tx.Exec(ctx, openAccountsSQL, args); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, lockAccountsSQL, args); err != nil {
			return err
		}
		if err := c.credit(ctx, []ledger.Issue{i}, seal); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT balance FROM account WHERE aid = @aid`, args).Scan(&balance)
	})
	return balance, found(err, nil, "grant credits")
}

// GrantsDue implements ledger.Store. It does not count to the end: that is for a
// gauge.
func (s *Ledger) GrantsDue(ctx context.Context) (n int64, readOnly bool, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM (SELECT FROM grant_due LIMIT 10000) d), read_only_since IS NOT NULL FROM ledger`).Scan(&n, &readOnly)
	return n, readOnly, found(err, nil, "count the grants that are due")
}

// BookGrants implements ledger.Store. The rows it takes are gone with its commit,
// and there again without it.
func (s *Ledger) BookGrants(ctx context.Context, amount uint64, n int, at time.Time, seal ledger.Seal) (taken int, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		c, err := lockChain(ctx, tx)
		if err != nil {
			return err
		}
		due, err := takeGrants(ctx, tx, n)
		if taken = len(due); err != nil || taken == 0 {
			return err
		}
		return c.grant(ctx, due, amount, at, seal)
	})
	return taken, found(err, nil, "book grants")
}

// takeGrantsSQL goes by the places of rows: by their AIDs the planner reads all that
// are due, for each batch. No row of the table is ever changed, and so none moves.
const takeGrantsSQL = `
	DELETE FROM grant_due WHERE ctid = ANY (ARRAY(SELECT ctid FROM grant_due ORDER BY aid LIMIT @n)) RETURNING aid`

func takeGrants(ctx context.Context, tx pgx.Tx, n int) ([]string, error) {
	rows, err := tx.Query(ctx, takeGrantsSQL, pgx.NamedArgs{"n": n})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// grant books the registration grant of those who never had it.
func (c *chain) grant(ctx context.Context, due []string, amount uint64, at time.Time, seal ledger.Seal) error {
	if amount == 0 {
		return nil
	}
	args := pgx.NamedArgs{"aids": due}
	if _, err := c.tx.Exec(ctx, openAccountsSQL, args); err != nil {
		return err
	}
	fresh, err := c.ungranted(ctx, args)
	if err != nil || len(fresh) == 0 {
		return err
	}
	issues := ledger.RegistrationGrants(fresh, amount, at)
	if err := c.credit(ctx, issues, seal); err != nil {
		return err
	}
	_, err = c.tx.Exec(ctx, `UPDATE account SET granted_at = @at WHERE aid = ANY (@aids::text[])`,
		pgx.NamedArgs{"aids": fresh, "at": at})
	return err
}

func (c *chain) ungranted(ctx context.Context, args pgx.NamedArgs) (fresh []string, err error) {
	rows, err := c.tx.Query(ctx, lockAccountsSQL, args)
	if err != nil {
		return nil, err
	}
	var aid string
	var granted bool
	_, err = pgx.ForEachRow(rows, []any{&aid, &granted}, func() error {
		if !granted {
			fresh = append(fresh, aid)
		}
		return nil
	})
	slices.Sort(fresh)
	return fresh, err
}
