// Package ledgertest makes payments and keeps the simplest books there are, for
// tests of the ledger's rules, of its store and of its HTTP face.
package ledgertest

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// Payment is one on its way, to be changed before it is signed.
type Payment struct {
	Auth     payment.Authorization
	Accepted payment.Requirements
	Wanted   payment.Requirements
	Signer   *identity.Controller
	Forged   bool // the signature does not verify
	Raw      string
	Version  int // of x402, 0 for ours
}

// Pay is a payment as it should be.
func Pay(from *identity.Controller, to, hub string, amount uint64, at time.Time) *Payment {
	option := payment.NewOption(payment.Network(hub), to, amount, 10*time.Minute)
	var nonce [12]byte
	rand.Read(nonce[:])
	return &Payment{
		Auth: payment.Authorization{Payer: from.AID(), PayTo: to, Amount: amount, Network: option.Network,
			Nonce: hex.EncodeToString(nonce[:])}.Issued(at),
		Accepted: option, Wanted: option, Signer: from,
	}
}

// For binds the payment to one thing.
func (p *Payment) For(interaction string) *Payment {
	p.Auth.Interaction = interaction
	return p
}

// With changes it.
func (p *Payment) With(change func(*Payment)) *Payment {
	change(p)
	return p
}

// Payload signs it.
func (p *Payment) Payload(t testing.TB) payment.PaymentPayload {
	t.Helper()
	out := payment.PaymentPayload{X402Version: cmp.Or(p.Version, payment.X402Version), Accepted: p.Accepted}
	if out.Payload.Authorization = p.Raw; p.Raw != "" {
		return out
	}
	wire, _, err := identity.SignObject(p.Signer, p.Auth)
	if err != nil {
		t.Fatal(err)
	}
	if p.Forged {
		wire[len(wire)-1] ^= 1
	}
	out.Payload.Authorization = codec.EncodeB64(wire)
	return out
}

// Request is what a payee asks the facilitator.
func (p *Payment) Request(t testing.TB) payment.FacilitatorRequest {
	t.Helper()
	payload := p.Payload(t)
	return payment.FacilitatorRequest{X402Version: payment.X402Version, PaymentPayload: &payload, PaymentRequirements: &p.Wanted}
}

// ID is the transaction it makes.
func (p *Payment) ID(t testing.TB) string {
	t.Helper()
	_, id, err := identity.SignObject(p.Signer, p.Auth)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
