package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// bank is a hub with a ledger on the same database.
type bank struct {
	*hub
	*ledger.Ledger
	key *identity.Controller
}

func (b *bank) Current() *identity.Controller { return b.key }

func newBank(t *testing.T) *bank {
	h := newHub(t)
	b := &bank{hub: h, key: testkit.Agent(t, 1)}
	b.Ledger = b.another()
	return b
}

// another is the ledger of another process.
func (b *bank) another() *ledger.Ledger {
	return newLedger(NewLedger(b.pool, newReplay(b.pool, b.clock)), b, identity.NewCache(1<<20).Replay, b.clock.now)
}

// newLedger is a ledger that stands alone and has no rates.
func newLedger(store ledger.Store, key ledger.Key, replay func([]byte) (*identity.History, error), now func() time.Time) *ledger.Ledger {
	free := func() *admission.Limiter { return admission.NewLimiter(1e6, 1e6, "no_rate", now) }
	return ledger.New(ledger.Deps{Store: store, Key: key, Peers: ledgertest.Alone{}, Grants: 100, Payers: free(), Bearers: free(), Askers: free(), Asked: free(),
		Replay: replay, Now: now, Log: quiet(), Metrics: prometheus.NewRegistry()})
}

// member is registered and has its grant.
func (b *bank) member() *directorytest.Node {
	b.t.Helper()
	n := b.node()
	b.register(n, n.Register("n"))
	if err := b.BookGrants(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *bank) pay(from, to *directorytest.Node, amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(from.Key, to.AID(), b.key.AID(), amount, b.clock.now())
}

func (b *bank) redeem(from *directorytest.Node, amount uint64, reference string) (ledger.Redemption, error) {
	p := ledgertest.Pay(from.Key, b.key.AID(), b.key.AID(), amount, b.clock.now()).For("redeem:" + reference)
	return b.Redeem(context.Background(), p.Payload(b.t), reference, "")
}

func (b *bank) mustSettle(p *ledgertest.Payment) payment.SettlementResponse {
	b.t.Helper()
	s, err := b.Settle(context.Background(), p.Request(b.t), "")
	if err != nil || !s.Success {
		b.t.Fatalf("%+v, %v", s, err)
	}
	return s
}

func (b *bank) balance(n *directorytest.Node) uint64 {
	b.t.Helper()
	a, _, err := b.Show(context.Background(), n.AID(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.Balance
}

// balanced audits the books.
func (b *bank) balanced() ledger.Report {
	b.t.Helper()
	r, err := b.Audit(context.Background())
	if err != nil || len(r.Wrong) > 0 {
		b.t.Fatalf("the books: %v, %v", r.Wrong, err)
	}
	return r
}

func (b *bank) run(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(context.Background(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bank) tryLeave(n *directorytest.Node) error {
	_, err := b.Deregister(context.Background(), b.known(n))
	return err
}

// findsEvery makes each change in turn, has the books examined, and takes it back.
func (b *bank) findsEvery(changes ...string) {
	t := b.t
	t.Helper()
	for _, sql := range changes {
		err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
			r, err := ledger.Examine(t.Context(), b.key.History(), identity.Replay, books{tx})
			if err == nil && len(r.Wrong) == 0 {
				t.Errorf("%s: nothing is found", sql)
			}
			return errors.Join(err, errRolledBack)
		})
		if !errors.Is(err, errRolledBack) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
