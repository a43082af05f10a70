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

// What lines there have to be: of each payment, and of each link of the chain.
const (
	linesOfPayments = `(
		SELECT s.auth_id, payer AS aid, -s.amount AS delta, CASE WHEN due_to IS NOT NULL THEN '` + ledger.ReasonToPeer + `'
			WHEN r.auth_id IS NOT NULL THEN '` + ledger.ReasonRedeemed + `' ELSE '` + ledger.ReasonPaid + `' END AS reason, settled_at AS at
		FROM settlement s LEFT JOIN redemption r ON r.auth_id = s.auth_id
		UNION ALL SELECT s.auth_id, pay_to, s.amount, '` + ledger.ReasonReceived + `', settled_at
		FROM settlement s LEFT JOIN redemption r ON r.auth_id = s.auth_id WHERE due_to IS NULL AND r.auth_id IS NULL
		UNION ALL SELECT auth_id, pay_to, amount, '` + ledger.ReasonFromPeer + `', at FROM peer_payment)`
	linesOfIssues = `(
		SELECT '` + ledger.Issued + `' AS kind, aid, delta AS amount, reason, at FROM account_entry
			WHERE auth_id IS NULL OR reason = '` + ledger.ReasonFromPeer + `'
		UNION ALL SELECT '` + ledger.Retired + `', aid, -delta, reason, at FROM account_entry
			WHERE reason IN ('` + ledger.ReasonRedeemed + `', '` + ledger.ReasonToPeer + `'))`
)

// sumsWrong finds what is not what its lines come to. Together with the
// signatures it leaves no credit unaccounted for: each line belongs to a link of
// the chain or to a settlement, and each of these has its lines.
var sumsWrong = []struct{ says, query string }{
	{"accounts whose balance is not the sum of their lines", `
		SELECT aid FROM account LEFT JOIN (SELECT aid, sum(delta) AS sum, count(*) AS n, max(n) AS last FROM account_entry GROUP BY aid) e USING (aid)
		WHERE balance <> coalesce(sum, 0) OR entries <> coalesce(e.n, 0) OR entries <> coalesce(last, 0)`},
	{"lines of no account", `SELECT DISTINCT aid FROM account_entry e WHERE NOT EXISTS (SELECT FROM account a WHERE a.aid = e.aid)`},
	{"payments whose lines are not theirs", `
		SELECT auth_id FROM (
			(` + linesOfPayments + ` EXCEPT ALL SELECT auth_id, aid, delta, reason, at FROM account_entry WHERE auth_id IS NOT NULL)
			UNION ALL
			(SELECT auth_id, aid, delta, reason, at FROM account_entry WHERE auth_id IS NOT NULL EXCEPT ALL (` + linesOfPayments + `))) d`},
	{"redemptions that are not what was settled", `
		SELECT auth_id FROM redemption r LEFT JOIN settlement s USING (auth_id)
		WHERE (s.payer, s.amount, s.settled_at) IS DISTINCT FROM (r.aid, r.amount, r.at)`},
	{"agents whose credits are not those of the chain", `
		SELECT aid FROM (
			(` + linesOfIssues + ` EXCEPT ALL SELECT kind, aid, amount, reason, at FROM issuance)
			UNION ALL
			(SELECT kind, aid, amount, reason, at FROM issuance EXCEPT ALL (` + linesOfIssues + `))) d`},
	{"hubs that owe another sum than their payments and statements come to", `
		SELECT aid FROM clearing FULL JOIN (
			SELECT hub AS aid, sum(amount) AS sum FROM (SELECT hub, amount FROM peer_payment
				UNION ALL SELECT hub, -amount FROM discharge WHERE NOT ours) o GROUP BY hub) s USING (aid)
		WHERE coalesce(owed, 0) <> coalesce(sum, 0)`},
	{"hubs that are owed another sum than their payments and statements come to", `
		SELECT aid FROM clearing FULL JOIN (
			SELECT aid, sum(amount) AS sum FROM (SELECT due_to AS aid, amount FROM settlement WHERE due_to IS NOT NULL
				UNION ALL SELECT hub, -amount FROM discharge WHERE ours AND done_at IS NOT NULL) o GROUP BY aid) s USING (aid)
		WHERE coalesce(due, 0) <> coalesce(sum, 0)`},
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

// EachPeerPayment implements ledger.Reader.
func (b books) EachPeerPayment(ctx context.Context, see func(ledger.PeerPayment, []byte) error) error {
	rows, err := b.tx.Query(ctx, `
		SELECT p.auth_id, hub, payer, pay_to, amount, signed, receipt, answer, at, kel
		FROM peer_payment p LEFT JOIN peer ON peer.aid = hub ORDER BY hub, p.auth_id`)
	if err != nil {
		return err
	}
	var kel []byte
	to := func(r pgx.CollectableRow) (p ledger.PeerPayment, err error) {
		err = r.Scan(&p.AuthID, &p.Hub, &p.Payer, &p.PayTo, &p.Amount, &p.Signed, &p.Receipt, &p.Answer, &p.At, &kel)
		return p, err
	}
	return each(rows, to, func(p ledger.PeerPayment) error { return see(p, kel) })
}

// EachDischarge implements ledger.Reader.
func (b books) EachDischarge(ctx context.Context, see func(ledger.Discharge, bool, []byte) error) error {
	rows, err := b.tx.Query(ctx, `
		SELECT d.auth_id, hub, amount, receipt, at, ours, kel
		FROM discharge d LEFT JOIN peer ON peer.aid = hub WHERE done_at IS NOT NULL ORDER BY hub, d.auth_id`)
	if err != nil {
		return err
	}
	var ours bool
	var kel []byte
	to := func(r pgx.CollectableRow) (d ledger.Discharge, err error) {
		err = r.Scan(&d.AuthID, &d.Hub, &d.Amount, &d.Receipt, &d.At, &ours, &kel)
		return d, err
	}
	return each(rows, to, func(d ledger.Discharge) error { return see(d, ours, kel) })
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
