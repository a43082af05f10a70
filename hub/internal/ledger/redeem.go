package ledger

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anet-hub/anet/shared/payment"
)

// Redeem takes credits out of circulation, as their owner signed it (wire 2, K.8), for
// whoever brings it from an address. The same authorization again gives the same
// redemption.
func (l *Ledger) Redeem(ctx context.Context, p payment.PaymentPayload, reference, from string) (r Redemption, err error) {
	t := newTender(p, p.Accepted, from)
	if t.legible() {
		r = Redemption{AuthID: t.auth.ID(), AID: t.auth.Payer, Amount: t.auth.Amount, Reference: reference}
	}
	kept, fresh, err := l.redeem(ctx, t, reference)
	no := (*Refusal)(nil)
	switch {
	case errors.As(err, &no):
		l.metrics.redemption(no.Reason)
		return r, err
	case err != nil:
		l.metrics.redemption(payment.SettlementPending)
		return r, err
	case fresh:
		l.metrics.redemption("redeemed")
	default:
		l.metrics.redemption("replayed")
	}
	return kept, nil
}

func (l *Ledger) redeem(ctx context.Context, t tender, reference string) (r Redemption, fresh bool, err error) {
	hub, err := l.hub()
	if err != nil {
		return r, false, err
	}
	if no := t.redeems(hub.AID(), reference); no != nil {
		return r, false, no
	}
	j, err := l.authorized(ctx, hub.AID(), t)
	if err != nil {
		return r, false, err
	}
	if j.Settled != nil {
		r, err = l.Store.Redemption(ctx, j.Settled.AuthID)
		return r, false, err
	}
	if err := l.open(t, j); err != nil {
		return r, false, err
	}
	s, err := l.sign(hub, t, "")
	if err != nil {
		return r, false, err
	}
	r = Redemption{AuthID: s.AuthID, AID: s.Payer, Amount: s.Amount, Reference: reference, At: s.At, Receipt: s.Receipt}
	fresh, err = l.writes(t, j, func() (fresh bool, err error) {
		r, fresh, err = l.Store.Redeem(ctx, s, r, l.seal)
		return fresh, err
	})
	return r, fresh, err
}

// redeems holds an authorization to being one of this redemption.
func (t tender) redeems(hub, reference string) *Refusal {
	switch {
	case !payment.ValidReference(reference):
		return refuse(payment.MalformedPayment, "a reference is one line of at most 256 bytes")
	case t.unread != nil:
		return t.unread
	case t.auth.PayTo != hub:
		return refuse(payment.PayeeMismatch, "a redemption pays the hub itself")
	case !payment.Redeems(t.auth.Interaction, reference):
		return refuse(payment.MalformedPayment, "the authorization was signed for another reference")
	}
	return nil
}

// printable is one line that can be kept.
func printable(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
