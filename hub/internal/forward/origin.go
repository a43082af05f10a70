package forward

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Key is the hub's own identity.
type Key interface {
	// Current gives the identity, nil while there is none.
	Current() *identity.Controller
}

// Circuits keep a peer that does not answer from holding up everything else.
type Circuits interface {
	// Try calls a peer unless it is known not to answer or has its hands full. An
	// error of do is the peer's failure: an answer that says no is none.
	Try(ctx context.Context, p peers.Peer, do func(context.Context) error) error
}

// Carrier brings forwards to peers.
type Carrier interface {
	// Forward succeeds where the peer has the message. What the peer said is an
	// errs.NotFound where the recipient is not registered there, errs.Full where its
	// mailbox is full, and otherwise a No; every other error is that it gave no
	// answer worth anything.
	Forward(ctx context.Context, p peers.Peer, f wire.Forward) error
}

// Budget bounds the bytes of messages that are on their way.
type Budget interface {
	// Take reserves n bytes or fails; it never waits.
	Take(n int64) (release func(), err error)
}

// Outlet is what an Origin stands on. All of it is required.
type Outlet struct {
	Table    Table
	Circuits Circuits
	Carrier  Carrier
	Key      Key
	Memory   Budget // what messages may hold while peers take their time
	Metrics  *Metrics
	Now      func() time.Time
}

// Origin offers messages to peers (relay.Elsewhere).
type Origin struct{ Outlet }

// NewOrigin makes one.
func NewOrigin(o Outlet) *Origin { return &Origin{o} }

// Offer hands a message to the first peer that has its recipient, in the order of
// the table, and gives the AID of that peer. It fails with relay.NoSuchRecipient
// where all said no, with relay.MailboxFull where the one that has it is full, and
// with PeersFailed where some could not be asked: the recipient may be there. What
// finds no room among the messages that wait for peers fails like one that finds
// none in this hub: it may come again in a moment.
func (o *Origin) Offer(ctx context.Context, m relay.Mail) (hub string, err error) {
	list, key := askable(o.Table), o.Key.Current()
	switch {
	case len(list) == 0, !identity.ValidAID(m.To):
		return "", relay.NoSuchRecipient()
	case key == nil:
		return "", relay.PeersFailed(againSoon)
	}
	// The message, and once more as it is signed.
	release, err := o.Memory.Take(2 * int64(len(m.Envelope)))
	if err != nil {
		return "", err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, Patience(len(m.Envelope)))
	defer cancel()
	f := Sign(key, m.To, m.Envelope, o.Now())
	hub, err = ask(ctx, list, o.Circuits, func(ctx context.Context, p peers.Peer) (string, error) {
		err := o.Carrier.Forward(ctx, p, f)
		o.Metrics.sent(p, err)
		return p.AID, err
	})
	switch errs.KindOf(err) {
	case errs.NotFound:
		return "", relay.NoSuchRecipient()
	case errs.Full:
		return "", relay.MailboxFull()
	}
	return hub, err
}
