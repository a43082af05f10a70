package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Debts implements ledger.Clearing.
func (s *Ledger) Debts(ctx context.Context) ([]ledger.Debt, error) {
	rows, err := s.pool.Query(ctx, `SELECT aid, is_open, most, owed, due FROM clearing ORDER BY aid`)
	if err != nil {
		return nil, fmt.Errorf("read the debts: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Debt])
}

// Allow implements ledger.Clearing.
func (s *Ledger) Allow(ctx context.Context, d ledger.Debt, act audit.Act) error {
	return acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO clearing (aid, is_open, most) VALUES (@aid, @open, @most)
			ON CONFLICT (aid) DO UPDATE SET is_open = EXCLUDED.is_open, most = EXCLUDED.most`,
			pgx.NamedArgs{"aid": d.Hub, "open": d.Open, "most": int64(d.Most)})
		return err
	})
}

// owe moves what is owed, or due, within the lock of its row.
func owe(ctx context.Context, tx pgx.Tx, hub string, owed, due int64) (left ledger.Debt, err error) {
	err = tx.QueryRow(ctx, `
		UPDATE clearing SET owed = owed + @owed, due = due + @due WHERE aid = @aid RETURNING aid, is_open, most, owed, due`,
		pgx.NamedArgs{"aid": hub, "owed": owed, "due": due}).Scan(&left.Hub, &left.Open, &left.Most, &left.Owed, &left.Due)
	return left, found(err, errNoDebt(), "move a debt")
}

func errNoDebt() error {
	return errs.New(errs.NotFound, "not_cleared_with", "this hub clears no payments with that one")
}

// SettleAbroad implements ledger.Clearing.
func (s *Ledger) SettleAbroad(ctx context.Context, st ledger.Settlement, seal ledger.Seal) (kept ledger.Settlement, fresh bool, err error) {
	before, err := s.retire(ctx, st, ledger.ReasonToPeer, seal, func(tx pgx.Tx) error {
		_, err := owe(ctx, tx, st.DueTo, 0, int64(st.Amount))
		return err
	})
	switch {
	case err != nil:
		return kept, false, err
	case before != nil:
		return *before, false, nil
	}
	return st, true, nil
}

const peerPaymentSQL = `SELECT auth_id, hub, payer, pay_to, amount, signed, receipt, answer, at FROM peer_payment`

// PaymentOf implements ledger.Clearing.
func (s *Ledger) PaymentOf(ctx context.Context, authID string) (*ledger.PeerPayment, error) {
	rows, err := s.pool.Query(ctx, peerPaymentSQL+` WHERE auth_id = @auth_id`, pgx.NamedArgs{"auth_id": authID})
	if err != nil {
		return nil, fmt.Errorf("read a payment of a peer's: %w", err)
	}
	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[ledger.PeerPayment])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &p, found(err, nil, "read a payment of a peer's")
}

// creditPeerSQL is a line of an account that is open and locked.
const creditPeerSQL = `
	WITH booked AS (SELECT),
	line AS MATERIALIZED (SELECT @pay_to::text AS aid, @amount::bigint AS delta),` + postedSQL + `
	SELECT aid, before + 1, delta, '` + ledger.ReasonFromPeer + `', @auth_id, @at FROM line JOIN moved USING (aid)`

// Credit implements ledger.Clearing. Whoever comes second finds the row of the
// payment, and nothing to do.
func (s *Ledger) Credit(ctx context.Context, p ledger.PeerPayment, seal ledger.Seal) error {
	args := pgx.NamedArgs{"auth_id": p.AuthID, "hub": p.Hub, "payer": p.Payer, "pay_to": p.PayTo, "amount": int64(p.Amount),
		"signed": p.Signed, "receipt": p.Receipt, "answer": p.Answer, "at": p.At, "aids": []string{p.PayTo}}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		c, err := lockChain(ctx, tx)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO peer_payment (auth_id, hub, payer, pay_to, amount, signed, receipt, answer, at)
			VALUES (@auth_id, @hub, @payer, @pay_to, @amount, @signed, @receipt, @answer, @at) ON CONFLICT DO NOTHING`, args)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		left, err := owe(ctx, tx, p.Hub, int64(p.Amount), 0)
		if err == nil && left.Owed > left.Most {
			err = ledger.AtLimit()
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, openAccountsSQL, args); err != nil {
			return err
		}
		if err := c.append(ctx, []ledger.Issue{{Kind: ledger.Issued, AID: p.PayTo, Amount: p.Amount, Reason: ledger.ReasonFromPeer, At: p.At}}, seal); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, creditPeerSQL, args)
		return err
	})
	return found(err, nil, "credit a payment of a peer's")
}

