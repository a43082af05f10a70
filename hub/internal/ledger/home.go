package ledger

import (
	"context"
	"slices"

	"github.com/anet-hub/anet/shared/payment"
)

// home finds the peer that a payee without an account here is an agent of; empty
// where nobody is cleared with and no peer knows it, and then an account is opened here.
func (l *Ledger) home(ctx context.Context, t tender, s Standing) (hub string, err error) {
	if s.Known || s.PayTo {
		return "", nil
	}
	open, err := l.Clears(ctx)
	if err != nil {
		return "", err
	}
	var cleared []string
	for _, d := range open {
		cleared = append(cleared, d.Hub)
	}
	hubs := cleared
	if len(hubs) == 0 {
		// Into an account here an agent of a peer would never look, and its own hub
		// would call it paid.
		hubs = l.Peers.All()
	}
	if len(hubs) == 0 {
		return "", nil
	}
	hub, _, err = l.homes.ask(ctx, l.Now, t.auth.PayTo, func(ctx context.Context) (string, error) {
		return l.homeOf(ctx, t, hubs)
	})
	if err == nil && !slices.Contains(cleared, hub) && (hub != "" || len(cleared) > 0) {
		err = refuse(payment.PayeeMismatch, "the payee is registered neither here nor at a hub that this one clears with")
	}
	return hub, err
}

func (l *Ledger) homeOf(ctx context.Context, t tender, hubs []string) (hub string, err error) {
	giveBack, err := l.errand(t.from, hubs...)
	if err != nil {
		return "", err
	}
	if hub, err = l.Peers.HomeOf(ctx, hubs, t.auth.PayTo); err == nil && hub != "" {
		giveBack()
	}
	return hub, err
}
