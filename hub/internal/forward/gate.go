package forward

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/identity"
)

// Table is the table of peers, as this process knows it.
type Table interface {
	// All gives every peer, in the order in which they are asked.
	All() []peers.Peer
	ByAID(aid string) (peers.Peer, bool)
	// DeliveryOn reports whether this hub passes mail on and takes it from others.
	DeliveryOn() bool
}

// Prover finds out who peers are.
type Prover interface {
	// Recheck has the key history of a peer fetched again, unless that was done a
	// moment ago. It does not wait: what is found comes into the table.
	Recheck(aid string)
}

// Gate decides which hubs are listened to.
type Gate struct {
	Table  Table
	Prover Prover // nil where nobody looks again
	Replay func(kel []byte) (*identity.History, error)

	doubts doubts
}

// Open refuses everything while delivery is off.
func (g *Gate) Open() error {
	if !g.Table.DeliveryOn() {
		return deliveryOff()
	}
	return nil
}

// Peer finds who says it is a peer. Nothing is proven by that.
func (g *Gate) Peer(aid string) (peers.Peer, error) {
	p, ok := g.Table.ByAID(aid)
	if !ok || !p.Delivers() {
		return peers.Peer{}, noPeer()
	}
	return p, nil
}

// Verify runs a check under the key history of a peer. Where the signature names a
// key that the history does not reach, the peer may have moved to its next one:
// its history is fetched again, and the check runs once more.
func (g *Gate) Verify(ctx context.Context, p peers.Peer, check func(*identity.History) error) error {
	if !p.Proven() {
		return notProven()
	}
	err := g.under(p, check)
	if identity.CodeOf(err) == identity.KeyStateDowngrade && g.longer(ctx, &p) {
		err = g.under(p, check)
	}
	if err != nil {
		return invalidSignature("the signature does not verify under the peer's key history").Because(err)
	}
	return nil
}

func (g *Gate) under(p peers.Peer, check func(*identity.History) error) error {
	h, err := g.Replay(p.KEL)
	if err != nil {
		return err
	}
	return check(h)
}

// longer waits a little for a longer history of a peer: whoever is the first to
// doubt it. Everybody can sign in a peer's name with a key there is not.
func (g *Gate) longer(ctx context.Context, p *peers.Peer) bool {
	if g.Prover == nil || !g.doubts.first(p.ID) {
		return false
	}
	g.Prover.Recheck(p.AID)
	ctx, cancel := context.WithTimeout(ctx, doubtWait)
	defer cancel()
	tick := time.NewTicker(doubtWait / 100)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if now, ok := g.Table.ByAID(p.AID); ok && len(now.KEL) > len(p.KEL) {
			*p = now
			return true
		}
	}
}
