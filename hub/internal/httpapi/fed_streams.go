package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/shared/wire"
)

// Streams is the group of routes that peers learn of this hub's agents from (wire
// 2, J.4). Nobody signs: what is told is told to all.
type Streams struct {
	Feed *feed.Feed

	api *API
}

func (s *Streams) routes(a *API, r chi.Router) {
	s.api = a
	r.Get("/fed/v1/cards", a.between(s.cards(feed.OlderCards)))
	r.Get("/fed/v2/cards", a.between(s.cards(feed.Cards)))
	r.Get("/fed/v1/reviews", a.between(s.reviews))
}

func (s *Streams) cards(stream feed.Stream) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		after, err := fedCursor(r)
		if err != nil {
			return err
		}
		memory := taking{from: s.api.Budget}
		defer memory.release()
		page, err := s.Feed.Cards(r.Context(), stream, after, s.api.homeHub(r), memory.take)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, page)
	}
}

func (s *Streams) reviews(w http.ResponseWriter, r *http.Request) error {
	after, err := fedCursor(r)
	if err != nil {
		return err
	}
	memory := taking{from: s.api.Budget}
	defer memory.release()
	page, err := s.Feed.Reviews(r.Context(), after, memory.take)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

// fedCursor reads where a peer goes on; one that says nothing begins.
func fedCursor(r *http.Request) (int64, error) {
	q, err := query(r)
	if err != nil || !q.Has("cursor") {
		return 0, err
	}
	return feed.ParseCursor(q.Get("cursor"))
}

func (s *Streams) tell(l *wire.Limits) {
	for name, stream := range map[string]feed.Stream{
		"fed_cards_v1": feed.OlderCards, "fed_cards": feed.Cards, "fed_reviews": feed.Reviews,
	} {
		most := stream.Limits()
		l.Pages[name] = wire.PageLimit{Default: most.Entries, Most: most.Entries, Bytes: most.Bytes}
	}
}
