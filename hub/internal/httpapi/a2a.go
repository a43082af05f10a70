package httpapi

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/shared/wire"
)

// a2aRoutes are the directory as A2A clients read it: cards.
func (d *Directory) a2aRoutes(a *API, r chi.Router) {
	r.Get("/a2a/v1/agents", a.open(d.cards))
	r.Get("/a2a/v1/agents/{aid}/card", a.open(byPath(d.networkCard)))
	r.Post("/a2a/v1/agents/card:lookup", a.open(d.byBody(d.networkCard)))
}

func (d *Directory) cards(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	question, err := directory.AskCards(param(q, "skill"), param(q, "tag"), q.Get("q"))
	if err != nil {
		return err
	}
	limit, err := limitOf(q, directory.DefaultCards, directory.MaxCards)
	if err != nil {
		return err
	}
	release, err := d.api.Budget.Take(directory.CardBytes(limit))
	if err != nil {
		return err
	}
	defer release()
	page, err := d.Rules.ListCards(r.Context(), question, limit, q.Get("cursor"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, d.toCards(r, page, limit))
}

func param(q url.Values, name string) *string {
	if !q.Has(name) {
		return nil
	}
	v := q.Get(name)
	return &v
}

func (d *Directory) toCards(r *http.Request, page directory.CardPage, limit int) wire.Cards {
	out := wire.Cards{Agents: make([]wire.CardEntry, 0, len(page.Rows)), Limit: limit, NextCursor: page.Next}
	home := d.api.homeHub(r)
	for _, row := range page.Rows {
		e := wire.CardEntry{
			AID: row.AID, Card: row.Card, CardVerification: "ok", VerifiedAt: row.VerifiedAt.UTC(), HomeHub: cmp.Or(row.Home, home),
			Quiet: row.Quiet(page.Horizon), ReviewCount: row.Rating.Count, AvgRating: row.Rating.Mean(),
		}
		if seen := row.Life.LastSeen.UTC(); !row.Life.LastSeen.IsZero() {
			e.LastSeen = &seen
		}
		out.Agents = append(out.Agents, e)
	}
	return out
}

func (d *Directory) networkCard(w http.ResponseWriter, r *http.Request, aid string) error {
	raw, err := d.Rules.NetworkCard(r.Context(), aid)
	if err != nil {
		return err
	}
	return writeTagged(w, r, "application/json", raw)
}
