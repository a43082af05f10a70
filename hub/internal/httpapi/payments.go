package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Payments is the group of routes about credits (wire 2, K.2). Failures of
// payments have the forms of x402: 200 with a reason at the facilitator, headers
// at the gateway.
type Payments struct {
	Ledger *ledger.Ledger

	api *API
}

func (p *Payments) routes(a *API, r chi.Router) {
	p.api = a
	r.Get("/x402/supported", a.open(p.supported))
	r.Post("/x402/verify", a.open(p.verify))
	r.Post("/x402/settle", a.open(p.settle))
	r.Route("/x402/resource", func(r chi.Router) {
		r.NotFound(a.open(unnamed))
		r.Get("/{aid}/{capability}", a.open(p.resource))
	})
	for _, path := range discoveryPaths {
		r.Get(path, a.open(p.resources))
	}
	p.creditRoutes(a, r)
	p.issuanceRoutes(a, r)
}

func (p *Payments) tell(l *wire.Limits) {
	l.Bodies.Payment = maxOpenBody
	p.Ledger.Tell(l)
	l.Rates = append(l.Rates, rate(p.Ledger.Payers, "agent"), rate(p.Ledger.Bearers, "address"), rate(p.Ledger.Askers, "address"), rate(p.Ledger.Asked, "peer"))
}

// supported serves GET /x402/supported: this hub's ledger first, then those of the
// hubs it clears with.
func (p *Payments) supported(w http.ResponseWriter, r *http.Request) error {
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	out := payment.Supported{Extensions: []string{payment.ExtReceipt}, Signers: map[string][]string{}, SignerKEL: map[string]string{}}
	open, err := p.Ledger.Clears(r.Context())
	if err != nil {
		return err
	}
	hubs := []string{key.AID()}
	for _, d := range open {
		hubs = append(hubs, d.Hub)
	}
	for _, hub := range hubs {
		network := payment.Network(hub)
		out.Kinds = append(out.Kinds, payment.Kind{X402Version: payment.X402Version, Scheme: payment.Scheme, Network: network})
		out.Signers[network] = []string{hub}
		out.SignerKEL[hub] = strings.TrimRight(p.api.homeHub(r), "/") + "/agents/" + hub + "/kel"
	}
	return writeJSON(w, http.StatusOK, out)
}

// facilitated reads the body of verify and settle. What is missing from it has a
// constant of its own, and 400; every other outcome is a 200 (K.2).
func (p *Payments) facilitated(w http.ResponseWriter, r *http.Request) (req payment.FacilitatorRequest, err error) {
	body, release, err := p.api.readBody(w, r, maxOpenBody)
	if err != nil {
		return req, err
	}
	defer release()
	req, bad := payment.ReadFacilitatorRequest(body)
	switch {
	case bad != nil:
		return req, errs.New(errs.Invalid, "malformed_payment", "the body is no x402 request: %s", describe(bad)).In("body")
	case req.PaymentRequirements == nil:
		return req, errs.New(errs.Invalid, "invalid_payment_requirements", "paymentRequirements is missing").In("paymentRequirements")
	case req.PaymentPayload == nil:
		return req, errs.New(errs.Invalid, "malformed_payment", "paymentPayload is missing").In("paymentPayload")
	}
	return req, nil
}

// constantOf is a failure to read a request in the words of K.3: x402 clients know no
// others.
func constantOf(e *errs.Error) string {
	switch {
	case payment.Reason(e.Reason):
		return e.Reason
	case e.Kind == errs.Invalid, e.Kind == errs.TooLarge:
		return payment.MalformedPayment
	}
	return payment.SettlementPending
}

// verify serves POST /x402/verify. What was not judged, for a rate or for a failure of
// the hub's own, is a payment that is pending, as it is of settle: x402's own clients
// give up on any other status than 200.
func (p *Payments) verify(w http.ResponseWriter, r *http.Request) error {
	req, err := p.facilitated(w, r)
	if e := errs.As(err); e != nil {
		return e.With("isValid", false).With("invalidReason", constantOf(e))
	}
	if err != nil {
		return err
	}
	out, err := p.Ledger.Verify(r.Context(), req, p.api.clientBucket(r))
	if err != nil && p.api.explain(w, r, err) == nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

// settle serves POST /x402/settle. It is not signed: a payment moves as its payer
// signed it, once, whoever brings it. A failure of the hub's own is a settlement
// that is pending, which the caller tries again as it is.
func (p *Payments) settle(w http.ResponseWriter, r *http.Request) error {
	req, err := p.facilitated(w, r)
	if e := errs.As(err); e != nil {
		return e.With("success", false).With("errorReason", constantOf(e)).With("transaction", "").With("network", "")
	}
	if err != nil {
		return err
	}
	out, err := p.Ledger.Settle(r.Context(), req, p.api.clientBucket(r))
	if err != nil && p.api.explain(w, r, err) == nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}
