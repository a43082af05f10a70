package httpapi

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/shared/wire"
)

// Streams is the group of routes that peers learn of this hub's agents from (wire
// 2, J.4). Nobody signs: what is told is told to all.
type Streams struct {
	Feed *feed.Feed
	Rate *admission.Limiter // by address

	api *API
}

func (s *Streams) routes(a *API, r chi.Router) {
	s.api = a
	r.Get("/fed/v1/cards", a.between(s.paced(s.cards(feed.OlderCards))))
	r.Get("/fed/v2/cards", a.between(s.paced(s.cards(feed.Cards))))
	r.Get("/fed/v1/reviews", a.between(s.paced(s.reviews)))
}

// paced serves an address so many pages. Who asks is not known: peers do not sign
// here.
func (s *Streams) paced(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.Rate.Take(s.api.clientBucket(r)); err != nil {
			return err
		}
		return h(w, r)
	}
}

func (s *Streams) cards(stream feed.Stream) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		after, err := fedCursor(r)
		if err != nil {
			return err
		}
		memory := taking{from: s.api.Budget}
		defer memory.release()
		home := s.api.homeHub(r)
		page, err := s.Feed.Cards(r.Context(), stream, after, home, memory.take)
		if err != nil {
			return err
		}
		if err := memory.take(int64(len(page.Cards) * (len(home) + fedEntryRoom))); err != nil {
			return err
		}
		body, err := joinCards(page)
		if err != nil {
			return err
		}
		return writeBody(w, http.StatusOK, "application/json", body)
	}
}

// fedEntryRoom is what an entry of a stream says beside what is in it.
const fedEntryRoom = 128

// joinCards writes a page around cards that are JSON already. An encoder would read
// every one of them once more, which is most of what a page costs, and not leave it
// as it was registered.
func joinCards(p wire.FedCards) ([]byte, error) {
	size := 0
	for _, c := range p.Cards {
		size += len(c.Card) + base64.StdEncoding.EncodedLen(len(c.KEL)) + base64.StdEncoding.EncodedLen(len(c.Keys)) + len(c.Home) + fedEntryRoom
	}
	out := append(make([]byte, 0, size+64), `{"cursor":`...)
	out = append(strconv.AppendInt(out, p.Cursor, 10), `,"cards":[`...)
	for i, c := range p.Cards {
		card := c.Card
		c.Card = nil
		entry, err := encode(c)
		if err != nil {
			return nil, err
		}
		before, after, _ := bytes.Cut(entry, noCard)
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, before...), `"card":`...)
		out = append(append(out, card...), bytes.TrimSuffix(after, newline)...)
	}
	return append(out, "]}\n"...), nil
}

// noCard is what an entry without a card has in its place; only a format of ours
// comes before it.
var noCard, newline = []byte(`"card":null`), []byte("\n")

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
	body, err := joinReviews(page)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, "application/json", body)
}

// joinReviews makes room for all that is in a page, in base64.
func joinReviews(p wire.FedReviews) ([]byte, error) {
	size := 0
	for _, r := range p.Reviews {
		for _, part := range [][]byte{r.Receipt, r.Review, r.ProviderKEL, r.ReviewerKEL} {
			size += base64.StdEncoding.EncodedLen(len(part))
		}
		size += fedEntryRoom
	}
	return joinEntries(fmt.Sprintf(`{"cursor":%d,"reviews":[`, p.Cursor), size, len(p.Reviews), func(i int) any { return p.Reviews[i] }, "]}\n")
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
	l.Rates = append(l.Rates, rate(s.Rate, "address"))
	for name, stream := range map[string]feed.Stream{
		"fed_cards_v1": feed.OlderCards, "fed_cards": feed.Cards, "fed_reviews": feed.Reviews,
	} {
		most := stream.Limits()
		l.Pages[name] = wire.PageLimit{Default: most.Entries, Most: most.Entries, Bytes: most.Bytes}
	}
}
