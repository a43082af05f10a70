package voucher

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

// Reasons of a purchase. After Pending nobody knows whether the credits moved, and
// the same payment has to be brought again.
const (
	Pending            = "purchase_pending"
	GatewayUnreachable = "gateway_unreachable"
)

// Quote asks what a call costs. Nothing is signed yet.
func (l *Line) Quote(ctx context.Context, d Deal) (Deal, payment.PaymentRequired, error) {
	var q payment.PaymentRequired
	a, _, err := l.send(ctx, http.MethodGet, d.At.String(), nil, nil)
	if err != nil {
		return d, q, unreachable(err)
	}
	if a.status != http.StatusPaymentRequired {
		return d, q, notSold(a)
	}
	raw, err := codec.DecodeB64(a.header.Get(payment.HeaderRequired))
	if err == nil {
		q, err = payment.ParseRequired(raw)
	}
	if err != nil {
		return d, q, badQuote("it cannot be read").Because(err)
	}
	d, err = d.meets(q)
	return d, q, err
}

func unreachable(err error) error {
	return errs.New(errs.Unavailable, GatewayUnreachable, "the gateway cannot be reached").Because(err)
}

// notSold is any answer in the place of a quote.
func notSold(a answer) error {
	switch {
	case a.status < 300:
		return errs.New(errs.Forbidden, "nothing_to_pay", "what is at this address costs nothing (%d); no voucher is sold for it", a.status)
	case a.status < 400:
		return errs.New(errs.BadGateway, "gateway_redirects", "the gateway sends on to %.200q; buy there, if you trust that", a.header.Get("Location"))
	}
	return refusal(a, cmp.Or(map[int]errs.Kind{http.StatusTooManyRequests: errs.TooMany, http.StatusServiceUnavailable: errs.Unavailable}[a.status], errs.Forbidden))
}

// refusal is a refusal of the gateway, in its words.
func refusal(a answer, kind errs.Kind) *errs.Error {
	var p wire.Problem
	if codec.UnmarshalObject(a.body, &p) != nil {
		p = wire.Problem{}
	}
	code := "gateway_refused"
	if codeForm(p.Code) {
		code = p.Code
	}
	words := cmp.Or(plain.Cut(plain.Line(p.Error), maxWords), http.StatusText(a.status), "no word of why")
	return errs.New(kind, code, "the gateway refused (%d): %s", a.status, words).After(a.wait)
}

// codeForm reports whether a word can be the reason of a gateway, and none of this
// program's that says more.
func codeForm(s string) bool {
	return s != "" && len(s) <= 64 && s != Pending && !strings.HasPrefix(s, "seller_") && !strings.HasPrefix(s, "hub_") &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// Sold is what a payment bought, as the gateway says it.
type Sold struct {
	wire.Sold
	Settlement payment.SettlementResponse
}

// Pay brings a payment, and brings it again until it is known what it bought, or
// ctx ends.
func (l *Line) Pay(ctx context.Context, k *Kept) (Sold, error) {
	brought := false
	for wait := time.Second; ; {
		a, arrived, err := l.send(ctx, http.MethodGet, k.URL, http.Header{payment.HeaderSignature: {k.Payment}}, nil)
		before := brought
		brought = brought || arrived
		switch {
		case err != nil && !brought:
			return Sold{}, unreachable(err)
		case err == nil && decided(a, before):
			return outcome(a)
		case err == nil:
			err = refusal(a, errs.Unavailable)
			wait = max(wait, min(a.wait, time.Minute))
		}
		if !pause(ctx, wait) {
			return Sold{}, pending(err)
		}
		wait = min(2*wait, 10*time.Second)
	}
}

// decided reports whether an answer tells what became of a payment. Where an earlier
// one was lost, that the gateway sells this no more says nothing of the payment.
func decided(a answer, before bool) bool {
	switch a.status {
	case http.StatusOK, http.StatusPaymentRequired:
		return true
	case http.StatusTooManyRequests:
		return false
	}
	return a.status < 500 && !before
}

// pending is the end of waiting.
func pending(last error) error {
	return errs.New(errs.Unavailable, Pending,
		"it is not known whether the credits moved; the same command again brings the same payment, and no other is signed").Because(last)
}

// outcome is what a gateway says that a payment came to. A failure of the kind
// PaymentRequired says that the payment moved nothing; any other leaves that open.
func outcome(a answer) (s Sold, err error) {
	if raw, err := codec.DecodeB64(a.header.Get(payment.HeaderResponse)); err == nil && len(raw) > 0 {
		s.Settlement, _ = payment.ParseSettlement(raw) // one that cannot be read proves nothing
	}
	switch a.status {
	case http.StatusOK:
	case http.StatusPaymentRequired, http.StatusBadRequest:
		return s, refusal(a, errs.PaymentRequired)
	default:
		return s, refusal(a, errs.Forbidden)
	}
	if codec.UnmarshalObject(a.body, &s.Sold) != nil || len(s.Voucher) == 0 {
		return s, pending(errs.New(errs.BadGateway, "gateway_answer_invalid", "the gateway's answer holds no voucher"))
	}
	return s, nil
}
