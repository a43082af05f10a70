package app

import (
	"context"

	"github.com/anet-hub/anet/node/internal/home"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// ledger is the hub as till and wallet see it.
type ledger struct {
	hub  *hubclient.Client
	home *home.Home
}

func (l ledger) Networks() []string { return l.home.Networks() }

func (l ledger) Own() (hub string, kel []byte) { return l.home.LedgerHub() }

// KEL takes the own hub's from what was pinned, asked for anew where that did not
// do, and another's from the own hub: it proves itself.
func (l ledger) KEL(ctx context.Context, hub string, fresh bool) ([]byte, error) {
	own, kel := l.home.LedgerHub()
	switch {
	case hub != own:
		found, err := l.hub.KEL(ctx, hub)
		return found.KEL, err
	case !fresh:
		return kel, nil
	}
	err := l.home.RefreshHub(ctx)
	_, kel = l.home.LedgerHub()
	return kel, err
}

func (l ledger) Settle(ctx context.Context, r payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	if err := l.home.Trusted(ctx); err != nil {
		return payment.SettlementResponse{}, err
	}
	return l.hub.Settle(ctx, r)
}

func (l ledger) Verify(ctx context.Context, r payment.FacilitatorRequest) (payment.VerifyResponse, error) {
	if err := l.home.Trusted(ctx); err != nil {
		return payment.VerifyResponse{}, err
	}
	return l.hub.Verify(ctx, r)
}

// Redeem meets the hub first: on the word of another one that answers at its URL a
// redemption would be forgotten that the hub may have taken.
func (l ledger) Redeem(ctx context.Context, r wire.Redeem) (wire.Redemption, error) {
	if err := l.home.RefreshHub(ctx); err != nil {
		return wire.Redemption{}, err
	}
	return l.hub.Redeem(ctx, r)
}
