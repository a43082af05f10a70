package app

import (
	"context"
	"fmt"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/hub/internal/outbound"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/version"
)

// federate readies what stands between this hub and others.
func (b *base) federate(ctx context.Context) (err error) {
	if b.outbound, err = b.cfg.Outbound(); err != nil {
		return err
	}
	store := postgres.NewPeers(b.pool)
	b.peers, b.circuits = peers.NewTable(store, b.cfg.switches(), b.log), peers.NewCircuits(clock)
	b.prover = peers.NewProver(peers.ProverDeps{
		Store: store, Hubs: b.outbound, Table: b.peers, Circuits: b.circuits, Now: clock, Log: b.log,
	})
	b.calls = forward.NewQueue(b.circuits)
	b.forwards = forward.NewMetrics(peers.Following{Registerer: b.reg, Table: b.peers})
	b.watch = peers.NewWatch(b.peers, b.circuits, store, clock, b.log)
	b.reg.MustRegister(b.watch)
	return b.peers.Refresh(ctx)
}

// Outbound makes the one client that calls peers.
func (c *Config) Outbound() (*outbound.Client, error) {
	allow, err := ranges("--peer-allow-range", c.PeerRanges)
	if err != nil {
		return nil, err
	}
	return outbound.New(outbound.Options{Allow: allow, Version: version.String()}), nil
}

func (c *Config) switches() peers.Switches {
	return peers.Switches{Delivery: peers.Switch(c.Delivery), Discovery: peers.Switch(c.Discovery)}
}

func (c *Config) checkFederation() error {
	for flag, value := range map[string]string{"--federation-delivery": c.Delivery, "--federation-discovery": c.Discovery} {
		if s := peers.Switch(value); s != peers.Auto && s != peers.On && s != peers.Off {
			return fmt.Errorf("%s is %q: it is on or off", flag, value)
		}
	}
	_, err := ranges("--peer-allow-range", c.PeerRanges)
	return err
}
