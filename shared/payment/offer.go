package payment

import (
	"time"

	"github.com/anet-hub/anet/shared/codec"
)

// maxPayload bounds a payment read from a peer. The authorization inside is a
// few hundred bytes.
const maxPayload = 16 << 10

// Offer is what a payee holds a payment to before it contacts the ledger.
type Offer struct {
	Quote   PaymentRequired
	Open    bool // nothing was paid yet, and nothing is being settled
	Expires time.Time
	Self    string // the payee
	Payer   string // who asked
	Binding string
}

// Given is a payment that an offer was made of.
type Given struct {
	Payload PaymentPayload
	Wanted  Requirements // the option of the quote that it pays
	Auth    SignedAuthorization
}

// Legible reports whether the authorization could be read.
func (g Given) Legible() bool { return g.Auth.Body != nil }

// Check goes through section K.6.4 in its order. What could be read of the
// payment comes back beside an error, too.
func (o Offer) Check(raw []byte, now time.Time) (g Given, err error) {
	if len(raw) == 0 || len(raw) > maxPayload {
		return g, refuse(MalformedPayment, "the payment is missing or larger than %d bytes", maxPayload)
	}
	if g.Payload, err = ParsePayload(raw); err != nil {
		return g, err
	}
	auth, unreadable := g.Payload.Authorization()
	if unreadable == nil {
		g.Auth = auth
	}
	quoted := false
	g.Wanted, quoted = o.Quote.Option(g.Payload.Accepted)
	switch {
	case !quoted:
		return g, refuse(NetworkMismatch, "the payment is for no option of the quote")
	case unreadable != nil:
		return g, unreadable
	case !o.Open:
		return g, refuse(NoPendingQuote, "no quote is open for this task")
	case !now.Before(o.Expires):
		return g, refuse(QuoteExpired, "the quote has expired")
	}
	return g, o.terms(g, now)
}

// terms compares what was signed with what was quoted and accepted.
func (o Offer) terms(g Given, now time.Time) error {
	a, accepted := g.Auth.Authorization, g.Payload.Accepted
	if a.PayTo != o.Self || accepted.PayTo != o.Self {
		return refuse(PayeeMismatch, "the payment goes to another payee")
	}
	if a.Payer != o.Payer {
		return refuse(PayerMismatch, "the payment is signed by another than who asked")
	}
	if a.Interaction != o.Binding {
		return refuse(BindingMismatch, "the payment belongs to another task")
	}
	if a.Network != accepted.Network {
		return refuse(NetworkMismatch, "the authorization is for another network than the accepted option")
	}
	if err := o.amount(g); err != nil {
		return err
	}
	if a.Check() != nil || !InWindow(a.IssuedAt, a.NotAfter, uint64(now.UnixMilli())) {
		return refuse(ExpiredPayment, "the authorization is not valid now")
	}
	return nil
}

func (o Offer) amount(g Given) error {
	price, err := ParseAmount(g.Wanted.Amount)
	if err != nil {
		return err
	}
	if err := CheckAmount(g.Auth.Amount); err != nil {
		return err
	}
	if g.Payload.Accepted.Amount != FormatAmount(g.Auth.Amount) || g.Auth.Amount < price {
		return refuse(InvalidAmount, "the amount is not the accepted one, or below the quote")
	}
	return nil
}

// Request is what the ledger is given: the authorization and the bare
// requirements, and nothing of what it is for.
func (g Given) Request() FacilitatorRequest {
	bare := PaymentPayload{X402Version: X402Version, Accepted: g.Payload.Accepted, Payload: g.Payload.Payload}
	return FacilitatorRequest{X402Version: X402Version, PaymentPayload: &bare, PaymentRequirements: &g.Wanted}
}

// Refused is the answer that a payee gives itself, in the form of a ledger's.
func (g Given) Refused(reason string) SettlementResponse {
	out := SettlementResponse{ErrorReason: reason, Network: g.Payload.Accepted.Network}
	if g.Legible() {
		out.Transaction, out.Payer, out.Amount = g.Auth.ID(), g.Auth.Payer, FormatAmount(g.Auth.Amount)
	}
	return out
}

// ParseResponses reads the receipts that a provider shows.
func ParseResponses(raw []byte) (all []SettlementResponse, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	return all, malformed(codec.UnmarshalJSON(raw, &all), "list of receipts")
}
