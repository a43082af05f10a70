package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/web"
	"github.com/anet-hub/anet/shared/wire"
)

// index tells a program that asks for nothing where everything is.
func (p *Pages) index(w http.ResponseWriter, _ *http.Request) error {
	key := p.api.Key.Current()
	if key == nil {
		return errNoIdentity()
	}
	return writeJSON(w, http.StatusOK, wire.Index{
		AID: key.AID(), Wire: wire.Version, Version: p.api.Version, PublicURL: p.api.PublicURL,
		Agents: "/agents", Cards: "/a2a/v1/agents", Identity: "/hub/identity",
		Limits: "/limits", OpenAPI: "/openapi.yaml", Guide: "/llms.txt",
	})
}

func (p *Pages) guide(w http.ResponseWriter, r *http.Request) error {
	text, err := web.Guide(p.site(r))
	if err != nil {
		return err
	}
	harden(w.Header())
	return writeTagged(w, r, "text/plain; charset=utf-8", text)
}

// asset serves what pages refer to. Under the version it has here browsers keep
// it for good; under another, from a page of a process of another release, it is
// served all the same, and kept by nobody.
func (p *Pages) asset(w http.ResponseWriter, r *http.Request) error {
	a, ok := web.AssetOf(chi.URLParam(r, "name"))
	if !ok {
		return errNoRoute()
	}
	harden(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Query().Get("v") == a.Version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	return writeBody(w, http.StatusOK, a.Type, a.Body)
}
