package ledger_test

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// redeems is a redemption of alice's.
func (b *bank) redeems(amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(b.alice, b.hub.AID(), b.hub.AID(), amount, b.clock)
}

// Nobody signs the request that brings a payment, and to look at one costs the same
// whatever is wrong with it: an address has so many of them, by whatever door.
func TestAnAddressHasPaymentsLookedAtAtARate(t *testing.T) {
	for _, door := range []struct {
		name  string
		bring func(b *bank, from string) (reason string, err error)
	}{
		{"verify", func(b *bank, from string) (string, error) {
			v, err := b.Verify(t.Context(), b.pays(1).With(forged).Request(t), from)
			return v.InvalidReason, err
		}},
		{"settle", func(b *bank, from string) (string, error) {
			s, err := b.Settle(t.Context(), b.pays(1).With(forged).Request(t), from)
			return s.ErrorReason, err
		}},
		{"redeem", func(b *bank, from string) (string, error) {
			_, err := b.Redeem(t.Context(), b.redeems(1).With(forged).Payload(t), "", from)
			return payment.SettlementPending, err
		}},
		{"gateway", func(b *bank, from string) (string, error) {
			o := ledger.Offer{Seller: b.bob.AID(), Capability: "text.digest", Price: 1, Network: payment.Network(b.hub.AID())}
			_, s, err := b.Buy(t.Context(), o, b.pays(1).With(forged).Payload(t), from)
			return s.ErrorReason, err
		}},
	} {
		b := newBank(t)
		b.Bearers = limiter(b, 2)
		for range 2 {
			if _, err := door.bring(b, "192.0.2.1"); errs.As(err) != nil {
				t.Errorf("%s within the rate: %v", door.name, err)
			}
		}
		reason, err := door.bring(b, "192.0.2.1")
		if e := errs.As(err); reason != payment.SettlementPending || e == nil || e.Kind != errs.TooMany || e.RetryAfter <= 0 {
			t.Errorf("%s beyond it: %s, %v; want it pending until some time", door.name, reason, err)
		}
		if _, err := door.bring(b, "192.0.2.2"); errs.As(err) != nil {
			t.Errorf("%s from elsewhere: %v", door.name, err)
		}
		b.clock = b.clock.Add(time.Second)
		if _, err := door.bring(b, "192.0.2.1"); errs.As(err) != nil {
			t.Errorf("%s a second later: %v", door.name, err)
		}
	}
}

// A shop settles for all its customers from one address: what moves is not counted
// there. What can be seen to be wrong without a look is not counted either.
func TestWhatMovesIsNotCountedByAddress(t *testing.T) {
	b := newBank(t)
	b.Bearers = limiter(b, 1)
	for range 5 {
		if s, refused := b.tries(b.pays(1), "192.0.2.1"); refused || !s.Success {
			t.Fatalf("a payment that moves: %+v", s)
		}
		if _, err := b.Redeem(t.Context(), b.redeems(1).Payload(t), "", "192.0.2.1"); err != nil {
			t.Fatalf("a redemption: %v", err)
		}
		other := b.pays(1).With(func(p *ledgertest.Payment) { p.Accepted.Scheme = "exact" })
		if s, refused := b.tries(other, "192.0.2.1"); refused || s.ErrorReason != payment.UnsupportedScheme {
			t.Fatalf("another scheme: %+v", s)
		}
	}
}

// A redemption is written down for good as a payment is.
func TestRedemptionsHaveTheRateOfTheirOwner(t *testing.T) {
	b := newBank(t)
	b.Payers = limiter(b, 2)
	first := b.redeems(1)
	for _, p := range []*ledgertest.Payment{first, b.redeems(1)} {
		if _, err := b.Redeem(t.Context(), p.Payload(t), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	third := b.redeems(1).Payload(t)
	if _, err := b.Redeem(t.Context(), third, "", ""); errs.KindOf(err) != errs.TooMany {
		t.Errorf("one more than the rate: %v", err)
	}
	if _, err := b.Redeem(t.Context(), first.Payload(t), "", ""); err != nil {
		t.Errorf("the first once more: %v", err)
	}
	b.clock = b.clock.Add(time.Second)
	if _, err := b.Redeem(t.Context(), third, "", ""); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// A peer that has not looked has not said that nothing moved.
func TestAPeerThatDidNotLookSaysNothing(t *testing.T) {
	b, n := newBorder(t)
	n.said = payment.VerifyResponse{InvalidReason: payment.SettlementPending}
	s, err := b.Settle(t.Context(), b.across(n, 1001).Request(t), "")
	if err != nil || s.ErrorReason != payment.SettlementPending {
		t.Errorf("%+v, %v, want it pending", s, err)
	}
}
