package httpapi

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Directory is the group of routes of the directory (wire 2, I.2).
type Directory struct {
	Rules     *directory.Directory
	Strangers *admission.Limiter // registrations by address
	Members   *admission.Limiter // registrations by AID
	Reviews   *reviews.Reviews
	Reviewers *admission.Limiter // reviews by address
	P2PPeers  bool               // serve GET /p2p/peers, which lists addresses
	Elsewhere *forward.Finder    // nil for a hub by itself
	Peers     *peers.Table       // likewise

	api *API
}

func (d *Directory) routes(a *API, r chi.Router) {
	d.api = a
	r.Post("/register", a.open(d.register))
	r.Post("/profile", a.signed(signedRoute{action: wire.ActionProfile}, d.profile))
	r.Get("/agents", a.open(d.agents))
	r.Post("/agents/{aid}/visibility", d.ifRegistered(a.signed(signedRoute{action: wire.ActionVisibility}, d.visibility)))
	r.Post("/agents/{aid}/deregister", a.signed(signedRoute{action: wire.ActionDeregister}, d.deregister))
	r.Get("/agents/{aid}/why", a.signed(signedRoute{action: wire.ActionWhy}, d.why))
	d.keyRoutes(a, r)
	d.a2aRoutes(a, r)
	d.reviewRoutes(a, r)
	r.Post("/agents/{aid}/p2p", a.signed(signedRoute{action: wire.ActionP2P}, d.putAddress))
	r.Get("/agents/{aid}/p2p", a.open(d.address))
	if d.P2PPeers {
		r.Get("/p2p/peers", a.open(d.addresses))
	}
}

// query reads the query strictly: a parameter that can't be decoded would
// otherwise be one that wasn't given.
func query(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errs.New(errs.Invalid, "query_malformed", "the query string is malformed").In("query")
	}
	return q, nil
}

// aidOf is the AID in the path, decoded.
func aidOf(r *http.Request) string {
	raw := chi.URLParam(r, "aid")
	aid, err := url.PathUnescape(raw)
	if err != nil {
		return raw
	}
	return aid
}

// lookup reads the body of the look-ups that keep AIDs out of request lines
// (wire 2, I.1).
func (d *Directory) lookup(w http.ResponseWriter, r *http.Request) (string, error) {
	body, release, err := d.api.readBody(w, r, maxLookupBody)
	if err != nil {
		return "", err
	}
	defer release()
	var in wire.Lookup
	if err := decode(body, &in); err != nil {
		return "", err
	}
	return in.AID, directory.CheckAID(in.AID)
}

const maxLookupBody = 4096

// byPath and byBody serve one answer under both ways of asking.
func byPath(h func(http.ResponseWriter, *http.Request, string) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error { return h(w, r, aidOf(r)) }
}

func (d *Directory) byBody(h func(http.ResponseWriter, *http.Request, string) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		aid, err := d.lookup(w, r)
		if err != nil {
			return err
		}
		return h(w, r, aid)
	}
}
