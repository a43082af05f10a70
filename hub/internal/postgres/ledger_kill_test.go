package postgres

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/embedpg"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/hub/internal/replay"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// The server dies in the middle of payments, again and again. What was answered is
// there afterwards; what was not is settled by bringing the same payments again,
// once each, and the books hold.
func TestPaymentsOnAServerThatIsKilled(t *testing.T) {
	if err := embedpg.Installed(); err != nil {
		t.Fatalf("this story kills a server of its own: %v", err)
	}
	dir, c := serverFolder(t), newClock()
	s := serve(t, dir)
	defer func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	pool := poolOn(t, s.URL())
	defer pool.Close()
	b := bankOn(t, pool, c)
	members := []*directorytest.Node{b.member(), b.member(), b.member(), b.member()}
	for round := range 3 {
		payments := make([]*ledgertest.Payment, 60)
		for i := range payments {
			payments[i] = b.pay(members[i%4], members[(i+1+i/4%3)%4], 1+uint64(i%3))
		}
		if err := newReplay(pool, c).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.advance(2 * replay.Clocks)
		due := b.newcomers(20)
		burnt := ledgertest.Pay(members[0].Key, b.key.AID(), b.key.AID(), 1, c.now())
		said := b.bring(payments, func() {
			var meanwhile sync.WaitGroup
			meanwhile.Go(func() { _ = b.BookGrants(context.Background()) })
			meanwhile.Go(func() { _, _ = b.Redeem(context.Background(), burnt.Payload(t), "r", "") })
			pgtest.Crash(t, dir, pool)
			meanwhile.Wait()
		})
		testkit.Until(t, "the server takes connections", func() bool { return pool.Ping(context.Background()) == nil })
		lost := 0
		for i, p := range payments {
			if !said[i].Success {
				lost++
			}
			s := b.mustSettle(p)
			if before := said[i]; before.Success && string(before.Extensions[payment.ExtReceipt]) != string(s.Extensions[payment.ExtReceipt]) {
				t.Errorf("round %d, payment %d: another receipt after the crash", round, i)
			}
			if said[i].Success && s.Extensions[payment.ExtReplayed] == nil {
				t.Errorf("round %d, payment %d was answered and lost", round, i)
			}
		}
		t.Logf("round %d: %d of %d payments had no answer", round, lost, len(payments))
		if _, err := b.Redeem(t.Context(), burnt.Payload(t), "r", ""); err != nil {
			t.Error(err)
		}
		if err := b.BookGrants(t.Context()); err != nil {
			t.Error(err)
		}
		for _, n := range due {
			if b.balance(n) != 100 {
				t.Errorf("round %d: a newcomer has %d, want its grant", round, b.balance(n))
			}
		}
		if r, want := b.balanced(), uint64(400+(round+1)*(2000-1)); r.Balances != want {
			t.Errorf("round %d: %d credits, want %d", round, r.Balances, want)
		}
	}
}

// bring settles payments from all sides, and has something happen meanwhile.
func (b *bank) bring(payments []*ledgertest.Payment, happen func()) []payment.SettlementResponse {
	said := make([]payment.SettlementResponse, len(payments))
	var wg sync.WaitGroup
	answered := make(chan struct{}, len(payments))
	for i, p := range payments {
		wg.Go(func() {
			said[i], _ = b.Settle(context.Background(), p.Request(b.t), "")
			answered <- struct{}{}
		})
	}
	for range 2 + rand.IntN(20) {
		<-answered
	}
	happen()
	wg.Wait()
	return said
}

// newcomers are registered and wait for their grant.
func (b *bank) newcomers(n int) (all []*directorytest.Node) {
	b.t.Helper()
	for range n {
		agent := b.node()
		b.register(agent, agent.Register("n"))
		all = append(all, agent)
	}
	return all
}

// bankOn is a bank on a server that is there.
func bankOn(t *testing.T, pool *pgxpool.Pool, c *clock) *bank {
	t.Helper()
	proofs := newReplay(pool, c)
	if err := proofs.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := NewDirectory(pool, proofs)
	l := &lives{Lives: directorytest.Usual{}, store: store}
	b := &bank{key: testkit.Agent(t, 1), hub: &hub{t: t, pool: pool, store: store, clock: c, lives: l,
		Directory: directory.New(store, l, admission.Door{}, identity.Replay, c.now)}}
	b.Ledger = newLedger(NewLedger(pool, proofs), b, identity.NewCache(1<<20).Replay, c.now)
	return b
}
