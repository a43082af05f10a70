package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/anet-hub/anet/shared/payment"
)

// enter takes a payment on a peer's ledger (wire 2, K.5): the peer settles it, and
// what its receipt says is credited here, once.
func (l *Ledger) enter(ctx context.Context, t tender, req payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	hub, err := l.hub()
	if err != nil {
		return t.refused(Pending()), err
	}
	free, err := l.Bearers.Reserve(t.from)
	if err != nil {
		return l.outcome(t, Settlement{}, false, err)
	}
	before, err := l.credited(ctx, t)
	if err != nil {
		return l.outcome(t, Settlement{}, false, err)
	}
	if before != nil {
		l.metrics.settlement("replayed")
		return before.again()
	}
	d, err := l.entering(ctx, hub.AID(), t)
	if no := (*Refusal)(nil); errors.As(err, &no) && d.Hub != "" {
		err = l.unmoved(ctx, d.Hub, t, req, no)
	}
	if err != nil {
		return l.outcome(t, Settlement{}, false, err)
	}
	return l.send(ctx, d, t, req, free)
}

// unmoved lets a payment be refused only where its ledger has not moved it: it may
// have been asked before, when there still was room or the payee was still here, and
// its answer lost. Then it is not credited yet, and that is no refusal.
func (l *Ledger) unmoved(ctx context.Context, peer string, t tender, req payment.FacilitatorRequest, no *Refusal) error {
	if !slices.Contains(l.Peers.All(), peer) {
		return Pending() // paused: nobody can ask
	}
	if _, err := l.errand(t.from, peer); err != nil {
		return err
	}
	v, err := l.Peers.Verify(ctx, peer, req)
	switch {
	case err != nil:
		return fmt.Errorf("ask whether a payment moved that is refused here (%s): %w", no.Reason, err)
	case v.InvalidReason == payment.DuplicateNonce, v.InvalidReason == payment.SettlementPending:
		return Pending()
	}
	return no
}

// send has a peer settle, unless it just answered the same request, and is free where
// that moved something.
func (l *Ledger) send(ctx context.Context, d Debt, t tender, req payment.FacilitatorRequest, free func()) (payment.SettlementResponse, error) {
	what, err := sameRequest(req)
	if err != nil {
		return l.outcome(t, Settlement{}, false, err)
	}
	answer, fresh, err := l.settled.ask(ctx, l.Now, what, func(ctx context.Context) (payment.SettlementResponse, error) {
		done, ok := l.underway.begin(d.Hub, t.auth.Amount, d.Most-d.Owed)
		if !ok {
			return payment.SettlementResponse{}, AtLimit()
		}
		defer done()
		return l.carry(ctx, d.Hub, t, req)
	})
	switch {
	case err != nil:
		return l.outcome(t, Settlement{}, false, err)
	case !answer.Success:
		l.metrics.settlement("refused_by_peer")
	case fresh:
		l.metrics.settlement("settled")
		free()
	default:
		l.metrics.settlement("replayed")
	}
	return answer, nil
}

// credited is what is on record of a payment. It counts before anything else: that its
// ledger is cleared with no more takes nothing back.
func (l *Ledger) credited(ctx context.Context, t tender) (*PeerPayment, error) {
	if t.unread != nil || t.agrees() != nil {
		return nil, nil
	}
	return l.Store.PaymentOf(ctx, t.auth.ID())
}

// again is the answer that whoever brings a payment once more gets.
func (p PeerPayment) again() (payment.SettlementResponse, error) {
	answer, err := payment.ParseSettlement(p.Answer)
	if err == nil {
		extend(answer.Extensions, payment.ExtReplayed, true) // it has a receipt, so the map is there
	}
	return answer, err
}

// entering are the checks before anything is asked of the peer. A debt with a refusal
// is one of which this hub's own state is the reason, and that may change.
func (l *Ledger) entering(ctx context.Context, hub string, t tender) (d Debt, err error) {
	ledger, _ := payment.HubOf(t.accepted.Network)
	d, err = l.debt(ctx, ledger)
	switch {
	case err != nil:
		return d, err
	case d.Hub == "":
		return d, errNotCleared()
	}
	if err := t.enters(hub); err != nil {
		if !d.Open {
			err = errNotCleared()
		}
		return Debt{}, err
	}
	return d, l.welcome(ctx, d, t)
}

func errNotCleared() *Refusal {
	return refuse(payment.NetworkMismatch, "this hub takes no payments of that network")
}

// enters is K.3 as far as it can be said of a payment on another ledger, from step 4
// to step 6.
func (t tender) enters(hub string) error {
	if t.unread != nil {
		return t.unread
	}
	if err := payment.CheckAmount(t.auth.Amount); err != nil {
		return asRefusal(err)
	}
	if no := t.plausible(); no != nil {
		return no
	}
	if no := t.agrees(); no != nil {
		return no
	}
	if t.auth.PayTo == hub {
		return refuse(payment.PayeeMismatch, "money to the hub is redeemed, not settled")
	}
	return nil
}

// welcome holds a payment to what this hub takes now.
func (l *Ledger) welcome(ctx context.Context, d Debt, t tender) error {
	s, err := l.Store.Standing(ctx, t.question(l.Now()))
	switch {
	case err != nil:
		return err
	case !d.Open || !slices.Contains(l.Peers.All(), d.Hub):
		return errNotCleared()
	case !s.Known:
		return refuse(payment.PayeeMismatch, "the payee is no agent of this hub")
	case s.ReadOnly:
		return ReadOnly()
	case d.Owed > d.Most || t.auth.Amount > d.Most-d.Owed:
		return refuse(payment.SettlementFailed, "the payer's hub owes this one as much as it may")
	}
	return nil
}
