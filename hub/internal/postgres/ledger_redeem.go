package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
)

const (
	insertRedemptionSQL = `
	INSERT INTO redemption (auth_id, aid, n, amount, reference, at)
	SELECT @auth_id, @payer, 1 + coalesce(max(n), 0), @amount, @reference, @at FROM redemption WHERE aid = @payer`
	redemptionSQL = `
	SELECT auth_id, aid, r.amount, reference, at, receipt FROM redemption r JOIN settlement USING (auth_id)`
)

func toRedemption(r pgx.CollectableRow) (v ledger.Redemption, err error) {
	err = r.Scan(&v.AuthID, &v.AID, &v.Amount, &v.Reference, &v.At, &v.Receipt)
	v.At = v.At.UTC()
	return v, err
}

// errUnbooked ends a transaction whose settlement was not written.
var errUnbooked = errors.New("not booked")

// Redeem implements ledger.Store.
func (s *Ledger) Redeem(ctx context.Context, st ledger.Settlement, r ledger.Redemption, seal ledger.Seal) (kept ledger.Redemption, fresh bool, err error) {
	before, err := s.retire(ctx, st, ledger.ReasonRedeemed, seal, func(tx pgx.Tx) error {
		args := settleArgs(st)
		args["reference"] = r.Reference
		_, err := tx.Exec(ctx, insertRedemptionSQL, args)
		return err
	})
	switch {
	case err != nil:
		return kept, false, err
	case before == nil:
		return r, true, nil
	}
	kept, err = s.Redemption(ctx, before.AuthID)
	return kept, false, err
}

// retire settles a payment that credits nobody here, with a link of the chain and
// what else belongs to it; before is what is on record already.
func (s *Ledger) retire(ctx context.Context, st ledger.Settlement, reason string, seal ledger.Seal, also func(pgx.Tx) error) (before *ledger.Settlement, err error) {
	for {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			c, err := lockChain(ctx, tx)
			if err != nil {
				return err
			}
			if err := c.retire(ctx, st, reason, seal); err != nil {
				return err
			}
			return also(tx)
		})
		if !errors.Is(err, errUnbooked) {
			return nil, found(err, nil, "take credits out of circulation")
		}
		asked := st
		asked.PayTo = st.Payer // nobody else's account has to be there
		if before, err := s.unsettled(ctx, asked); before != nil || err != nil {
			return before, err
		}
	}
}

func (c *chain) retire(ctx context.Context, st ledger.Settlement, reason string, seal ledger.Seal) error {
	args := settleArgs(st)
	args["reason"] = reason
	booked, err := settle(ctx, c.tx, retireSQL, args)
	if err == nil && !booked {
		err = errUnbooked
	}
	if err != nil {
		return err
	}
	return c.append(ctx, []ledger.Issue{{Kind: ledger.Retired, AID: st.Payer, Amount: st.Amount, Reason: reason, At: st.At}}, seal)
}

// Redemption implements ledger.Store.
func (s *Ledger) Redemption(ctx context.Context, authID string) (r ledger.Redemption, err error) {
	rows, err := s.pool.Query(ctx, redemptionSQL+` WHERE auth_id = @auth_id`, pgx.NamedArgs{"auth_id": authID})
	if err == nil {
		r, err = pgx.CollectExactlyOneRow(rows, toRedemption)
	}
	if err != nil {
		return r, fmt.Errorf("read a redemption: %w", err)
	}
	return r, nil
}
