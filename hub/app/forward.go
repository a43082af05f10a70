package app

import (
	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/httpapi"
	"github.com/anet-hub/anet/hub/internal/hubkey"
	"github.com/anet-hub/anet/hub/internal/outbound"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/hub/internal/relay"
)

// forwardRate and forwardBurst bound what one peer brings, a minute and at once:
// far above what a hub of ours passes on, far below what would hurt.
const forwardRate, forwardBurst = 200 * 60, 2000

// streamRate and streamBurst bound the pages that one address reads, a minute and at
// once: a peer reads all of 300,000 agents without meeting them.
const streamRate, streamBurst = 10 * 60, 3000

// newStreams tells peers of the agents here.
func (b *base) newStreams() *httpapi.Streams {
	return &httpapi.Streams{
		Feed: feed.New(postgres.NewFeed(b.pool), b.peers),
		Rate: admission.NewLimiter(streamRate, streamBurst, "stream_rate", clock),
	}
}

// newOrigin offers mail to peers.
func (b *base) newOrigin(key *hubkey.Keeper) *forward.Origin {
	return forward.NewOrigin(forward.Outlet{
		Table: b.peers, Circuits: b.calls, Carrier: b.outbound, Key: key, Metrics: b.forwards, Now: clock,
		Memory: budget.New(b.cfg.awayMemory()),
	})
}

// newFinder asks peers for keys.
func (b *base) newFinder(key *hubkey.Keeper) *forward.Finder {
	return forward.NewFinder(forward.Search{
		Table: b.peers, Circuits: b.calls, Carrier: outbound.NewKeyAsker(b.outbound, key, clock),
		Locals: postgres.NewForwards(b.pool), Now: clock,
		Rate: admission.NewLimiter(b.cfg.KeysLookupRate, b.cfg.KeysLookupBurst, "keys_lookup_rate", clock),
	})
}

// newFederation answers peers.
func (b *base) newFederation(key *hubkey.Keeper, mail *relay.Relay) *httpapi.Federation {
	store := postgres.NewForwards(b.pool)
	return &httpapi.Federation{
		Receiver: forward.NewReceiver(forward.Inlet{
			Gate: &forward.Gate{Table: b.peers, Prover: b.prover, Replay: b.histories.Replay}, Key: key,
			Store: store, Mail: mail, Limits: mail.Limits, Metrics: b.forwards, Now: clock, Log: b.log,
			Rate: admission.NewLimiter(forwardRate, forwardBurst, "forward_rate", clock),
		}),
		Keys:   &forward.KeyDesk{Replays: b.proofs, Agents: store},
		Memory: budget.New(b.cfg.forwardMemory()), Room: b.cfg.peerQuota(),
	}
}

// awayMemory is what messages may hold of the memory for all requests while peers
// take their time with them: a quarter. A larger one passes when it is alone.
func (c *Config) awayMemory() int64 { return int64(c.Memory / 4) }

// forwardMemory is what forwards of peers may take of the memory for all requests: half of
// it, or what the largest needs.
func (c *Config) forwardMemory() int64 { return int64(max(c.Memory/2, c.leastMemory())) }
