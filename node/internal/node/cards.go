package node

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// The pace of asking for extended cards (wire 2, H.7).
const (
	cardWait  = 10 * time.Second // for an answer
	cardFresh = 24 * time.Hour   // how long one is shown without asking again
	cardPause = time.Minute      // between two requests to one agent
)

// Why there are no prices to show.
const (
	CardUnanswered  = "card_unanswered"
	CardUnreachable = "card_unreachable"
	CardIsBusy      = "card_busy"
	CardUnproven    = "card_not_verified"
)

// Cards are the extended cards of others, and this node's own. They go between
// two nodes; no hub sees one.
type Cards struct {
	extended func(list bool) ([]byte, error)
	journal  *journal.Journal
	outbox   *outbox.Outbox
	finder   known.Finder
	book     *known.Book
	log      *slog.Logger
	now      func() time.Time

	mu      sync.Mutex
	waiting map[string]request   // by the id of the request
	asked   map[string]time.Time // by agent
}

// request is one that waits for its answer.
type request struct {
	aid    string
	nonce  []byte
	answer chan task.CardAnswer
}

func newCards(p Parts, o *outbox.Outbox, book *known.Book) *Cards {
	return &Cards{
		extended: p.Extended, journal: p.Journal, outbox: o, book: book, log: p.Log, now: p.Now,
		finder:  known.Finder{Book: book, Journal: p.Journal, Directory: p.Relay, Now: p.Now},
		waiting: map[string]request{}, asked: map[string]time.Time{},
	}
}

// Extended signs this node's own.
func (c *Cards) Extended(list bool) ([]byte, error) { return c.extended(list) }

// Arrived gives an answer to who waits for it: from the agent asked, to the very
// request.
func (c *Cards) Arrived(from, id string, a task.CardAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, found := c.waiting[id]
	if !found || r.aid != from || !bytes.Equal(r.nonce, a.Nonce) {
		return
	}
	delete(c.waiting, id)
	r.answer <- a
}

// Of gives the extended card of an agent: the one that is kept while it is fresh,
// else the one it answers with. Without one, why says what kept it from being had;
// it is empty for an agent that has none to give.
func (c *Cards) Of(ctx context.Context, aid string) (kept journal.ExtendedCard, why string, err error) {
	kept, fresh, err := c.stored(ctx, aid)
	if err != nil || fresh {
		return kept, "", err
	}
	if !c.mayAsk(aid) {
		return kept, CardUnanswered, nil
	}
	a, why := c.ask(ctx, aid)
	if why != "" {
		return kept, why, nil
	}
	return c.take(ctx, aid, a)
}

// stored is the card fetched last, and whether it is fresh.
func (c *Cards) stored(ctx context.Context, aid string) (latest journal.ExtendedCard, fresh bool, err error) {
	err = c.journal.Read(ctx, func(tx *journal.Tx) error {
		all, err := tx.ExtendedCards(aid)
		if len(all) > 0 {
			latest = all[0]
		}
		return err
	})
	return latest, !latest.Fetched.IsZero() && c.now().Sub(latest.Fetched) < cardFresh, err
}

func (c *Cards) mayAsk(aid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for other, at := range c.asked {
		if now.Sub(at) >= cardPause {
			delete(c.asked, other)
		}
	}
	if _, soon := c.asked[aid]; soon {
		return false
	}
	c.asked[aid] = now
	return true
}

// ask sends a request and waits for its answer.
func (c *Cards) ask(ctx context.Context, aid string) (a task.CardAnswer, why string) {
	ctx, cancel := context.WithTimeout(ctx, cardWait)
	defer cancel()
	to, err := c.finder.Find(ctx, aid, false)
	if err != nil {
		return a, CardUnreachable
	}
	id, body := task.NewCardRequest()
	raw, err := task.Encode(body)
	if err != nil {
		return a, CardUnreachable
	}
	r := request{aid, body.Nonce, make(chan task.CardAnswer, 1)}
	c.mu.Lock()
	c.waiting[id] = r
	c.mu.Unlock()
	defer func() { c.mu.Lock(); delete(c.waiting, id); c.mu.Unlock() }()
	c.outbox.Notify(outbox.Draft{Task: id, Peer: aid, Type: task.TypeCardRequest, Body: raw, To: to})
	select {
	case a = <-r.answer:
		return a, ""
	case <-ctx.Done():
		return a, CardUnanswered
	}
}

