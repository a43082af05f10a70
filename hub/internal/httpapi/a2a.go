package httpapi

import (
	"cmp"
	"fmt"
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
	memory := taking{from: d.api.Budget}
	defer memory.release()
	page, err := d.Rules.ListCards(r.Context(), question, limit, q.Get("cursor"), memory.take)
	if err != nil {
		return err
	}
	body, err := cardsBody(page, d.api.homeHub(r), limit, memory.take)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, "application/json", body)
}

func param(q url.Values, name string) *string {
	if !q.Has(name) {
		return nil
	}
	v := q.Get(name)
	return &v
}

// cardsBody writes a page. home is the hub of those registered here, and as long
// as whoever asks likes to name it.
func cardsBody(page directory.CardPage, home string, limit int, reserve directory.Reserve) ([]byte, error) {
	homes := 0
	for _, row := range page.Rows {
		homes += len(cmp.Or(row.Home, home))
	}
	if err := reserve(int64(homes)); err != nil {
		return nil, err
	}
	tail := fmt.Sprintf("],\"limit\":%d", limit)
	if page.Next != "" {
		tail += `,"nextCursor":"` + page.Next + `"` // base64url
	}
	return joinEntries(`{"agents":[`, page.Bytes+homes, len(page.Rows), func(i int) any {
		return toCard(page.Rows[i], page.Horizon, home)
	}, tail+"}\n")
}

func toCard(row directory.CardRow, h directory.Horizon, home string) wire.CardEntry {
	e := wire.CardEntry{
		AID: row.AID, Card: row.Card, CardVerification: "ok", VerifiedAt: row.VerifiedAt.UTC(), HomeHub: cmp.Or(row.Home, home),
		Quiet: row.Quiet(h), ReviewCount: row.Rating.Count, AvgRating: row.Rating.Mean(),
	}
	if seen := row.Life.LastSeen.UTC(); !row.Life.LastSeen.IsZero() {
		e.LastSeen = &seen
	}
	return e
}

func (d *Directory) networkCard(w http.ResponseWriter, r *http.Request, aid string) error {
	raw, err := d.Rules.NetworkCard(r.Context(), aid)
	if err != nil {
		return err
	}
	return writeTagged(w, r, "application/json", raw)
}
