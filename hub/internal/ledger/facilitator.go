package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// Verify judges a payment, which came from an address, and moves nothing. A failure
// means that it was not judged: the answer to that is Pending, as it is of Settle.
func (l *Ledger) Verify(ctx context.Context, req payment.FacilitatorRequest, from string) (payment.VerifyResponse, error) {
	t := tenderOf(req, from)
	out := payment.VerifyResponse{IsValid: true}
	if t.legible() {
		out.Payer = t.auth.Payer
	}
	err := l.verify(ctx, t)
	switch no := (*Refusal)(nil); {
	case errors.As(err, &no):
		out.IsValid, out.InvalidReason = false, no.Reason
		return out, nil
	case err != nil:
		out.IsValid, out.InvalidReason = false, payment.SettlementPending
	}
	return out, err
}

func (l *Ledger) verify(ctx context.Context, t tender) error {
	hub, err := l.hub()
	if err != nil {
		return err
	}
	j, err := l.judge(ctx, hub.AID(), t)
	switch {
	case err != nil:
		return err
	case j.Settled != nil:
		return refuse(payment.DuplicateNonce, "this authorization was settled")
	}
	return l.open(t, j)
}

// judged is a payment that was looked at.
type judged struct {
	Standing
	keys *identity.History // of the payer
	free func()            // gives back what the look took of the rate of its address
}

// judge is wire 2, K.3, from step 2 to step 6.
func (l *Ledger) judge(ctx context.Context, hub string, t tender) (j judged, err error) {
	if t.wanted.PayTo == hub {
		return j, refuse(payment.PayeeMismatch, "money to the hub is redeemed, not settled")
	}
	return l.authorized(ctx, hub, t)
}

// authorized is judge from step 3 on, for whatever payee. Nobody signs these requests,
// and from here on each costs a look into the books and a signature: whoever moves
// something by it gives the token of its address back, as credits run out by themselves.
func (l *Ledger) authorized(ctx context.Context, hub string, t tender) (j judged, err error) {
	if no := t.forHub(hub); no != nil {
		return j, no
	}
	if j.free, err = l.Bearers.Reserve(t.from); err != nil {
		return j, err
	}
	if j.Standing, err = l.Store.Standing(ctx, t.question(l.Now())); err != nil {
		return j, err
	}
	if j.keys, err = t.authentic(j.Standing, l.Replay); err != nil {
		return j, err
	}
	if no := t.agrees(); no != nil {
		return j, no
	}
	return j, nil
}

// open is what remains to be checked of an authorization that was not settled.
// Books that wait to be audited may be wrong about a balance, so they give no
// answer that would be final.
func (l *Ledger) open(t tender, j judged) error {
	if j.ReadOnly {
		return ReadOnly()
	}
	if no := t.timely(j.keys, l.Now()); no != nil {
		return no
	}
	if no := t.covered(j.Standing); no != nil {
		return no
	}
	return nil
}

// Settle moves a payment, which came from an address, and answers with the receipt.
// A failure means that nothing is known of the outcome: the answer to that is
// Pending.
func (l *Ledger) Settle(ctx context.Context, req payment.FacilitatorRequest, from string) (payment.SettlementResponse, error) {
	t := tenderOf(req, from)
	if l.foreign(t) {
		return l.enter(ctx, t, req)
	}
	s, fresh, err := l.settle(ctx, t, "")
	return l.outcome(t, s, fresh, err)
}

// foreign reports whether a payment is for the ledger of another hub. What step 2
// or the scheme refuses is answered as any other.
func (l *Ledger) foreign(t tender) bool {
	hub := l.Key.Current()
	if hub == nil || t.wanted.PayTo == hub.AID() || t.accepted.Scheme != payment.Scheme {
		return false
	}
	of, _ := payment.HubOf(t.accepted.Network)
	_, peer := l.Peers.History(of)
	return peer && of != hub.AID()
}

// outcome makes the answer of what became of a payment.
func (l *Ledger) outcome(t tender, s Settlement, fresh bool, err error) (payment.SettlementResponse, error) {
	no := (*Refusal)(nil)
	switch {
	case errors.As(err, &no):
		l.metrics.settlement(no.Reason)
		return t.refused(no), nil
	case err != nil:
		l.metrics.settlement(payment.SettlementPending)
		return t.refused(Pending()), err
	case fresh:
		l.metrics.settlement("settled")
	default:
		l.metrics.settlement("replayed")
	}
	return t.accept(s, fresh), nil
}

