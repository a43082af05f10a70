package ledger

import (
	"crypto/ed25519"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// Bounds on what is kept of an authorization.
const (
	MaxAuthorization = 4 << 10 // bytes, as signed
	MaxInteraction   = 256
)

// tender is a payment under judgement: the option its payer accepted, what the
// payee wants it held to, and what was signed.
type tender struct {
	accepted, wanted payment.Requirements
	wire             []byte
	auth             payment.SignedAuthorization
	unread           *Refusal // why there is no auth
	from             string   // the address that brought it
}

func newTender(p payment.PaymentPayload, wanted payment.Requirements, from string) tender {
	t := tender{accepted: p.Accepted, wanted: wanted, from: from}
	wire, err := codec.DecodeB64(p.Payload.Authorization)
	if err == nil {
		t.wire = wire
		t.auth, err = payment.ParseAuthorization(wire)
	}
	switch {
	case err != nil:
		t.auth = payment.SignedAuthorization{}
		t.unread = refuse(payment.MalformedPayment, "the authorization cannot be read")
	case len(wire) > MaxAuthorization:
		t.unread = refuse(payment.MalformedPayment, "the authorization is too large to be kept")
	case len(t.auth.Interaction) > MaxInteraction, strings.ContainsRune(t.auth.Interaction, 0):
		t.unread = refuse(payment.MalformedPayment, "the interaction id cannot be kept")
	}
	return t
}

// tenderOf is the payment in a request to the facilitator.
func tenderOf(req payment.FacilitatorRequest, from string) tender {
	t := newTender(*req.PaymentPayload, *req.PaymentRequirements, from)
	if t.unread == nil && (req.X402Version != payment.X402Version || req.PaymentPayload.X402Version != payment.X402Version) {
		t.unread = refuse(payment.MalformedPayment, "the payment is of another version of x402 than 2")
	}
	return t
}

// legible reports whether the answer can name the transaction.
func (t tender) legible() bool { return t.auth.Body != nil }

// forHub are the steps 3 and 4 of wire 2, K.3, for the ledger of a hub.
func (t tender) forHub(hub string) *Refusal {
	own := payment.Network(hub)
	switch {
	case t.accepted.Scheme != payment.Scheme:
		return refuse(payment.UnsupportedScheme, "this ledger moves anet-credit")
	case t.accepted.Network != own:
		return refuse(payment.NetworkMismatch, "the accepted option is for another network")
	case t.unread != nil:
		return t.unread
	}
	if err := payment.CheckAmount(t.auth.Amount); err != nil {
		return asRefusal(err)
	}
	if t.auth.Network != own {
		return refuse(payment.NetworkMismatch, "the authorization is for another network")
	}
	return nil
}

// authentic is step 5: the payer is registered here, signed it, and gave it a
// window that is one. What was settled is held to the signature alone: a payer that
// left, was blocked or moved to another key since undoes nothing, and its payee may
// not have heard yet.
func (t tender) authentic(s Standing, replay func([]byte) (*identity.History, error)) (*identity.History, error) {
	settled := s.Settled != nil
	switch {
	case s.KEL == nil, s.Left && !settled:
		return nil, refuse(payment.UnknownPayer, "the payer is not registered at this hub")
	case s.Blocked && !settled:
		return nil, refuse(payment.UnknownPayer, "the payer is blocked by the hub's operator")
	case !identity.Plausible(s.KEL, t.auth.Env.Seq, t.auth.Preimage(), t.auth.Env.Sig):
		return nil, refuse(payment.InvalidSignature, "the signature does not verify")
	}
	h, err := replay(s.KEL)
	if err != nil {
		return nil, err
	}
	verify := t.auth.Verify
	if settled {
		verify = t.auth.Genuine
	}
	if err := verify(h); err != nil {
		return nil, asRefusal(err)
	}
	if err := t.auth.Check(); err != nil {
		return nil, asRefusal(err)
	}
	return h, nil
}

// plausible is what of step 5 can be said without the payer's key history, which
// another ledger has.
func (t tender) plausible() *Refusal {
	switch {
	case !identity.ValidAID(t.auth.Payer):
		return refuse(payment.UnknownPayer, "the payer is no agent id")
	case t.auth.Env.Signer != t.auth.Payer || len(t.auth.Env.Sig) != ed25519.SignatureSize:
		return refuse(payment.InvalidSignature, "the payer did not sign it")
	}
	if err := t.auth.Check(); err != nil {
		return asRefusal(err)
	}
	return nil
}

// agrees is step 6: what was signed, accepted and wanted is one thing.
func (t tender) agrees() *Refusal {
	wanted, err := payment.ParseAmount(t.wanted.Amount)
	switch {
	case err != nil:
		return refuse(payment.InvalidAmount, "the requirement's amount is no whole number of credits in range")
	case t.wanted.PayTo == "" || t.wanted.Network == "":
		return refuse(payment.InvalidRequirements, "the requirement names no payee or no network")
	case t.wanted.Scheme != t.accepted.Scheme:
		return refuse(payment.UnsupportedScheme, "the requirement is for another scheme than the accepted option")
	case t.accepted.Network != t.auth.Network || t.auth.Network != t.wanted.Network:
		return refuse(payment.NetworkMismatch, "requirement, accepted option and authorization name different networks")
	case t.auth.PayTo != t.wanted.PayTo || t.wanted.PayTo != t.accepted.PayTo:
		return refuse(payment.PayeeMismatch, "requirement, accepted option and authorization name different payees")
	case !identity.ValidAID(t.auth.PayTo):
		return refuse(payment.PayeeMismatch, "the payee is no agent id")
	case t.accepted.Amount != payment.FormatAmount(t.auth.Amount):
		return refuse(payment.InvalidAmount, "the authorization is for another amount than the accepted option")
	case t.auth.Amount < wanted:
		return refuse(payment.InvalidAmount, "the authorization is for less than is required")
	}
	return nil
}

// timely is step 8: the window is open, and the key that signed is still one.
func (t tender) timely(h *identity.History, now time.Time) *Refusal {
	if !payment.InWindow(t.auth.IssuedAt, t.auth.NotAfter, millis(now)) {
		return refuse(payment.ExpiredPayment, "the authorization is not valid now")
	}
	if from, ok := h.CurrentFrom(); !ok || t.auth.Env.Seq < from {
		return refuse(payment.InvalidSignature, "the key that signed is no longer the payer's")
	}
	return nil
}

// covered are the steps 9 and 10.
func (t tender) covered(s Standing) *Refusal {
	switch {
	case s.Bound != "":
		return Bound(s.Bound)
	case s.Balance < t.auth.Amount:
		return Short()
	}
	return nil
}

// Bound is the refusal of a second payment for one thing.
func Bound(original string) *Refusal {
	return &Refusal{Reason: payment.DuplicateBinding, Detail: "the payer has paid for this interaction", Original: original}
}

// Short is the refusal of what the payer does not have.
func Short() *Refusal {
	return refuse(payment.InsufficientFunds, "the payer's balance does not cover the amount")
}

// ReadOnly is the failure of whatever would move credits while the books wait to
// be audited.
func ReadOnly() error {
	return errs.New(errs.Unavailable, "ledger_read_only",
		"this hub's ledger was restored and is read only until its operator has audited it").After(time.Minute)
}

// question is what has to be known to judge a tender.
func (t tender) question(now time.Time) Question {
	q := Question{At: now, AuthID: t.auth.ID(), Payer: t.auth.Payer, PayTo: t.auth.PayTo, Interaction: t.auth.Interaction}
	if !identity.ValidAID(q.Payer) {
		q.Payer = "" // nobody, and nothing to look for
	}
	if !identity.ValidAID(q.PayTo) {
		q.PayTo = ""
	}
	return q
}
