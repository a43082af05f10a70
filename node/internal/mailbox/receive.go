package mailbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/shared/envelope"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/task"
)

// Mail is an authenticated message. Everything acted on comes from it and
// nothing from how it arrived.
type Mail struct {
	*envelope.Message
	History *identity.History // the sender's, resolved
	Sender  known.Identity    // the same with the newest key set
}

// Sent is the time of the message.
func (m Mail) Sent() time.Time { return time.UnixMilli(int64(m.TS)) }

// Expires is the end of its life.
func (m Mail) Expires() time.Time { return time.UnixMilli(int64(m.Exp)) }

// Inbound takes authenticated mail (E.10, steps 9 and 10). Both methods call
// settled exactly once.
type Inbound interface {
	Take(ctx context.Context, m Mail, settled func(Verdict))
	// Again gets a second copy of a message that was accepted.
	Again(ctx context.Context, m Mail, settled func(Verdict))
}

// Reasons counted beside those of the envelope.
const (
	RefusedReplay = "refused-replay"
	RefusedFloor  = "refused-floor"
	Duplicate     = "duplicate"
	BadKeys       = "keys-not-taken" // advisory: the message goes on
)

// Opener is steps 1 to 8½ of the receive procedure.
type Opener struct {
	AID     string
	Keys    envelope.Keys
	Book    *known.Book
	Journal *journal.Journal
	Inbound Inbound
	Dropped *Counts
	Log     *slog.Logger
	Now     func() time.Time

	trouble Trouble
}

// Receive opens an envelope and hands it on, or settles it at once.
func (o *Opener) Receive(ctx context.Context, raw []byte, settled func(Verdict)) {
	m, seen, err := o.open(ctx, raw)
	switch {
	case err != nil:
		settled(o.drop(err))
	case seen:
		o.Dropped.Add(Duplicate)
		o.Inbound.Again(ctx, m, settled)
	default:
		o.Inbound.Take(ctx, m, settled)
	}
}

// drop sorts a failure: what is wrong with the message stays wrong (P), what is
// wrong with this node may pass (T).
func (o *Opener) drop(err error) Verdict {
	e := errs.As(err)
	if e == nil || e.Kind != errs.Invalid {
		o.trouble.Tell(o.Log, o.Now(), "mailbox: a message cannot be handled now", err)
		return Wait
	}
	o.Dropped.Add(e.Reason)
	o.Log.Debug("mailbox: a message was dropped", "reason", e.Reason)
	return Done
}

func (o *Opener) open(ctx context.Context, raw []byte) (m Mail, seen bool, err error) {
	msg, err := envelope.Open(raw, o.AID, o.Keys)
	if err != nil {
		return m, false, err
	}
	m = Mail{Message: msg}
	if err := msg.CheckTime(o.Now()); err != nil {
		return m, false, err
	}
	err = o.Journal.Read(ctx, func(tx *journal.Tx) error {
		if err := o.authenticate(tx, &m); err != nil {
			return err
		}
		seen, err = o.seen(tx, m)
		return err
	})
	return m, seen, err
}

func (o *Opener) authenticate(tx *journal.Tx, m *Mail) error {
	refused, err := tx.Refused(m.From, m.MID[:])
	if err != nil {
		return err
	}
	if refused {
		return errs.New(errs.Invalid, RefusedReplay, "the message was refused before")
	}
	carried, err := m.Replay(o.Book.Replay)
	if err != nil {
		return err
	}
	id, err := o.Book.Of(tx, m.From)
	if err != nil {
		return err
	}
	if m.History, err = o.Book.Resolve(id, carried); err != nil {
		return err
	}
	if err := m.VerifyInnerSig(m.History, o.Now(), envelope.DefaultGrace); err != nil {
		return err
	}
	keys, err := known.NewerKeys(id, m.History, m.Keys, o.Now())
	if err != nil {
		o.Dropped.Add(BadKeys)
	}
	m.Sender = known.Identity{KEL: m.History.Raw(), Keys: keys}
	return nil
}

// seen looks the message up in the replay table. A first delegation that may be
// one of the refusals that were pushed out is dropped.
func (o *Opener) seen(tx *journal.Tx, m Mail) (bool, error) {
	seen, err := tx.Seen(m.From, m.MID[:])
	if err != nil || seen || m.Type != task.TypeDelegate {
		return seen, err
	}
	below, err := tx.BelowFloor(m.From, m.Sent())
	if err == nil && below {
		err = errs.New(errs.Invalid, RefusedFloor, "the message may have been refused before")
	}
	return false, err
}

// Counts counts dropped messages by reason. Reasons come from closed lists, so
// no peer can make it grow.
type Counts struct {
	mu sync.Mutex
	n  map[string]int
}

// Add counts one.
func (c *Counts) Add(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[reason]++
}

// All is a copy of the counts.
func (c *Counts) All() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]int, len(c.n))
	for k, v := range c.n {
		all[k] = v
	}
	return all
}
