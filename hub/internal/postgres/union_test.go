package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// line is what a bank reaches its peer by: it loses every third answer while it is
// bad, after the other side has acted.
type line struct {
	ledgertest.Alone
	peer *bank
	mu   sync.Mutex
	r    *rand.Rand
	bad  bool
}

var errLost = errors.New("the answer was lost")

func (l *line) lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad && l.r.IntN(3) == 0 {
		return errLost
	}
	return nil
}

func (l *line) All() []string { return []string{l.peer.key.AID()} }

func (l *line) History(aid string) (*identity.History, bool) {
	return l.peer.key.History(), aid == l.peer.key.AID()
}

func (l *line) Settle(ctx context.Context, _ string, req payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	s, err := l.peer.Settle(ctx, req, "")
	return s, errors.Join(err, l.lost())
}

func (l *line) HomeOf(ctx context.Context, hubs []string, aid string) (string, error) {
	if _, err := l.peer.store.KnownKEL(ctx, aid); err != nil {
		return "", nil
	}
	return hubs[0], l.lost()
}

func (l *line) Clear(ctx context.Context, _, self string, receipt []byte) error {
	_, err := l.peer.TakeDischarge(ctx, self, receipt)
	return errors.Join(err, l.lost())
}

// union is two banks that clear with each other, each with agents of its own.
type union struct {
	t       *testing.T
	banks   [2]*bank
	lines   [2]*line
	members [2][]*directorytest.Node
}

func newUnion(t *testing.T, seed uint64) *union {
	u := &union{t: t, banks: [2]*bank{newBank(t), newBank(t)}}
	u.banks[1].key = testkit.Agent(t, 2)
	for i, b := range u.banks {
		u.lines[i] = &line{peer: u.banks[1-i], r: rand.New(rand.NewPCG(seed, uint64(i)))}
		b.Peers = u.lines[i]
		for range 3 {
			u.members[i] = append(u.members[i], b.member())
		}
		if err := b.Allow(t.Context(), u.banks[1-i].key.AID(), true, 10_000, audit.By{Who: "op", How: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func (u *union) weather(bad bool) {
	for _, l := range u.lines {
		l.mu.Lock()
		l.bad = bad
		l.mu.Unlock()
	}
}

// deal is a payment on the ledger of one bank to an agent of either, brought to
// where its payee is.
type deal struct {
	p          *ledgertest.Payment
	ledger, at int
	from, to   string
	amount     uint64
}

func (u *union) deal(r *rand.Rand) *deal {
	d := &deal{ledger: r.IntN(2), at: r.IntN(2), amount: 1 + r.Uint64N(40)}
	from, to := u.members[d.ledger][r.IntN(3)], u.members[d.at][r.IntN(3)]
	d.from, d.to = from.AID(), to.AID()
	d.p = ledgertest.Pay(from.Key, d.to, u.banks[d.ledger].key.AID(), d.amount, u.banks[0].clock.now())
	return d
}

func (u *union) bring(d *deal) bool {
	s, err := u.banks[d.at].Settle(context.Background(), d.p.Request(u.t), "")
	switch {
	case s.Success:
		return true
	case s.ErrorReason == payment.InsufficientFunds, s.ErrorReason == payment.SettlementPending && errors.Is(err, errLost):
	default:
		u.t.Errorf("%+v, %v", s, err)
	}
	return false
}

// clear has a bank state that it paid; where the answer is lost it does so again. A
// debt may stand at one hub alone, until the payment is brought again.
func (u *union) clear(i int, amount uint64) {
	for range 50 {
		_, err := u.banks[i].Clear(context.Background(), u.banks[1-i].key.AID(), amount, "", audit.By{Who: "op", How: "test"})
		switch {
		case err == nil:
			return
		case errors.Is(err, errLost):
		case testkit.Reason(err) == "more_than_due", testkit.Reason(err) == wire.MoreThanOwed:
			return
		default:
			u.t.Errorf("clear: %v", err)
			return
		}
	}
	u.t.Error("no statement came through")
}

func (u *union) settleUp(deals []*deal, beside map[string]int64) {
	u.t.Helper()
	want := map[string]int64{}
	for _, members := range u.members {
		for _, n := range members {
			want[n.AID()] = 100 + beside[n.AID()]
		}
	}
	crossed := [2]uint64{} // by the ledger that owes
	for _, d := range deals {
		if !u.bring(d) {
			continue
		}
		want[d.from] -= int64(d.amount)
		want[d.to] += int64(d.amount)
		if d.ledger != d.at {
			crossed[d.ledger] += d.amount
		}
	}
	for i, b := range u.banks {
		for _, n := range u.members[i] {
			if got := int64(b.balance(n)); got != want[n.AID()] {
				u.t.Errorf("%s has %d, want %d", n.AID(), got, want[n.AID()])
			}
		}
		b.balanced()
		due, owed := u.debt(i).Due, u.debt(1-i).Owed
		paid := u.stated(i)
		if due != owed || due != crossed[i]-paid {
			u.t.Errorf("bank %d owes %d by its books and %d by the other's, want %d less %d", i, due, owed, crossed[i], paid)
		}
	}
}

func (u *union) debt(i int) ledger.Debt {
	u.t.Helper()
	all, err := u.banks[i].Debts(context.Background())
	if err != nil || len(all) != 1 {
		u.t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

// stated is what a bank stated to have paid.
func (u *union) stated(i int) (sum uint64) {
	u.t.Helper()
	err := u.banks[i].pool.QueryRow(context.Background(), `SELECT coalesce(sum(amount), 0)::bigint FROM discharge WHERE ours`).Scan(&sum)
	if err != nil {
		u.t.Fatal(err)
	}
	return sum
}
