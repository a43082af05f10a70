package app

import (
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/identity"
)

// taughtCache bounds replayed histories of what peers teach. They have a cache of
// their own: a peer's first hundred thousand agents would otherwise put everybody
// out of the one that requests are checked with.
const taughtCache = 8 << 20

// newPuller learns from peers.
func (b *base) newPuller() *learned.Puller {
	return learned.NewPuller(learned.Puller{
		Vetter: learned.Vetter{Replay: identity.NewCache(taughtCache).Replay, Now: clock},
		Store:  postgres.NewLearned(b.pool, b.cfg.peerQuota()), Net: b.outbound, Peers: b.peers, Horizon: b.presence,
		Metrics: learned.NewMetrics(peers.Following{Registerer: b.reg, Table: b.peers}), Log: b.log,
	})
}

// peerQuota is what one peer may teach. Marks outlive what they are of, so that
// there is room for more of them.
func (c *Config) peerQuota() learned.Room {
	return learned.Room{Agents: c.PeerAgents, Marks: 2 * c.PeerAgents, Bytes: int64(c.PeerBytes)}
}
