package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/ledger"
)

// Audit implements ledger.Books: one snapshot, beside a hub that goes on.
func (s *Ledger) Audit(ctx context.Context, read func(ledger.Reader) error) error {
	o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, o, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
		return read(books{tx})
	})
}

// Reopen implements ledger.Books.
func (s *Ledger) Reopen(ctx context.Context, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE ledger SET read_only_since = NULL`)
		return err
	})
}

// books are the books of one moment (ledger.Reader).
type books struct{ tx pgx.Tx }

// Totals implements ledger.Reader.
func (b books) Totals(ctx context.Context) (ledger.Totals, error) {
	return toTotals(b.tx.QueryRow(ctx, totalsSQL))
}

// sumsWrong finds what is not what its lines come to. Together with the
// signatures it leaves no credit unaccounted for: each line belongs to a link of
// the chain or to a settlement, and each of these has its lines.
var sumsWrong = []struct{ says, query string }{
	{"accounts whose balance is not the sum of their lines", `
		SELECT aid FROM account LEFT JOIN (SELECT aid, sum(delta) AS sum, count(*) AS n, max(n) AS last FROM account_entry GROUP BY aid) e USING (aid)
		WHERE balance <> coalesce(sum, 0) OR entries <> coalesce(e.n, 0) OR entries <> coalesce(last, 0)`},
	{"lines of no account", `SELECT DISTINCT aid FROM account_entry e WHERE NOT EXISTS (SELECT FROM account a WHERE a.aid = e.aid)`},
	{"settlements whose lines are not theirs", `
		(SELECT auth_id FROM (SELECT auth_id, payer, -amount, '` + ledger.ReasonPaid + `' FROM settlement WHERE auth_id NOT IN (SELECT auth_id FROM redemption)
			UNION ALL SELECT auth_id, pay_to, amount, '` + ledger.ReasonReceived + `' FROM settlement WHERE auth_id NOT IN (SELECT auth_id FROM redemption)
			UNION ALL SELECT auth_id, payer, -amount, '` + ledger.ReasonRedeemed + `' FROM settlement WHERE auth_id IN (SELECT auth_id FROM redemption)
			EXCEPT ALL SELECT auth_id, aid, delta, reason FROM account_entry WHERE auth_id IS NOT NULL) missing)
		UNION
		(SELECT auth_id FROM (SELECT auth_id, aid, delta FROM account_entry WHERE auth_id IS NOT NULL
			EXCEPT ALL (SELECT auth_id, payer, -amount FROM settlement
				UNION ALL SELECT auth_id, pay_to, amount FROM settlement WHERE auth_id NOT IN (SELECT auth_id FROM redemption))) extra)`},
	{"redemptions that are not what was settled", `
		SELECT auth_id FROM redemption r LEFT JOIN settlement s USING (auth_id)
		WHERE (s.payer, s.amount, s.settled_at) IS DISTINCT FROM (r.aid, r.amount, r.at)`},
	{"agents whose grants are not those of the chain", `
		SELECT aid FROM (
			(SELECT aid, delta AS amount, reason, at FROM account_entry WHERE auth_id IS NULL EXCEPT ALL SELECT aid, amount, reason, at FROM issuance WHERE kind = '` + ledger.Issued + `')
			UNION ALL
			(SELECT aid, amount, reason, at FROM issuance WHERE kind = '` + ledger.Issued + `' EXCEPT ALL SELECT aid, delta, reason, at FROM account_entry WHERE auth_id IS NULL)) d`},
	{"agents whose redemptions are not those of the chain", `
		SELECT aid FROM (
			(SELECT aid, amount, at FROM redemption EXCEPT ALL SELECT aid, amount, at FROM issuance WHERE kind = '` + ledger.Retired + `')
			UNION ALL
			(SELECT aid, amount, at FROM issuance WHERE kind = '` + ledger.Retired + `' EXCEPT ALL SELECT aid, amount, at FROM redemption)) d`},
	{"agents that were granted twice for registering", `
		SELECT aid FROM account_entry WHERE reason = '` + ledger.ReasonRegistration + `' GROUP BY aid HAVING count(*) > 1`},
	{"agents whose registration grant is not noted", `
		SELECT aid FROM account a WHERE (granted_at IS NULL) =
			EXISTS (SELECT FROM account_entry e WHERE e.aid = a.aid AND reason = '` + ledger.ReasonRegistration + `')`},
}

// Sums implements ledger.Reader.
func (b books) Sums(ctx context.Context) (wrong []string, err error) {
	for _, l := range sumsWrong {
		rows, err := b.tx.Query(ctx, l.query+fmt.Sprintf(" LIMIT %d", maxFindings))
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", l.says, err)
		}
		if len(found) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %v", l.says, found))
		}
	}
	return wrong, nil
}

// EachLink implements ledger.Reader.
func (b books) EachLink(ctx context.Context, see func(ledger.Link) error) error {
	rows, err := b.tx.Query(ctx, `SELECT `+linkColumns+` FROM issuance ORDER BY seq`)
	if err != nil {
		return err
	}
	return each(rows, toLink, see)
}

// EachSettlement implements ledger.Reader.
func (b books) EachSettlement(ctx context.Context, see func(ledger.Settlement, []byte) error) error {
	rows, err := b.tx.Query(ctx, `
		SELECT `+settlementColumns+`, (SELECT kel FROM member WHERE aid = s.payer) FROM settlement s ORDER BY s.payer, s.auth_id`)
	if err != nil {
		return err
	}
	var kel []byte
	to := func(r pgx.CollectableRow) (ledger.Settlement, error) { return toSettlement(r, &kel) }
	return each(rows, to, func(s ledger.Settlement) error { return see(s, kel) })
}

// each shows rows one by one.
func each[T any](rows pgx.Rows, to pgx.RowToFunc[T], see func(T) error) error {
	defer rows.Close()
	for rows.Next() {
		v, err := to(rows)
		if err == nil {
			err = see(v)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