// Receive implements ledger.Clearing. A hub that nothing was ever cleared with owes
// nothing.
func (s *Ledger) Receive(ctx context.Context, d ledger.Discharge) (owed uint64, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		left, err := owe(ctx, tx, d.Hub, 0, 0) // locks, and tells
		switch {
		case errs.KindOf(err) == errs.NotFound:
			return errMoreThanOwed(0, d.Amount)
		case err != nil:
			return err
		}
		owed = left.Owed
		tag, err := tx.Exec(ctx, `
			INSERT INTO discharge (auth_id, hub, ours, amount, receipt, at, done_at)
			VALUES (@auth_id, @hub, false, @amount, @receipt, @at, @at) ON CONFLICT DO NOTHING`, dischargeArgs(d))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if d.Amount > owed {
			return errMoreThanOwed(owed, d.Amount)
		}
		left, err = owe(ctx, tx, d.Hub, -int64(d.Amount), 0)
		owed = left.Owed
		return err
	})
	return owed, found(err, nil, "take a statement")
}

func errMoreThanOwed(owed, stated uint64) error {
	return errs.New(errs.Invalid, wire.MoreThanOwed, "that hub owes %d credits, and states that it paid %d", owed, stated).In("receipt")
}

func dischargeArgs(d ledger.Discharge) pgx.NamedArgs {
	return pgx.NamedArgs{"auth_id": d.AuthID, "hub": d.Hub, "amount": int64(d.Amount), "receipt": d.Receipt, "at": d.At}
}

// Prepare implements ledger.Clearing.
func (s *Ledger) Prepare(ctx context.Context, d ledger.Discharge) (kept ledger.Discharge, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		left, err := owe(ctx, tx, d.Hub, 0, 0)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT auth_id, hub, amount, receipt, at FROM discharge WHERE hub = @hub AND ours AND done_at IS NULL`,
			dischargeArgs(d)).Scan(&kept.AuthID, &kept.Hub, &kept.Amount, &kept.Receipt, &kept.At)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if d.Amount > left.Due {
			return ledger.MoreThanDue(left.Due)
		}
		kept = d
		_, err = tx.Exec(ctx, `
			INSERT INTO discharge (auth_id, hub, ours, amount, receipt, at) VALUES (@auth_id, @hub, true, @amount, @receipt, @at)`, dischargeArgs(d))
		return err
	})
	return kept, found(err, nil, "prepare a statement")
}

// Withdraw implements ledger.Clearing.
func (s *Ledger) Withdraw(ctx context.Context, d ledger.Discharge) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM discharge WHERE auth_id = @auth_id AND ours AND done_at IS NULL`, dischargeArgs(d))
	return found(err, nil, "withdraw a statement")
}

// Discharged implements ledger.Clearing. Of two who brought one statement at once, the
// other may have been refused, and have withdrawn it.
func (s *Ledger) Discharged(ctx context.Context, d ledger.Discharge, act audit.Act) (due uint64, err error) {
	err = acting(ctx, s.pool, act, func(tx pgx.Tx) error {
		left, err := owe(ctx, tx, d.Hub, 0, 0)
		if err != nil {
			return err
		}
		args := dischargeArgs(d)
		args["now"] = act.At
		tag, err := tx.Exec(ctx, `
			INSERT INTO discharge AS d (auth_id, hub, ours, amount, receipt, at, done_at) VALUES (@auth_id, @hub, true, @amount, @receipt, @at, @now)
			ON CONFLICT (auth_id) DO UPDATE SET done_at = @now WHERE d.ours AND d.done_at IS NULL`, args)
		if err == nil && tag.RowsAffected() == 1 {
			left, err = owe(ctx, tx, d.Hub, 0, -int64(d.Amount))
		}
		due = left.Due
		return err
	})
	return due, found(err, nil, "count a statement")
}
