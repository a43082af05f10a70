package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/anet-hub/anet/hub/internal/audit"
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
	for flag, value := range map[string]string{"--federation-delivery": c.Delivery, "--federation-discovery": c.Discovery, "--federation-witness": c.Witness} {
		if s := peers.Switch(value); s != peers.Auto && s != peers.On && s != peers.Off {
			return fmt.Errorf("%s is %q: it is on or off", flag, value)
		}
	}
	_, err := ranges("--peer-allow-range", c.PeerRanges)
	return err
}

// filePeers makes the peers of --peers-file those of the table.
func (a *App) filePeers(ctx context.Context, self string) error {
	list, err := a.cfg.readPeers(self)
	if err != nil {
		return err
	}
	by := audit.By{Who: "--peers-file", How: "serve"}
	changed, err := postgres.NewPeers(a.data.DB.Pool).Sync(ctx, list, by.Did("", "", clock()))
	if err != nil {
		return fmt.Errorf("--peers-file: %w", err)
	}
	if changed == 0 {
		return nil
	}
	a.log.Info("the peers of the file are those of the hub", "file", a.cfg.PeersFile, "peers", len(list), "changed", changed)
	return a.tellLeftDebts(ctx)
}

// tellLeftDebts says what stays between this hub and hubs that are no peers any more.
func (a *App) tellLeftDebts(ctx context.Context) error {
	debts, err := postgres.NewLedger(a.data.DB.Pool, nil).Debts(ctx)
	if err != nil {
		return err
	}
	known, err := postgres.NewPeers(a.data.DB.Pool).Peers(ctx)
	if err != nil {
		return err
	}
	for _, d := range debts {
		peer := slices.ContainsFunc(known, func(p peers.Peer) bool { return p.AID == d.Hub })
		if !peer && (d.Owed > 0 || d.Due > 0) {
			a.log.Warn("credits are owed between this hub and one that is no peer: nobody can clear them before it is a peer again",
				"hub", d.Hub, "it_owes", d.Owed, "we_owe", d.Due)
		}
	}
	return nil
}

const maxPeersFile = 1 << 20 // a larger file is surely another one

func (c *Config) readPeers(self string) ([]peers.Entry, error) {
	if c.PeersFile == "" {
		return nil, nil
	}
	f, err := os.Open(c.PeersFile)
	if err != nil {
		return nil, fmt.Errorf("--peers-file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPeersFile))
	if err != nil {
		return nil, fmt.Errorf("--peers-file: %w", err)
	}
	list, err := peers.ParseFile(text, self)
	if err != nil {
		return nil, fmt.Errorf("--peers-file %s: %w", c.PeersFile, err)
	}
	return list, nil
}
