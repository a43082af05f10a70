package payment

import (
	"crypto/rand"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// Checklist 57: what a payee looks at before it contacts the ledger, in the order
// of section K.6.4. Each row spoils one thing more than the row below it, so that
// a check out of its turn would give another reason.
func TestOfferChecksInOrder(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	payer, err := identity.NewController(rand.Reader, now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	type trial struct {
		offer    Offer
		auth     Authorization
		accepted Requirements
		unread   bool
	}
	good := func() trial {
		quote := NewQuote("job", "A job.", "shop", 5, []string{"hub:own", "hub:other"})
		return trial{
			offer:    Offer{Quote: quote, Open: true, Expires: now.Add(time.Hour), Self: "shop", Payer: payer.AID(), Binding: "b"},
			auth:     Authorization{Payer: payer.AID(), PayTo: "shop", Amount: 5, Network: "hub:own", Nonce: "n", Interaction: "b"}.Issued(now),
			accepted: quote.Accepts[0],
		}
	}
	steps := []struct {
		spoil  func(*trial)
		reason string
	}{
		{func(x *trial) { x.accepted.Network = "hub:nobody's" }, NetworkMismatch},
		{func(x *trial) { x.unread = true }, MalformedPayment},
		{func(x *trial) { x.offer.Open = false }, NoPendingQuote},
		{func(x *trial) { x.offer.Expires = now }, QuoteExpired},
		{func(x *trial) { x.auth.PayTo = "thief" }, PayeeMismatch},
		{func(x *trial) { x.offer.Payer = "somebody" }, PayerMismatch},
		{func(x *trial) { x.auth.Interaction = "of another task" }, BindingMismatch},
		{func(x *trial) { x.auth.Network = "hub:other" }, NetworkMismatch},
		{func(x *trial) { x.auth.Amount = 4 }, InvalidAmount},
		{func(x *trial) { x.auth = x.auth.Issued(now.Add(-2 * Window)) }, ExpiredPayment},
	}
	check := func(x trial) error {
		wire, _, err := identity.SignObject(payer, x.auth)
		if err != nil {
			t.Fatal(err)
		}
		if x.unread {
			wire = []byte("no authorization")
		}
		raw, err := json.Marshal(NewPayload(x.accepted, wire))
		if err != nil {
			t.Fatal(err)
		}
		_, err = x.offer.Check(raw, now)
		return err
	}
	if err := check(good()); err != nil {
		t.Fatalf("a good payment: %v", err)
	}
	for i, first := range steps {
		x := good()
		for _, s := range steps[i:] {
			s.spoil(&x)
		}
		if err := check(x); !errs.Is(err, first.reason) {
			t.Errorf("step %d: %v, want %s", i+1, err, first.reason)
		}
		x = good()
		first.spoil(&x)
		if err := check(x); !errs.Is(err, first.reason) {
			t.Errorf("step %d alone: %v, want %s", i+1, err, first.reason)
		}
	}
}

// What is close to good and is not, and what is better than asked for.
func TestOfferEdges(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	payer, err := identity.NewController(rand.Reader, now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	ms := uint64(now.UnixMilli())
	for _, tt := range []struct {
		name   string
		change func(*Authorization, *Requirements)
		reason string
	}{
		{"more than the price", func(a *Authorization, r *Requirements) { a.Amount, r.Amount = 6, "6" }, ""},
		{"more than was accepted", func(a *Authorization, _ *Requirements) { a.Amount = 6 }, InvalidAmount},
		{"an amount beyond all", func(a *Authorization, r *Requirements) { a.Amount, r.Amount = math.MaxUint64, "18446744073709551615" }, InvalidAmount},
		{"nothing", func(a *Authorization, r *Requirements) { a.Amount, r.Amount = 0, "0" }, InvalidAmount},
		{"an amount written otherwise", func(_ *Authorization, r *Requirements) { r.Amount = "05" }, InvalidAmount},
		{"another scheme", func(_ *Authorization, r *Requirements) { r.Scheme = "exact" }, NetworkMismatch},
		{"another asset", func(_ *Authorization, r *Requirements) { r.Asset = "USDC" }, NetworkMismatch},
		{"another payee accepted", func(_ *Authorization, r *Requirements) { r.PayTo = "thief" }, PayeeMismatch},
		{"bound to nothing", func(a *Authorization, _ *Requirements) { a.Interaction = "" }, BindingMismatch},
		{"not begun, within the skew", func(a *Authorization, _ *Requirements) { a.IssuedAt, a.NotAfter = ms+120_000, ms+200_000 }, ""},
		{"not begun", func(a *Authorization, _ *Requirements) { a.IssuedAt, a.NotAfter = ms+120_001, ms+200_000 }, ExpiredPayment},
		{"no time at all", func(a *Authorization, _ *Requirements) { a.NotAfter = a.IssuedAt }, ExpiredPayment},
		{"for ever", func(a *Authorization, _ *Requirements) { a.NotAfter = math.MaxUint64 }, ""},
	} {
		quote := NewQuote("job", "", "shop", 5, []string{"hub:own"})
		a := Authorization{Payer: payer.AID(), PayTo: "shop", Amount: 5, Network: "hub:own", Nonce: "n", Interaction: "b"}.Issued(now)
		accepted := quote.Accepts[0]
		tt.change(&a, &accepted)
		wire, _, err := identity.SignObject(payer, a)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(NewPayload(accepted, wire))
		if err != nil {
			t.Fatal(err)
		}
		o := Offer{Quote: quote, Open: true, Expires: now.Add(time.Hour), Self: "shop", Payer: payer.AID(), Binding: "b"}
		got, err := o.Check(raw, now)
		if tt.reason == "" && err != nil || tt.reason != "" && !errs.Is(err, tt.reason) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.reason)
		}
		if !got.Legible() || got.Refused("x").Transaction != got.Auth.ID() {
			t.Errorf("%s: the answer does not name the transaction", tt.name)
		}
	}
}

func TestErrorCode(t *testing.T) {
	for reason, want := range map[string]string{
		InsufficientFunds: "INSUFFICIENT_FUNDS", InvalidSignature: "INVALID_SIGNATURE", ExpiredPayment: "EXPIRED_PAYMENT",
		QuoteExpired: "EXPIRED_PAYMENT", DuplicateNonce: "DUPLICATE_NONCE", DuplicateBinding: "DUPLICATE_NONCE",
		NetworkMismatch: "NETWORK_MISMATCH", InvalidAmount: "INVALID_AMOUNT", PayerMismatch: "SETTLEMENT_FAILED", "": "SETTLEMENT_FAILED",
	} {
		if got := ErrorCode(reason); got != want {
			t.Errorf("ErrorCode(%q) = %s, want %s", reason, got, want)
		}
	}
}

func FuzzOffer(f *testing.F) {
	quote := NewQuote("job", "", "shop", 5, []string{"hub:own"})
	good, err := json.Marshal(NewPayload(quote.Accepts[0], []byte{0xa0}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"x402Version":2,"accepted":{"amount":"5","AMOUNT":"6"},"payload":{"authorization":""}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := Offer{Quote: quote, Open: true, Expires: time.UnixMilli(2), Self: "shop", Payer: "p", Binding: "b"}
		if _, err := o.Check(raw, time.UnixMilli(1)); err != nil && (errs.As(err) == nil || errs.As(err).Reason == "") {
			t.Errorf("refused without a reason: %v", err)
		}
	})
}
