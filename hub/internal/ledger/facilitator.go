package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// Verify judges a payment and moves nothing.
func (l *Ledger) Verify(ctx context.Context, req payment.FacilitatorRequest) (payment.VerifyResponse, error) {
	t := tenderOf(req)
	out := payment.VerifyResponse{IsValid: true}
	if t.legible() {
		out.Payer = t.auth.Payer
	}
	err := l.verify(ctx, t)
	if no := (*Refusal)(nil); errors.As(err, &no) {
		out.IsValid, out.InvalidReason = false, no.Reason
		return out, nil
	}
	return out, err
}

func (l *Ledger) verify(ctx context.Context, t tender) error {
	hub, err := l.hub()
	if err != nil {
		return err
	}
	s, h, err := l.judge(ctx, hub.AID(), t)
	switch {
	case err != nil:
		return err
	case s.Settled != nil:
		return refuse(payment.DuplicateNonce, "this authorization was settled")
	}
	return l.open(t, s, h)
}

// judge is wire 2, K.3, from step 2 to step 6.
func (l *Ledger) judge(ctx context.Context, hub string, t tender) (s Standing, h *identity.History, err error) {
	if t.wanted.PayTo == hub {
		return s, nil, refuse(payment.PayeeMismatch, "money to the hub is redeemed, not settled")
	}
	return l.authorized(ctx, hub, t)
}

// authorized is judge from step 3 on, for whatever payee.
func (l *Ledger) authorized(ctx context.Context, hub string, t tender) (s Standing, h *identity.History, err error) {
	if no := t.forHub(hub); no != nil {
		return s, nil, no
	}
	if s, err = l.Store.Standing(ctx, t.question(l.Now())); err != nil {
		return s, nil, err
	}
	if h, err = t.authentic(s, l.Replay); err != nil {
		return s, nil, err
	}
	if no := t.agrees(); no != nil {
		return s, nil, no
	}
	return s, h, nil
}

// open is what remains to be checked of an authorization that was not settled.
// Books that wait to be audited may be wrong about a balance, so they give no
// answer that would be final.
func (l *Ledger) open(t tender, s Standing, h *identity.History) error {
	if s.ReadOnly {
		return ReadOnly()
	}
	if no := t.timely(h, l.Now()); no != nil {
		return no
	}
	if no := t.covered(s); no != nil {
		return no
	}
	return nil
}

// Settle moves a payment, which came from an address, and answers with the receipt.
// A failure means that nothing is known of the outcome: the answer to that is
// Pending.
func (l *Ledger) Settle(ctx context.Context, req payment.FacilitatorRequest, from string) (payment.SettlementResponse, error) {
	t := tenderOf(req)
	t.from = from
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
	st, h, err := l.judge(ctx, hub.AID(), t)
	if err != nil {
		return s, false, err
	}
	if st.Settled != nil {
		return *st.Settled, false, nil
	}
	if err := l.open(t, st, h); err != nil {
		return s, false, err
	}
	giveBack, err := l.Payers.Reserve(t.auth.Payer)
	if err != nil {
		return s, false, err
	}
	if s, fresh, err = l.move(ctx, hub, t, st, capID); !fresh {
		giveBack()
	}
	return s, fresh, err
}

// move writes a payment down that nothing speaks against. Its lines stay for ever, and
// a payment to and fro costs nobody anything: that is why there is a rate on them.
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
