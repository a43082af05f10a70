package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/anet-hub/anet/shared/payment"
)

// extPayee tells where the payee of a settlement has its account: here, where the
// ledger credited it, so that nobody else does, or elsewhere. It is ours.
const (
	extPayee       = "anet.payee"
	payeeHere      = "here"
	payeeElsewhere = "elsewhere"
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

// carry has the peer settle, and credits. Whatever goes wrong once the peer was
// asked leaves the outcome open: the same payment finds it out.
func (l *Ledger) carry(ctx context.Context, peer string, t tender, req payment.FacilitatorRequest) (answer payment.SettlementResponse, err error) {
	giveBack, err := l.errand(t.from, peer)
	if err != nil {
		return answer, err
	}
	answer, err = l.Peers.Settle(ctx, peer, req)
	if err != nil {
		return answer, err
	}
	if answer = t.passOn(answer); !answer.Success {
		return answer, nil
	}
	p, err := l.received(peer, t, answer)
	if err != nil {
		return answer, fmt.Errorf("the answer of the hub %s: %w", peer, err)
	}
	if answer.Extensions[payment.ExtReplayed] == nil {
		giveBack()
	}
	there, err := l.creditedThere(ctx, p, answer)
	if err == nil && !there {
		err = l.TakePeerPayment(ctx, p)
	}
	return answer, err
}

// passOn is the answer of a peer without what is not a peer's to say: what the payer
// signed, and reasons that nobody knows. Those who ask here take both for this hub's word.
func (t tender) passOn(answer payment.SettlementResponse) payment.SettlementResponse {
	answer.Payer, answer.Transaction = t.auth.Payer, t.auth.ID()
	answer.Network, answer.Amount = t.auth.Network, payment.FormatAmount(t.auth.Amount)
	switch {
	case answer.Success:
		answer.ErrorReason = ""
	case !payment.Reason(answer.ErrorReason):
		answer.ErrorReason = payment.SettlementFailed
	}
	return answer
}

// creditedThere reports whether the peer has credited the payee itself. One that does
// not say so is asked whether it knows the payee: then it has.
func (l *Ledger) creditedThere(ctx context.Context, p PeerPayment, answer payment.SettlementResponse) (bool, error) {
	var where string
	_ = json.Unmarshal(answer.Extensions[extPayee], &where) // absent where the peer is not ours
	switch where {
	case payeeHere:
		return true, nil
	case payeeElsewhere:
		return false, nil
	}
	home, err := l.Peers.HomeOf(ctx, []string{p.Hub}, p.PayTo)
	return home == p.Hub, err
}

// TakePeerPayment credits a payment on a peer's ledger whose receipt was verified.
func (l *Ledger) TakePeerPayment(ctx context.Context, p PeerPayment) error {
	return l.Store.Credit(ctx, p, l.seal)
}

// received holds a receipt to the authorization, and to the key of the hub that the
// network names.
func (l *Ledger) received(peer string, t tender, answer payment.SettlementResponse) (p PeerPayment, err error) {
	r, ok, err := answer.Receipt()
	if err != nil || !ok {
		return p, errors.New("it has no receipt that can be read")
	}
	h, ok := l.Peers.History(peer)
	if !ok {
		return p, errors.New("the hub is no peer any more")
	}
	if err := r.Verify(h); err != nil || !r.Settles(t.auth) {
		return p, errors.New("its receipt is not for this payment")
	}
	p = PeerPayment{AuthID: t.auth.ID(), Hub: peer, Payer: t.auth.Payer, PayTo: t.auth.PayTo, Amount: t.auth.Amount, Signed: t.wire, At: l.now()}
	if p.Answer, err = json.Marshal(answer); err != nil {
		return p, err
	}
	p.Receipt, err = answer.ReceiptBytes()
	return p, err
}

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
