package payment

import "time"

// Status is how far the payment for a task has come, as both sides name it in
// the metadata of their messages (wire 2, section K.6).
type Status string

// The statuses. The requester says the second and the last, its provider the
// others.
const (
	StatusRequired  Status = "payment-required"
	StatusSubmitted Status = "payment-submitted"
	StatusVerified  Status = "payment-verified"
	StatusCompleted Status = "payment-completed"
	StatusFailed    Status = "payment-failed"
	StatusRejected  Status = "payment-rejected"
)

// Reasons of a payee, beside those of the ledger.
const (
	NoPendingQuote  = "no_pending_quote"
	QuoteExpired    = "quote_expired"
	PayerMismatch   = "payer_mismatch"
	BindingMismatch = "binding_mismatch"
)

// errorCodes are the words that other clients know for a reason.
var errorCodes = map[string]string{
	InsufficientFunds: "INSUFFICIENT_FUNDS",
	InvalidSignature:  "INVALID_SIGNATURE",
	ExpiredPayment:    "EXPIRED_PAYMENT",
	QuoteExpired:      "EXPIRED_PAYMENT",
	DuplicateNonce:    "DUPLICATE_NONCE",
	DuplicateBinding:  "DUPLICATE_NONCE",
	NetworkMismatch:   "NETWORK_MISMATCH",
	InvalidAmount:     "INVALID_AMOUNT",
}

// ErrorCode is what x402.payment.error says of a reason.
func ErrorCode(reason string) string {
	if code, ok := errorCodes[reason]; ok {
		return code
	}
	return "SETTLEMENT_FAILED"
}

// CapabilityURL names a capability as the resource of a quote.
func CapabilityURL(capID string) string { return "anet:capability/" + capID }

// Window is how long an authorization holds from when it was signed.
const Window = 5 * time.Minute

// NewQuote offers a capability for a price on each of the networks, in their
// order.
func NewQuote(capID, description, payTo string, price uint64, networks []string) PaymentRequired {
	q := PaymentRequired{X402Version: X402Version, Resource: &Resource{URL: CapabilityURL(capID), Description: description}}
	for _, network := range networks {
		q.Accepts = append(q.Accepts, NewOption(network, payTo, price, Window))
	}
	return q
}

// Option finds the way of paying that was accepted among those quoted: scheme,
// network and asset name it.
func (q PaymentRequired) Option(accepted Requirements) (Requirements, bool) {
	for _, o := range q.Accepts {
		if o.Scheme == accepted.Scheme && o.Network == accepted.Network && o.Asset == accepted.Asset {
			return o, true
		}
	}
	return Requirements{}, false
}

// On is the way of paying with the credits of a network.
func (q PaymentRequired) On(network string) (Requirements, bool) {
	return q.Option(Requirements{Scheme: Scheme, Network: network, Asset: Asset})
}
