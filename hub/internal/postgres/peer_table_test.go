package postgres

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit"
)

// serving is a process of the hub as far as it follows the table.
func serving(t *testing.T, url string) *peers.Table {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	table := peers.NewTable(NewPeers(pool), peers.Switches{}, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- table.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	return table
}

// What a command does is in force at every process within about a second.
func TestPeersReachEveryProcess(t *testing.T) {
	url := pgtest.URL(t)
	one, two := serving(t, url), serving(t, url)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s := NewPeers(pool)
	reaches := func(says string, is func(*peers.Table) bool) {
		t.Helper()
		testkit.Until(t, says+", and both processes know", func() bool { return is(one) && is(two) })
	}
	if err := s.Add(t.Context(), peers.Peer{AID: "a", Endpoint: "https://a", Name: "a", Delivery: true, KEL: []byte("kel")}, did("peer.add")); err != nil {
		t.Fatal(err)
	}
	reaches("added", func(t *peers.Table) bool { return t.DeliveryOn() && len(t.Delivering()) == 1 && !t.DiscoveryOn() })
	id := s.named(t, "a").ID
	if err := s.Change(t.Context(), id, did("peer.pause"), func(p *peers.Peer) error { p.Paused = true; return nil }); err != nil {
		t.Fatal(err)
	}
	reaches("paused", func(t *peers.Table) bool { return len(t.Delivering()) == 0 && len(t.All()) == 1 })
	if err := s.Remove(t.Context(), id, false, did("peer.remove")); err != nil {
		t.Fatal(err)
	}
	reaches("removed", func(t *peers.Table) bool { return len(t.All()) == 0 })
}