// Pending says that the outcome is open.
func Pending() *Refusal {
	return refuse(payment.SettlementPending, "the outcome is not known: try again with the same payment, and with no other")
}

// settle walks through wire 2, K.3. What is bought at the gateway is written down
// with the settlement, so that one payment buys one thing.
func (l *Ledger) settle(ctx context.Context, t tender, capID string) (s Settlement, fresh bool, err error) {
	hub, err := l.hub()
	if err != nil {
		return s, false, err
	}
	j, err := l.judge(ctx, hub.AID(), t)
	if err != nil {
		return s, false, err
	}
	if j.Settled != nil {
		return *j.Settled, false, nil
	}
	if err := l.open(t, j); err != nil {
		return s, false, err
	}
	fresh, err = l.writes(t, j, func() (fresh bool, err error) {
		s, fresh, err = l.move(ctx, hub, t, j.Standing, capID)
		return fresh, err
	})
	return s, fresh, err
}

// writes counts what is written down for a payer. Its lines stay for ever, and a payment
// to and fro costs nobody anything: that is why there is a rate on them.
func (l *Ledger) writes(t tender, j judged, do func() (fresh bool, err error)) (fresh bool, err error) {
	giveBack, err := l.Payers.Reserve(t.auth.Payer)
	if err != nil {
		return false, err
	}
	if fresh, err = do(); fresh {
		j.free()
	} else {
		giveBack()
	}
	return fresh, err
}

// move writes a payment down that nothing speaks against.
func (l *Ledger) move(ctx context.Context, hub *identity.Controller, t tender, st Standing, capID string) (s Settlement, fresh bool, err error) {
	if s, err = l.sign(hub, t, capID); err != nil {
		return s, false, err
	}
	if s.DueTo, err = l.home(ctx, t, st); err != nil {
		return s, false, err
	}
	if s.DueTo != "" {
		return l.Store.SettleAbroad(ctx, s, l.seal)
	}
	return l.Store.Settle(ctx, s)
}

// sign makes the settlement of a tender, with its receipt. Whether it counts is
// decided where it is stored.
func (l *Ledger) sign(hub *identity.Controller, t tender, capID string) (s Settlement, err error) {
	a := t.auth
	s = Settlement{AuthID: a.ID(), Payer: a.Payer, PayTo: a.PayTo, Amount: a.Amount, Interaction: a.Interaction,
		Signed: t.wire, At: l.now(), Capability: capID}
	s.Receipt, _, err = payment.SignReceipt(hub, payment.Receipt{AuthID: s.AuthID, Payer: a.Payer, PayTo: a.PayTo,
		Amount: a.Amount, Network: a.Network, SettleAt: millis(s.At)})
	if err == nil && capID != "" {
		s.Voucher, err = signVoucher(hub, s)
	}
	return s, err
}

// accept is the answer that settled payments get, the first time and ever after.
func (t tender) accept(s Settlement, fresh bool) payment.SettlementResponse {
	out := payment.SettlementResponse{Success: true, Payer: s.Payer, Transaction: s.AuthID, Network: t.auth.Network,
		Amount: payment.FormatAmount(s.Amount), Extensions: payment.Extensions{}}
	extend(out.Extensions, payment.ExtReceipt, codec.EncodeB64(s.Receipt))
	where := payeeHere
	if s.DueTo != "" {
		where = payeeElsewhere
	}
	extend(out.Extensions, extPayee, where)
	if !fresh {
		extend(out.Extensions, payment.ExtReplayed, true)
	}
	return out
}

// refused names the transaction whenever it can be read (K.3).
func (t tender) refused(no *Refusal) payment.SettlementResponse {
	out := payment.SettlementResponse{ErrorReason: no.Reason, Network: t.accepted.Network, Extensions: payment.Extensions{}}
	if t.legible() {
		out.Transaction, out.Payer, out.Amount = t.auth.ID(), t.auth.Payer, payment.FormatAmount(t.auth.Amount)
	}
	extend(out.Extensions, payment.ExtErrorDetail, no.Detail)
	if no.Original != "" {
		extend(out.Extensions, payment.ExtOriginal, no.Original)
	}
	return out
}

func extend(e payment.Extensions, name string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // a text or true
	}
	e[name] = raw
}
