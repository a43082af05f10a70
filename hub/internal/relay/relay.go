// Package relay holds the rules of mailboxes: who may send how much to whom,
// what a poll gets, and when mail is thrown away (wire 2, I.4). It never knows
// who sent a message that lies in a mailbox.
//
// The one rule its users must know: a message is accepted when Send returns, and
// then it stays until its recipient acknowledges it or its lifetime is over.
package relay

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/internal/wake"
	"github.com/anet-hub/anet/shared/errs"
)

// Mail is an envelope on its way into a mailbox.
type Mail struct {
	To       string
	Envelope []byte
	At       time.Time
}

// Queued is what became of it. LastSeen is the recipient's last sign of life;
// Alone says that nothing else lay in the mailbox when it was stored. NotHere says
// that nothing was stored, because the recipient is not registered here.
type Queued struct {
	ID       int64
	LastSeen time.Time
	Alone    bool
	NotHere  bool
}

// Look says which messages are wanted: the first Limit of those after an id.
type Look struct {
	AID   string
	After int64
	Limit int
}

// Message is one that lies in a mailbox. A look brings the first few envelopes
// along where they are small; otherwise Envelope is nil.
type Message struct {
	ID       int64
	Size     int64
	Envelope []byte
}

// Totals describe all mailboxes together.
type Totals struct{ Messages, Bytes, Mailboxes int64 }

// Store keeps the mailboxes. Methods that take a proof use it up in the
// transaction of their effect, and fail as replay says where it was used before.
type Store interface {
	// Enqueue stores a message under the next id of its mailbox, unless that
	// would exceed the quota (MailboxFull), the recipient may get nothing here
	// (NoSuchRecipient) or is not registered here (NotHere). Once it returns, no
	// poll can skip the message: ids become visible in their order. These three
	// use up the proof.
	Enqueue(ctx context.Context, p replay.Proof, m Mail, l Limits) (Queued, error)
	// Poll uses up the proof and looks, in one step.
	Poll(ctx context.Context, p replay.Proof, look Look) ([]Message, error)
	// Look gives messages in ascending order.
	Look(ctx context.Context, look Look) ([]Message, error)
	// Fetch gives the messages with their envelopes; those that are gone
	// meanwhile are left out.
	Fetch(ctx context.Context, aid string, ids []int64) ([]Message, error)
	// Ack deletes messages of the signer's own mailbox and says how many there
	// were, and how many bytes.
	Ack(ctx context.Context, p replay.Proof, ids []int64) (n, bytes int64, err error)
	// Expire deletes some of the messages stored before a time and says how many;
	// none means that nothing is left to do, here or because another process does it.
	Expire(ctx context.Context, before time.Time) (n, bytes int64, err error)
	// Totals adds up the mailboxes.
	Totals(ctx context.Context) (Totals, error)
}

// Seen takes signs of life.
type Seen interface {
	Seen(aid string, at time.Time)
}

// Elsewhere are the other hubs that a message may be handed to.
type Elsewhere interface {
	// Offer gives the hub that has taken the message, for good. It fails with
	// NoSuchRecipient where none has the recipient, with MailboxFull, and with other
	// errors where the same message may be taken later.
	Offer(ctx context.Context, m Mail) (hub string, err error)
}

// Deps is what the relay stands on. All of it but Elsewhere is required.
type Deps struct {
	Store   Store
	Board   *wake.Board
	Senders *admission.Limiter // by AID
	Seen    Seen
	Limits  Limits
	Now     func() time.Time
	Log     *slog.Logger
	Metrics prometheus.Registerer

	Elsewhere Elsewhere // nil for a hub by itself
}

// Relay is the mail service of one hub process.
type Relay struct {
	Deps
	held    held
	metrics *metrics
}

// New makes a relay. Run must run beside it.
func New(d Deps) *Relay {
	r := &Relay{Deps: d}
	r.metrics = newMetrics(d.Metrics, r)
	return r
}

// NoSuchRecipient is the answer for an AID that no mail can be brought to from here.
func NoSuchRecipient() error {
	return errs.New(errs.NotFound, "unknown_recipient",
		"the recipient is not registered at this hub, nor at one that it delivers to").In("to_aid")
}

// MailboxFull is the answer for a recipient that doesn't collect its mail.
func MailboxFull() error {
	return errs.New(errs.Full, "mailbox_full",
		"the recipient's mailbox is full: try again when it has collected its mail").After(time.Minute)
}

// PeersFailed is the answer for an agent that is not registered here while hubs
// that may have it could not be asked.
func PeersFailed(after time.Duration) error {
	return errs.New(errs.BadGateway, "peers_failed",
		"the agent is not registered here, and some of the hubs it may be at could not be asked: try again later").After(after)
}
