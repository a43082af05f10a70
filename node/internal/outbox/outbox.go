// Package outbox gets this node's messages to the hub: sealed once for every key
// of its own, sent in the order of their task, tried again until they expire
// (wire 2, L.7).
//
// The one rule: a message is put in by the transaction that decides it (Post),
// so what was decided is sent, and what was not decided never is.
package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/known"
	"github.com/anet-hub/anet/shared/envelope"
)

// Hub takes envelopes, and tells the other hub that it carried one to, if any. Of
// a failed attempt it says whether the envelope may have arrived all the same.
type Hub interface {
	Send(ctx context.Context, to string, env []byte) (via string, mayHaveArrived bool, err error)
}

// Finder finds the key to seal to, asking the hub where it has to.
type Finder interface {
	Find(ctx context.Context, aid string, belongs bool) (known.Identity, error)
}

// Lost decides, in the transaction that takes a message out, what follows from
// its never being delivered. Why is the hub's reason, or Expired.
type Lost func(tx *journal.Tx, o journal.Outgoing, why string) error

// Expired is why a message was given up after its lifetime.
const Expired = "expired"

// lanes is how many messages are under way at once.
const lanes = 4

// Outbox is the queue at work.
type Outbox struct {
	Journal *journal.Journal
	Hub     Hub
	Finder  Finder
	Sealer  Sealer
	Lost    Lost
	Log     *slog.Logger
	Now     func() time.Time

	notices chan journal.Outgoing
	once    sync.Once
}

// Draft is a message to be sent in a task.
type Draft struct {
	Task, Peer, Type string
	Body             []byte
	To               known.Identity // the recipient as far as it is known
}

// Post puts a message in. With a usable key it is sealed here, and otherwise
// when one is found.
func (b *Outbox) Post(tx *journal.Tx, d Draft) error {
	mid := envelope.NewMID()
	_, err := b.PostAs(tx, d, mid)
	return err
}

// PostAs is Post for who has to know the message's id.
func (b *Outbox) PostAs(tx *journal.Tx, d Draft, mid envelope.MID) (journal.Outgoing, error) {
	o := journal.Outgoing{
		Task: d.Task, Peer: d.Peer, MID: mid[:], Type: d.Type, Body: d.Body,
		Exp: tx.Now().Add(envelope.Lifetime),
	}
	if err := b.Sealer.Seal(&o, d.To, tx.Now()); err != nil && !keyless(err) {
		return o, err
	}
	return o, tx.Enqueue(&o)
}

// keyless reports whether sealing failed for want of a key only.
func keyless(err error) bool {
	switch envelope.ReasonOf(err) {
	case envelope.NoUsableKey, envelope.BadKeySet, envelope.BadKeyState, envelope.BadKEL, envelope.RevokedKey, envelope.AIDMismatch, envelope.BadSig:
		return true
	}
	return false
}
