package forward

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

// Memory is how long a payload that was taken is known again, and how old a
// forward may be. Messages live for less, so that none can be brought twice.
const Memory = 15 * 24 * time.Hour

// maxTS keeps timestamps within what can be counted with.
const maxTS = 1 << 62

// Arrival is a message that a peer brings.
type Arrival struct {
	relay.Mail
	CID   string    // of the envelope
	Since time.Time // a claim from before that is none any more
}

// Store keeps what peers bring.
type Store interface {
	// Deposit claims the payload and stores the message in one transaction, or does
	// neither. Of what stands in the way it tells the first of UnknownDestination,
	// Duplicate and relay.MailboxFull: a forward that was refused can be repeated.
	Deposit(ctx context.Context, a Arrival, l relay.Limits) (relay.Queued, error)
	// Standing tells the first two, nil where neither holds.
	Standing(ctx context.Context, a Arrival) error
	// Forget drops some of the claims from before a time and says how many; none
	// means that nothing is left to do, here or because another process does it.
	Forget(ctx context.Context, before time.Time) (int64, error)
}

// Mailboxes are those of this hub.
type Mailboxes interface {
	// Check refuses what no mailbox here may hold.
	Check(m relay.Mail) error
	// Stored counts a message and wakes who waits for it.
	Stored(m relay.Mail, q relay.Queued)
}

// Inlet is what a Receiver stands on. All of it is required.
type Inlet struct {
	Gate    *Gate
	Key     Key
	Store   Store
	Mail    Mailboxes
	Limits  relay.Limits
	Rate    *admission.Limiter // by peer
	Metrics *Metrics
	Now     func() time.Time
	Log     *slog.Logger
}

// Receiver takes what peers bring for agents registered here.
type Receiver struct {
	Inlet
	flow *flow
}

// NewReceiver makes a receiver. Run must run beside it.
func NewReceiver(in Inlet) *Receiver { return &Receiver{Inlet: in, flow: newFlow()} }

// Open refuses everything while this hub takes nothing from others.
func (r *Receiver) Open() error { return r.Gate.Open() }

// Receive takes a forward, whose payload is read once it is known that a peer is
// meant to have sent it. The order of the checks is that of wire 2, J.2. It says
// whether the message was taken before.
func (r *Receiver) Receive(ctx context.Context, f wire.Forward, payload func() ([]byte, error)) (duplicate bool, err error) {
	peer, err := r.origin(f)
	if err == nil {
		err = r.receive(ctx, peer, f, payload)
	}
	r.Metrics.received(peer, err)
	if isDuplicate(err) {
		return true, nil
	}
	return false, err
}

// self is this hub's AID, empty while it has none.
func (r *Receiver) self() string {
	if key := r.Key.Current(); key != nil {
		return key.AID()
	}
	return ""
}

// origin finds the peer that a forward says it is from.
func (r *Receiver) origin(f wire.Forward) (peers.Peer, error) {
	if f.V != wire.ForwardVersion {
		return peers.Peer{}, versionUnsupported(f.V)
	}
	peer, err := r.Gate.Peer(f.OriginHubAID)
	if err != nil {
		return peer, err
	}
	if f.Hop > wire.MaxHops || slices.Contains(f.SeenHubs, r.self()) {
		return peer, hopExceeded()
	}
	return peer, nil
}

func (r *Receiver) receive(ctx context.Context, peer peers.Peer, f wire.Forward, payload func() ([]byte, error)) (err error) {
	if f.Payload, err = payload(); err != nil {
		return err
	}
	if err := r.intact(f); err != nil {
		return err
	}
	if err := r.authentic(ctx, peer, f); err != nil {
		return err
	}
	leave, err := r.Enter(peer)
	if err != nil {
		return err
	}
	defer leave()
	return r.deposit(ctx, f)
}

// Enter counts a request of a peer whose signature was checked, until it is done.
func (r *Receiver) Enter(p peers.Peer) (leave func(), err error) {
	if err := r.Rate.Take(p.AID); err != nil {
		return nil, err
	}
	return r.flow.enter(p)
}

// intact compares the payload with what is said of it.
func (r *Receiver) intact(f wire.Forward) error {
	switch size := int64(len(f.Payload)); {
	case size == 0:
		return Malformed("payload is missing")
	case size > r.Limits.Envelope:
		return TooLarge("the envelope has %d bytes, this hub takes %d", size, r.Limits.Envelope)
	case codec.RawCID(f.Payload) != f.PayloadCID:
		return Malformed("payload_cid is not that of the payload")
	}
	return nil
}

// authentic checks the date and the signature.
func (r *Receiver) authentic(ctx context.Context, peer peers.Peer, f wire.Forward) error {
	if !peer.Proven() {
		return notProven()
	}
	if f.TS > maxTS || r.Now().Sub(time.UnixMilli(int64(f.TS))).Abs() > Memory {
		return invalidSignature("the forward is dated more than 15 days from this hub's clock")
	}
	preimage := Preimage(f)
	return r.Gate.Verify(ctx, peer, func(h *identity.History) error {
		return identity.VerifyObject(h, f.OriginHubAID, f.KeyStateSeq, f.TS, preimage, f.Sig)
	})
}

// deposit puts the message into its mailbox. What is wrong with the envelope is
// told after what is wrong with where it is to go.
func (r *Receiver) deposit(ctx context.Context, f wire.Forward) error {
	now := r.Now()
	a := Arrival{relay.Mail{To: f.DestAID, Envelope: f.Payload, At: now}, f.PayloadCID, now.Add(-Memory)}
	if !identity.ValidAID(a.To) {
		return UnknownDestination()
	}
	if bad := r.Mail.Check(a.Mail); bad != nil {
		if err := r.Store.Standing(ctx, a); err != nil {
			return err
		}
		return bad
	}
	q, err := r.Store.Deposit(ctx, a, r.Limits)
	if err == nil {
		r.Mail.Stored(a.Mail, q)
	}
	return err
}
