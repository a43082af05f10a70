package inbound

import (
	"time"

	"github.com/anet-hub/anet/node/internal/mailbox"
	"github.com/anet-hub/anet/node/internal/outbox"
	"github.com/anet-hub/anet/shared/task"
)

// Cards is this node's own extended card, and those that it asked others for.
type Cards interface {
	// Extended signs the card for who is on a list, or for everybody else; nil when
	// it would say nothing beyond the public one.
	Extended(list bool) ([]byte, error)
	// Arrived takes an answer to a request. It was authenticated, and may be one
	// that nobody asked for.
	Arrived(from, id string, a task.CardAnswer)
}

// Bounds of answering requests for the extended card: an answer costs a signature,
// and a stranger can ask under any number of AIDs.
const (
	cardsPerSender = 6 // and minute (H.7)
	cardsPerMinute = 300
	cardSenders    = 10_000
	cardPatience   = time.Minute // who asked longer ago waits no more
)

// newAskers is the pace of H.7, with everything allowed.
func newAskers() *Pace { return newPace(cardsPerSender, time.Minute, cardSenders, cardsPerMinute) }

// cardRequest answers who asks for the extended card. It makes no task, and is
// remembered nowhere: a second copy of a request costs one more of the sender's
// answers and nothing else.
func (h *Handler) cardRequest(m mailbox.Mail) error {
	r, err := task.Parse[task.CardRequest](m.Body)
	if err != nil {
		return err
	}
	s := h.standing(m.From)
	switch {
	case len(r.Nonce) != task.CardNonceBytes || !task.ValidID(m.Ix):
		return drop("bad-body")
	case s.Denied:
		return drop(string(DropDenied))
	case h.Now().Sub(m.Sent()) > cardPatience, !h.askers.Allow(m.From, h.Now()):
		return drop("card-unanswered")
	}
	body, err := task.Encode(h.cardFor(r, s.Listed()))
	if err != nil {
		return err
	}
	h.Notifier.Notify(outbox.Draft{Task: m.Ix, Peer: m.From, Type: task.TypeCard, Body: body, To: m.Sender})
	return nil
}

func (h *Handler) cardFor(r task.CardRequest, listed bool) task.CardAnswer {
	a := task.CardAnswer{Nonce: r.Nonce, Status: task.CardOK, Variant: task.CardGeneral}
	if listed {
		a.Variant = task.CardList
	}
	signed, err := h.Cards.Extended(listed)
	switch {
	case err != nil:
		h.Log.Error("inbound: the extended card cannot be made", "error", err)
		return task.CardAnswer{Nonce: r.Nonce, Status: task.CardBusy}
	case signed == nil:
		return task.CardAnswer{Nonce: r.Nonce, Status: task.CardNotConfigured}
	}
	a.Card = signed
	return a
}

// cardAnswer hands on what may have been asked for.
func (h *Handler) cardAnswer(m mailbox.Mail) error {
	a, err := task.Parse[task.CardAnswer](m.Body)
	if err != nil {
		return err
	}
	h.Cards.Arrived(m.From, m.Ix, a)
	return nil
}
