package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/anet-hub/anet/shared/payment"
)

// extPayee tells where the payee of a settlement has its account: here, where the
// ledger credited it, so that nobody else does, or elsewhere. It is ours.
const (
	extPayee       = "anet.payee"
	payeeHere      = "here"
	payeeElsewhere = "elsewhere"
)

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
