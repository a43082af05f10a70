package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/anet-hub/anet/shared/capability"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
)

// offerHolds is how long an option of the gateway's stands.
const offerHolds = 10 * time.Minute

// Offer is what a seller consents to sell at the gateway. Nobody but the seller
// makes one: it stands in a card that it signed.
type Offer struct {
	Seller, Capability string
	Price              uint64
	RedeemAt           string // where the seller takes vouchers
	Network            string
}

// Offer reads what an agent sells. Where there is nothing to buy it is NotFound;
// where there could be, and its card or its address does not hold, a Conflict.
func (l *Ledger) Offer(ctx context.Context, aid, capID string) (o Offer, err error) {
	hub, err := l.hub()
	if err != nil {
		return o, err
	}
	if !identity.ValidAID(aid) {
		return o, errs.New(errs.Invalid, "aid_malformed", "this is no AID").In("aid")
	}
	if !capability.Keepable(capID) {
		return o, errNotSold()
	}
	s, err := l.Store.Seller(ctx, aid, l.Now())
	switch {
	case err != nil:
		return o, err
	case s.Card == nil:
		return o, errNotSold()
	case s.Blocked:
		return o, errs.New(errs.Conflict, "seller_blocked", "the seller is blocked by the hub's operator")
	}
	c, err := l.sellerCard(aid, s)
	if err != nil {
		return o, err
	}
	price, ok := c.prices[capID]
	switch {
	case !ok:
		return o, errNotSold()
	case c.redeemAt == "":
		return o, errs.New(errs.Conflict, "seller_unreachable", "the seller names no address at which it takes vouchers")
	}
	return Offer{Seller: aid, Capability: capID, Price: price, RedeemAt: c.redeemAt, Network: payment.Network(hub.AID())}, nil
}

func errNotSold() error {
	return errs.New(errs.NotFound, "not_sold_here", "this agent does not sell that capability through the gateway")
}

// sellerCard verifies the stored card anew: keys may have been retired since.
func (l *Ledger) sellerCard(aid string, s Seller) (*stall, error) {
	c, err := l.vetted.admit(s, l.Replay, l.Now())
	if err == nil && c.subject == aid {
		return c, nil
	}
	return nil, errs.New(errs.Conflict, "seller_card_invalid", "the card in which the seller names its prices does not verify").Because(err)
}

// Option is the one way to pay an offer.
func (o Offer) Option() payment.Requirements {
	return payment.NewOption(o.Network, o.Seller, o.Price, offerHolds)
}

// Required is the quote.
func (o Offer) Required(problem string) payment.PaymentRequired {
	return payment.PaymentRequired{X402Version: payment.X402Version, Error: problem,
		Resource: &payment.Resource{URL: payment.CapabilityURL(o.Capability) + "@" + o.Seller,
			Description: o.Capability + " served by " + o.Seller},
		Accepts: []payment.Requirements{o.Option()}}
}

// takes holds both what was accepted and what was signed to the offer.
func (o Offer) takes(t tender) *Refusal {
	option := o.Option()
	switch a := t.accepted; {
	case t.unread != nil:
		return t.unread
	case a.Scheme != option.Scheme:
		return refuse(payment.UnsupportedScheme, "another scheme was accepted than is offered")
	case a.Network != option.Network:
		return refuse(payment.NetworkMismatch, "another network was accepted than is offered")
	case a.PayTo != o.Seller || t.auth.PayTo != o.Seller:
		return refuse(payment.PayeeMismatch, "the payment is to somebody else than the seller")
	case a.Amount != option.Amount || t.auth.Amount != o.Price:
		return refuse(payment.InvalidAmount, "the payment is of another amount than the price")
	case a != option:
		return refuse(payment.InvalidRequirements, "another option was accepted than is offered")
	}
	return nil
}

// Sale is what a buyer takes to the seller.
type Sale struct {
	Offer
	Voucher   []byte
	ExpiresAt uint64 // ms
}

// Buy settles a payment for an offer. The answer of the ledger is there in every
// case; the error is a *Refusal where nothing moved, a Conflict where the payment
// bought something else, and any other leaves the outcome open. A payment that
// bought this before gets the same voucher.
func (l *Ledger) Buy(ctx context.Context, o Offer, p payment.PaymentPayload, from string) (sale Sale, answer payment.SettlementResponse, err error) {
	t := newTender(p, o.Option(), from)
	if no := o.takes(t); no != nil {
		if sale, answer, found, err := l.Bought(ctx, o, p, from); found || err != nil {
			return sale, answer, err
		}
		answer, err = l.outcome(t, Settlement{}, false, no)
		return sale, answer, errors.Join(no, err)
	}
	s, fresh, failed := l.settle(ctx, t, o.Capability)
	if answer, _ = l.outcome(t, s, fresh, failed); failed != nil {
		return sale, answer, failed
	}
	if answer.Success && s.Capability != o.Capability {
		return sale, t.refused(refuse(payment.DuplicateNonce, "this payment was settled before")), errs.New(errs.Conflict, "payment_spent", "this payment was made for something else")
	}
	sale, err = o.sold(s)
	return sale, answer, err
}

func (o Offer) sold(s Settlement) (Sale, error) {
	v, err := payment.ParseVoucher(s.Voucher)
	return Sale{Offer: o, Voucher: s.Voucher, ExpiresAt: v.NotAfter}, err
}

// Bought finds what a payment bought of a seller, whatever has become of the seller and
// its prices since: a buyer that lost the first answer and is asked for another price
// would pay twice.
func (l *Ledger) Bought(ctx context.Context, o Offer, p payment.PaymentPayload, from string) (sale Sale, answer payment.SettlementResponse, found bool, err error) {
	t := newTender(p, p.Accepted, from)
	hub, err := l.hub()
	if err != nil {
		return sale, t.refused(Pending()), false, err
	}
	j, err := l.authorized(ctx, hub.AID(), t)
	switch no := (*Refusal)(nil); {
	case errors.As(err, &no):
		return sale, answer, false, nil
	case err != nil:
		return sale, t.refused(Pending()), false, err
	case j.Settled == nil, j.Settled.PayTo != o.Seller, j.Settled.Capability != o.Capability:
		return sale, answer, false, nil
	}
	answer, err = l.outcome(t, *j.Settled, false, nil)
	if err == nil {
		sale, err = o.sold(*j.Settled)
	}
	return sale, answer, err == nil, err
}

// Unknown is the answer to a payment of which nothing more could be found out.
func Unknown(p payment.PaymentPayload) payment.SettlementResponse {
	return newTender(p, p.Accepted, "").refused(Pending())
}

func signVoucher(hub *identity.Controller, s Settlement) ([]byte, error) {
	var nonce [16]byte
	rand.Read(nonce[:])
	wire, _, err := payment.SignVoucher(hub, payment.Voucher{AuthID: s.AuthID, Payer: s.Payer, PayTo: s.PayTo,
		Capability: s.Capability, Amount: s.Amount, Network: payment.Network(hub.AID()),
		NotAfter: millis(s.At.Add(payment.VoucherWindow)), Nonce: hex.EncodeToString(nonce[:])})
	return wire, err
}
