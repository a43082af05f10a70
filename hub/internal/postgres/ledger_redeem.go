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
	for {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return redeem(ctx, tx, st, r, seal) })
		switch {
		case err == nil:
			return r, true, nil
		case !errors.Is(err, errUnbooked):
			return kept, false, found(err, nil, "redeem credits")
		}
		before, err := s.unredeemed(ctx, st)
		if err != nil {
			return kept, false, err
		}
		if before != nil {
			kept, err = s.redemption(ctx, before.AuthID)
			return kept, false, err
		}
	}
}

// unredeemed is unsettled for a payment that credits nobody: the hub itself has no
// account.
func (s *Ledger) unredeemed(ctx context.Context, st ledger.Settlement) (*ledger.Settlement, error) {
	st.PayTo = st.Payer
	return s.unsettled(ctx, st)
}

func redeem(ctx context.Context, tx pgx.Tx, st ledger.Settlement, r ledger.Redemption, seal ledger.Seal) error {
	c, err := lockChain(ctx, tx)
	if err != nil {
		return err
	}
	args := settleArgs(st)
	args["aids"], args["deltas"] = []string{st.Payer}, []int64{-int64(st.Amount)}
	args["reasons"], args["reference"] = []string{ledger.ReasonRedeemed}, r.Reference
	booked, err := settle(ctx, tx, args)
	if err == nil && !booked {
		err = errUnbooked
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, insertRedemptionSQL, args); err != nil {
		return err
	}
	return c.append(ctx, []ledger.Issue{{Kind: ledger.Retired, AID: st.Payer, Amount: st.Amount, Reason: ledger.ReasonRedeemed, At: st.At}}, seal)
}

func (s *Ledger) redemption(ctx context.Context, authID string) (r ledger.Redemption, err error) {
	rows, err := s.pool.Query(ctx, redemptionSQL+` WHERE auth_id = @auth_id`, pgx.NamedArgs{"auth_id": authID})
	if err == nil {
		r, err = pgx.CollectExactlyOneRow(rows, toRedemption)
	}
	if err != nil {
		return r, fmt.Errorf("read a redemption: %w", err)
	}
	return r, nil
}