// take verifies an answer and keeps it.
func (c *Cards) take(ctx context.Context, aid string, a task.CardAnswer) (kept journal.ExtendedCard, why string, err error) {
	kept = journal.ExtendedCard{AID: aid, Variant: a.Variant, Card: a.Card, Fetched: c.now().Truncate(time.Millisecond), Hash: []byte{}}
	switch a.Status {
	case task.CardOK:
	case task.CardNotConfigured:
		kept.Variant, kept.Card = "", nil
		return kept, "", c.journal.WriteSoon(ctx, func(tx *journal.Tx) error { return tx.PutExtendedCard(kept) })
	default:
		return journal.ExtendedCard{}, CardIsBusy, nil
	}
	if a.Variant != task.CardGeneral && a.Variant != task.CardList {
		return journal.ExtendedCard{}, CardUnproven, nil
	}
	if err := c.verify(ctx, &kept); err != nil {
		c.log.Warn("node: an extended card does not hold", "error", err)
		return journal.ExtendedCard{}, CardUnproven, nil
	}
	err = c.journal.WriteSoon(ctx, func(tx *journal.Tx) error { return advance(tx, kept) })
	if card.CodeOf(err) != "" {
		return journal.ExtendedCard{}, CardUnproven, nil
	}
	return kept, "", err
}

// verify checks the card under the history that is known of its agent (H.4).
func (c *Cards) verify(ctx context.Context, e *journal.ExtendedCard) error {
	v := card.Verifier{Replay: c.book.Replay, Now: c.now, KEL: func(ctx context.Context, aid string) ([]byte, error) {
		id, err := c.finder.Find(ctx, aid, false)
		return id.KEL, err
	}}
	s, err := v.Verify(ctx, e.Card)
	if err != nil {
		return err
	}
	if s.AID != e.AID {
		return card.Refuse(card.BindingMismatch, "the card is one of %s", s.AID)
	}
	mark := s.Mark()
	e.Seq, e.Hash = mark.Seq, mark.Hash[:]
	_, _, err = readPrices(e.Card)
	return err
}

// advance keeps a card that is not older than the one seen of its variant.
func advance(tx *journal.Tx, e journal.ExtendedCard) error {
	all, err := tx.ExtendedCards(e.AID)
	if err != nil {
		return err
	}
	for _, old := range all {
		if old.Variant != e.Variant || len(old.Hash) == 0 {
			continue
		}
		if _, err := card.Decide(markOf(old), *markOf(e)); err != nil {
			return err
		}
	}
	return tx.PutExtendedCard(e)
}

func markOf(e journal.ExtendedCard) *card.Mark {
	m := card.Mark{Seq: e.Seq}
	copy(m.Hash[:], e.Hash)
	return &m
}

// readPrices reads the price list of a card; one without a list says that
// everything on it is free.
func readPrices(raw []byte) (c card.Card, prices card.PriceList, err error) {
	s, err := card.Read(raw)
	if err != nil {
		return c, prices, err
	}
	list, err := s.Card.Prices()
	if list != nil {
		prices = *list
	}
	return s.Card, prices, err
}

// Priced adds to a public card what its agent signed of prices. It contacts the
// agent only where there may be some to have: the public card declares payment, or
// the agent is on a list of this node.
func (n *Node) Priced(ctx context.Context, shown Card) (Card, error) {
	var public card.Card
	if json.Unmarshal(shown.Card, &public) != nil || !shown.Verified {
		return shown, nil
	}
	s, _ := n.Lists.Of(shown.AID) // a list that cannot be read lists nobody
	if shown.Charge == ChargeFree && !s.Listed() || shown.AID == n.Keys.AID() {
		return shown, nil
	}
	kept, why, err := n.Cards.Of(ctx, shown.AID)
	if err != nil || why != "" || len(kept.Card) == 0 {
		shown.PricesError = why
		return shown, err
	}
	c, prices, err := readPrices(kept.Card)
	if err != nil {
		return shown, errs.New(errs.Internal, CardUnproven, "the extended card that is kept cannot be read").Because(err)
	}
	shown.Prices = PricesOf(c, prices, "extended")
	shown.Prices.Verified, shown.Prices.Fetched, shown.Prices.Card = true, &kept.Fetched, kept.Card
	return shown, nil
}

// PricesOf lists every skill of a card with its price.
func PricesOf(c card.Card, list card.PriceList, source string) *Prices {
	p := &Prices{Network: list.Network, Source: source, Skills: []SkillPrice{}}
	for _, s := range c.Skills {
		p.Skills = append(p.Skills, SkillPrice{s.ID, payment.FormatAmount(list.Prices[s.ID])})
	}
	return p
}

// ChargeOf is what a public card says of prices.
func ChargeOf(c card.Card) string {
	switch declared, required := c.Payment(); {
	case required:
		return ChargeAll
	case declared:
		return ChargeSome
	}
	return ChargeFree
}
