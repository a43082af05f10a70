package peers

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/anet-hub/anet/hub/internal/upkeep"
)

// refreshEvery is how soon a process notices what was done to the table.
const refreshEvery = time.Second

// Store keeps the table for the processes that serve.
type Store interface {
	// Stamp changes whenever a peer comes, goes or is changed in what Peer holds.
	Stamp(ctx context.Context) (string, error)
	// Peers gives them all in table order.
	Peers(ctx context.Context) ([]Peer, error)
}

// Switch is what an operator says about a direction for the whole hub.
type Switch string

// The settings. Auto is on as soon as there is a peer it is on for.
const (
	Auto Switch = ""
	On   Switch = "on"
	Off  Switch = "off"
)

// Switches are the two directions, which go on and off independently.
type Switches struct{ Delivery, Discovery Switch }

// Table is this process's copy of the table.
type Table struct {
	store    Store
	switches Switches
	log      *slog.Logger
	held     atomic.Pointer[held]
}

// held is one reading of the table. What it gave out is never changed.
type held struct {
	stamp string
	peers []Peer
	byAID map[string]Peer
}

// NewTable makes a table that is empty until its first Refresh.
func NewTable(store Store, switches Switches, log *slog.Logger) *Table {
	t := &Table{store: store, switches: switches, log: log}
	t.held.Store(&held{})
	return t
}

// All gives every peer in table order.
func (t *Table) All() []Peer { return t.held.Load().peers }

// ByAID gives one peer.
func (t *Table) ByAID(aid string) (Peer, bool) {
	p, ok := t.held.Load().byAID[aid]
	return p, ok
}

// Delivering are the peers that mail is offered to, in table order.
func (t *Table) Delivering() []Peer { return t.pick(t.DeliveryOn(), Peer.Delivers) }

// Discovering are the peers that are learned from, in table order.
func (t *Table) Discovering() []Peer { return t.pick(t.DiscoveryOn(), Peer.Discovers) }

func (t *Table) pick(on bool, is func(Peer) bool) (out []Peer) {
	for _, p := range t.All() {
		if on && p.Reached() && is(p) {
			out = append(out, p)
		}
	}
	return out
}

// DeliveryOn reports whether this hub forwards and takes forwards at all. A peer
// that is paused counts: an agent that is not here may be there, and its senders
// are not told that there is no such agent.
func (t *Table) DeliveryOn() bool {
	return t.on(t.switches.Delivery, func(p Peer) bool { return p.Delivery })
}

// DiscoveryOn reports whether this hub tells and learns at all. What it tells is
// open to everyone (wire 2, J.4).
func (t *Table) DiscoveryOn() bool { return t.on(t.switches.Discovery, Peer.Discovers) }

// DiscoveryOff reports whether an operator switched discovery off for the whole
// hub. Without peers, or while all are paused, it is not on, and not off either.
func (t *Table) DiscoveryOff() bool { return t.switches.Discovery == Off }

func (t *Table) on(s Switch, is func(Peer) bool) bool {
	if s != Auto {
		return s == On
	}
	for _, p := range t.All() {
		if is(p) {
			return true
		}
	}
	return false
}

// Refresh reads the table if it was changed.
func (t *Table) Refresh(ctx context.Context) error {
	stamp, err := t.store.Stamp(ctx)
	if err != nil {
		return fmt.Errorf("look at the peers: %w", err)
	}
	if now := t.held.Load(); now.byAID != nil && now.stamp == stamp {
		return nil
	}
	list, err := t.store.Peers(ctx)
	if err != nil {
		return fmt.Errorf("read the peers: %w", err)
	}
	next := &held{stamp: stamp, peers: list, byAID: make(map[string]Peer, len(list))}
	for _, p := range list {
		next.byAID[p.AID] = p
	}
	t.held.Store(next)
	return nil
}

// Run follows the table until ctx ends. While it cannot be read, what was read
// last holds.
func (t *Table) Run(ctx context.Context) error {
	return upkeep.Every(ctx, refreshEvery, t.log, "the peers could not be read: what was read last holds", t.Refresh)
}
