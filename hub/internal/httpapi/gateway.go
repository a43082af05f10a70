package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Words of the gateway to who reads a body.
const (
	howToPay    = "send the same request with a PAYMENT-SIGNATURE header: base64 of an x402 payment with one of these options; the answer holds a voucher to take to redeem_at"
	howToRedeem = "POST {voucher, capability, args} as JSON to redeem_at before expires_at; asking here again with the same payment gives the same voucher"
)

// pendingAfter is when to ask again for an outcome that is not known.
const pendingAfter = 5 * time.Second

// resource serves GET /x402/resource/{aid}/{capability} (wire 2, K.7). Nothing in
// the answer is for anybody else, so no cache keeps it.
func (p *Payments) resource(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	pay, given, malformed := presented(r)
	o, err := p.Ledger.Offer(r.Context(), aidOf(r), capabilityOf(r))
	switch {
	case err != nil && given && malformed == nil:
		return p.gone(w, r, pay, err)
	case err != nil:
		return err
	case !given:
		return wanted(w, o, nil)
	case malformed != nil:
		return p.malformed(w, "the payment header cannot be read: it is base64 of an x402 payment of version 2, once")
	}
	return p.sell(w, r, o, pay)
}

// unnamed answers an address at the gateway that lacks the agent or the capability: that
// is a mistake of who asks, and says nothing of what is sold here (K.7).
func unnamed(w http.ResponseWriter, r *http.Request) error {
	named := strings.Split(strings.Trim(chi.RouteContext(r.Context()).RoutePath, "/"), "/")
	if len(named) > 1 {
		return notFound(w, r)
	}
	return errs.New(errs.Invalid, "resource_incomplete", "what is sold is at /x402/resource/{aid}/{capability}: name both")
}

// gone answers a payment for what is not sold any more: it may have been, and paid.
func (p *Payments) gone(w http.ResponseWriter, r *http.Request, pay payment.PaymentPayload, cause error) error {
	if unanswered(cause) {
		return p.pending(w, r, ledger.Unknown(pay), cause)
	}
	o := ledger.Offer{Seller: aidOf(r), Capability: capabilityOf(r)}
	sale, answer, found, err := p.Ledger.Bought(r.Context(), o, pay, p.api.clientBucket(r))
	switch {
	case err != nil:
		return p.pending(w, r, answer, err)
	case !found:
		return cause
	}
	return sold(w, sale, answer)
}

// presented reads the payment of a request, if there is one. A header that says
// nothing is no missing header: its sender believes to have paid.
func presented(r *http.Request) (pay payment.PaymentPayload, given bool, err error) {
	values := r.Header.Values(payment.HeaderSignature)
	switch len(values) {
	case 0:
		return pay, false, nil
	case 1:
		pay, err = payment.ParsePayloadHeader(values[0])
		return pay, true, err
	}
	return pay, true, errors.New("several payment headers")
}

func capabilityOf(r *http.Request) string {
	raw := chi.URLParam(r, "capability")
	if id, err := url.PathUnescape(raw); err == nil {
		return id
	}
	return raw
}

// unanswered reports whether a failure leaves open what became of a payment.
func unanswered(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Internal || kind == errs.Unavailable || kind == errs.TooMany
}

// sell settles.
func (p *Payments) sell(w http.ResponseWriter, r *http.Request, o ledger.Offer, pay payment.PaymentPayload) error {
	sale, answer, err := p.Ledger.Buy(r.Context(), o, pay, p.api.clientBucket(r))
	no := (*ledger.Refusal)(nil)
	switch {
	case errors.As(err, &no) && no.Reason == payment.MalformedPayment:
		return p.malformed(w, no.Detail)
	case errors.As(err, &no):
		return errors.Join(setHeader(w, payment.HeaderResponse, answer), wanted(w, o, no))
	case err != nil && unanswered(err):
		return p.pending(w, r, answer, err)
	}
	if err != nil {
		return errors.Join(err, setHeader(w, payment.HeaderResponse, answer))
	}
	return sold(w, sale, answer)
}

// sold hands out the voucher.
func sold(w http.ResponseWriter, sale ledger.Sale, answer payment.SettlementResponse) error {
	if err := setHeader(w, payment.HeaderResponse, answer); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Sold{Voucher: sale.Voucher, RedeemAt: sale.RedeemAt, Capability: sale.Capability,
		Provider: sale.Seller, Transaction: answer.Transaction, ExpiresAt: sale.ExpiresAt, How: howToRedeem})
}

// wanted quotes an offer, with what was wrong with a payment for it.
func wanted(w http.ResponseWriter, o ledger.Offer, no *ledger.Refusal) error {
	e, problem := errs.New(errs.PaymentRequired, "payment_required", "this is sold for %d credits", o.Price), ""
	if no != nil {
		e, problem = errs.New(errs.PaymentRequired, no.Reason, "%s", no.Detail), no.Reason
	}
	q := o.Required(problem)
	return errors.Join(setHeader(w, payment.HeaderRequired, q), e.With("x402Version", q.X402Version).With("accepts", q.Accepts).
		With("resource", q.Resource).With("redeem_at", o.RedeemAt).With("how", howToPay))
}

// malformed answers a payment that nobody could take for one.
func (p *Payments) malformed(w http.ResponseWriter, detail string) error {
	answer := payment.SettlementResponse{ErrorReason: payment.MalformedPayment}
	return errors.Join(setHeader(w, payment.HeaderResponse, answer),
		errs.New(errs.Invalid, "malformed_payment", "%s", detail).In(payment.HeaderSignature))
}

// pending answers where the outcome is not known, and logs why. It is no 402: a
// client that gets one signs a second payment.
func (p *Payments) pending(w http.ResponseWriter, r *http.Request, answer payment.SettlementResponse, cause error) error {
	e := p.api.explain(w, r, cause)
	if e == nil {
		return cause
	}
	return errors.Join(setHeader(w, payment.HeaderResponse, answer),
		errs.New(errs.Unavailable, "settlement_pending", "the outcome is not known: send the same payment again, and no other").
			After(max(pendingAfter, e.RetryAfter)).With("transaction", answer.Transaction))
}

func setHeader(w http.ResponseWriter, name string, v any) error {
	value, err := payment.EncodeHeader(v)
	if err == nil {
		w.Header().Set(name, value)
	}
	return err
}
