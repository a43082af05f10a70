package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// keyRoutes are the routes about keys and what proves them. Each GET that names
// an AID has a POST of the same answer, so that no request line has to name one
// (wire 2, I.1).
func (d *Directory) keyRoutes(a *API, r chi.Router) {
	r.Post("/agents/{aid}/keys", a.signed(signedRoute{action: wire.ActionKeys}, d.putKeys))
	r.Get("/agents/{aid}/keys", a.open(byPath(d.keys)))
	r.Post("/agents/keys:lookup", a.open(d.byBody(d.keys)))
	r.Get("/agents/{aid}/kel", a.open(byPath(d.kel)))
	r.Post("/agents/kel:lookup", a.open(d.byBody(d.kel)))
	r.Get("/agents/{aid}/card", a.open(byPath(d.adpCard)))
	r.Get("/agents/{aid}/jwks.json", a.open(byPath(d.jwks)))
}

func (d *Directory) putKeys(w http.ResponseWriter, r *http.Request, c *Caller) error {
	var in wire.Keyset
	if err := decode(c.Body, &in); err != nil {
		return err
	}
	status, err := d.Rules.PutKeys(r.Context(), c.Proof, in.Keyset)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.KeysStored{AID: c.AID, KeysStatus: status})
}

func (d *Directory) keys(w http.ResponseWriter, r *http.Request, aid string) error {
	keyset, kel, err := d.Rules.Keys(r.Context(), aid)
	if errs.KindOf(err) == errs.NotFound && d.Elsewhere != nil {
		keyset, kel, err = d.Elsewhere.Keys(r.Context(), aid, d.api.clientBucket(r))
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.Keys{AID: aid, Keyset: keyset, KEL: kel})
}

// kel serves key histories, the hub's own and those of its peers among them: nodes
// need them to check what these hubs sign, receipts of payments above all.
func (d *Directory) kel(w http.ResponseWriter, r *http.Request, aid string) error {
	if hub := d.api.Key.Current(); hub != nil && aid == hub.AID() {
		return writeJSON(w, http.StatusOK, wire.KEL{AID: aid, KEL: hub.KEL(), Role: "hub"})
	}
	if d.Peers != nil {
		if peer, known := d.Peers.ByAID(aid); known && peer.KEL != nil {
			return writeJSON(w, http.StatusOK, wire.KEL{AID: aid, KEL: peer.KEL, Source: "peer-hub"})
		}
	}
	h, err := d.Rules.KEL(r.Context(), aid)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, wire.KEL{AID: aid, KEL: h.KEL, Source: h.Source, Note: h.Note})
}

func (d *Directory) adpCard(w http.ResponseWriter, r *http.Request, aid string) error {
	raw, err := d.Rules.ADPCard(r.Context(), aid)
	if err != nil {
		return err
	}
	return writeTagged(w, r, "application/json", raw)
}

func (d *Directory) jwks(w http.ResponseWriter, r *http.Request, aid string) error {
	set, err := d.Rules.JWKS(r.Context(), aid)
	if err != nil {
		return err
	}
	return writeTagged(w, r, card.JWKSType, set)
}
