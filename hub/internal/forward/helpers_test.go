package forward

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/relay"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

var testNow = time.UnixMilli(1_767_225_600_000)

func newHub(t testing.TB) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// held is a key that a hub has.
type held struct{ key *identity.Controller }

func (h held) Current() *identity.Controller { return h.key }

// table is a table of peers that tests write into.
type table struct {
	mu   sync.Mutex
	list []peers.Peer
	off  bool
}

// tableOf has a peer under each name, each of which is proven.
func tableOf(names ...string) *table {
	t := &table{}
	for i, name := range names {
		t.list = append(t.list, peers.Peer{ID: int64(i + 1), AID: "aid of " + name, Name: name, Delivery: true, KEL: []byte("x")})
	}
	return t
}

func (t *table) change(name string, how func(*peers.Peer)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		if t.list[i].Name == name {
			how(&t.list[i])
		}
	}
}

func (t *table) All() []peers.Peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

func (t *table) DeliveryOn() bool { return !t.off }

func (t *table) ByAID(aid string) (peers.Peer, bool) {
	for _, p := range t.All() {
		if p.AID == aid {
			return p, true
		}
	}
	return peers.Peer{}, false
}

// What peers do, by their first letters.
var (
	takes  = func(context.Context) error { return nil }
	knows  = func(context.Context) error { return errs.New(errs.NotFound, "peer_knows_not", "no") }
	full   = func(context.Context) error { return relay.MailboxFull() }
	policy = func(context.Context) error { return No("policy") }
	broken = func(context.Context) error { return errs.New(errs.Unavailable, "peer_failed", "500") }
	hangs  = func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("hung: %w", ctx.Err()) }
)

// world is what peers do, and who was asked.
type world struct {
	does  map[string]func(context.Context) error
	mu    sync.Mutex
	asked []string
}

func (w *world) ask(ctx context.Context, p peers.Peer) error {
	w.mu.Lock()
	w.asked = append(w.asked, p.Name)
	w.mu.Unlock()
	return w.does[p.Name](ctx)
}

func (w *world) Forward(ctx context.Context, p peers.Peer, f wire.Forward) error {
	if f.Hop != 1 || len(f.Sig) == 0 {
		return No("no forward: %+v", f)
	}
	return w.ask(ctx, p)
}

func (w *world) calls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.asked
	w.asked = nil
	return all
}

func newOrigin(t testing.TB, peersOf *table, w *world) *Origin {
	return NewOrigin(Outlet{
		Table: peersOf, Circuits: NewQueue(peers.NewCircuits(time.Now)), Carrier: w, Key: held{newHub(t)},
		Memory: budget.New(1 << 40), Metrics: NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	})
}

func reasonOf(err error) string {
	if e := errs.As(err); e != nil {
		return e.Reason
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
