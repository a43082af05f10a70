package learned

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
)

// teaching is how often it is looked at who teaches.
const teaching = 15 * time.Second

// Watch brings lists to what holds for the peers that teach: who is learned from
// no more is in no list, and neither is what a peer taught that was not heard of
// for as long as hides an agent. What was taught stays, and is back with the peer.
func (p *Puller) Watch(ctx context.Context) error {
	return upkeep.Every(ctx, teaching, p.Log, "which peers' agents lists show was not looked at", p.Judge)
}

// Judge looks at it once.
func (p *Puller) Judge(ctx context.Context) error {
	teachers, err := p.Store.Teachers(ctx)
	if err != nil {
		return err
	}
	now := p.Now()
	for _, t := range teachers {
		listed := p.listed(t, now)
		if t.Listed == listed && !t.Tour {
			continue
		}
		for done := false; !done; {
			if done, err = p.Store.List(ctx, t.Peer, listed); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed decides whether lists show what a peer taught. A pause keeps it, also
// where it leaves nobody to learn from.
func (p *Puller) listed(t Teacher, now time.Time) bool {
	if p.Peers.DiscoveryOff() || !t.Heard.After(p.Horizon.Horizon(now).Hidden) {
		return false
	}
	for _, peer := range p.Peers.All() {
		if peer.ID == t.Peer {
			return peer.Discovery
		}
	}
	return t.Listed // it was removed a moment ago, or added
}
