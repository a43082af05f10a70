package relay

import (
	"context"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
)

// Sent is an accepted message. Quiet means that its recipient has not been
// heard of for a while. Via is the hub that has it, empty where it lies here.
type Sent struct {
	ID    int64
	Quiet bool
	Via   string
}

// MaySend refuses a sender without tokens before anything is read or verified.
// The AID is a mere claim there, so nothing is taken.
func (r *Relay) MaySend(aid string) error { return r.Senders.Peek(aid) }

// Send puts an envelope into the mailbox of an agent that is registered here, or
// hands it to the hub where it is. read reads the request, which costs the sender
// a token whatever stands in it.
func (r *Relay) Send(ctx context.Context, p replay.Proof, read func() (to string, env []byte, err error)) (Sent, error) {
	sent, err := r.send(ctx, p, read)
	r.metrics.send(sent, err)
	return sent, err
}

func (r *Relay) send(ctx context.Context, p replay.Proof, read func() (to string, env []byte, err error)) (Sent, error) {
	giveBack, err := r.Senders.Reserve(p.AID)
	if err != nil {
		return Sent{}, err
	}
	m := Mail{At: r.Now()}
	if m.To, m.Envelope, err = read(); err != nil {
		return Sent{}, err
	}
	if err := r.Check(m); err != nil {
		return Sent{}, err
	}
	q, err := r.Store.Enqueue(ctx, p, m, r.Limits)
	if err != nil {
		// Whoever repeats what another agent sent must not use up its tokens.
		if errs.KindOf(err) == errs.Unauthorized {
			giveBack()
		}
		return Sent{}, err
	}
	if q.NotHere {
		return r.handOver(ctx, m)
	}
	r.Stored(m, q)
	return Sent{ID: q.ID, Quiet: m.At.Sub(q.LastSeen) >= r.Limits.QuietAfter}, nil
}

// handOver offers a message to other hubs. It holds nothing of the database: they
// may take their time.
func (r *Relay) handOver(ctx context.Context, m Mail) (Sent, error) {
	if r.Elsewhere == nil {
		return Sent{}, NoSuchRecipient()
	}
	hub, err := r.Elsewhere.Offer(ctx, m)
	return Sent{Via: hub}, err
}

// Stored counts a message that was put into a mailbox, and wakes who waits for it.
func (r *Relay) Stored(m Mail, q Queued) {
	r.held.add(1, int64(len(m.Envelope)))
	r.announce(m, q)
}

// maxHanded bounds what a poll that waits gets without asking the database: its
// memory is reserved when it is there already.
const maxHanded = 64 << 10

// announce wakes who waits for the message.
func (r *Relay) announce(m Mail, q Queued) {
	if q.Alone && len(m.Envelope) <= maxHanded {
		r.Board.Hand(m.To, wake.Letter{ID: q.ID, Envelope: m.Envelope})
		return
	}
	r.Board.Wake(m.To)
}

// Check refuses what can be refused without the database.
func (r *Relay) Check(m Mail) error {
	switch size := int64(len(m.Envelope)); {
	case m.To == "":
		return errs.New(errs.Invalid, "missing_field", "to_aid is missing").In("to_aid")
	case strings.ContainsRune(m.To, 0): // which no text in the database can hold
		return errs.New(errs.Invalid, "zero_byte", "to_aid holds a zero byte").In("to_aid")
	case size == 0:
		return errs.New(errs.Invalid, "missing_field", "envelope is missing").In("envelope")
	case size > r.Limits.Envelope:
		return errs.New(errs.TooLarge, "envelope_too_large",
			"the envelope has %d bytes, this hub takes %d", size, r.Limits.Envelope).
			In("envelope").With("max_bytes", r.Limits.Envelope)
	}
	if err := addressed(m); err != nil {
		return err
	}
	if r.held.bytes.Load()+int64(len(m.Envelope)) > r.Limits.Total {
		return errs.New(errs.Full, "hub_mail_full",
			"this hub stores as much mail as it may: try again later").After(time.Minute)
	}
	return nil
}

// addressed does all a hub does with an envelope: the parse of wire 2, E.2, and
// a look at the address.
func addressed(m Mail) error {
	outer, err := envelope.ParseOuter(m.Envelope)
	if err != nil {
		return errs.New(errs.Invalid, "bad_envelope", "the envelope is malformed: %v", err).
			In("envelope").With("reason", envelope.ReasonOf(err))
	}
	if outer.To != m.To {
		return errs.New(errs.Invalid, "recipient_mismatch", "the envelope is sealed to another agent than to_aid").In("to_aid")
	}
	return nil
}
