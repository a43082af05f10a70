package postgres

import (
	"context"
	"errors"
	"fmt"
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
)

func (l *line) Verify(ctx context.Context, _ string, req payment.FacilitatorRequest) (payment.VerifyResponse, error) {
	v, err := l.peer.Verify(ctx, req, "")
	return v, errors.Join(err, l.lost())
}

// Payments, grants, redemptions and statements of two hubs in any order and at once,
// over a line that loses answers: once every payment was brought again, each balance
// and each debt is what the payments that were settled come to.
func TestTwoHubsKeepEvenBooks(t *testing.T) {
	for seed := range uint64(2) {
		u := newUnion(t, seed)
		u.weather(true)
		var mu sync.Mutex
		var deals []*deal
		beside := map[string]int64{} // what was granted, less what was redeemed
		book := func(n *directorytest.Node, delta int64) {
			mu.Lock()
			defer mu.Unlock()
			beside[n.AID()] += delta
		}
		var wg sync.WaitGroup
		for worker := range 4 {
			r := rand.New(rand.NewPCG(seed, uint64(10+worker)))
			wg.Go(func() {
				for range 25 {
					i := r.IntN(2)
					n, amount := u.members[i][r.IntN(3)], 1+r.Uint64N(20)
					switch r.IntN(9) {
					case 0:
						if _, err := u.banks[i].redeem(n, amount, fmt.Sprint(worker, r.Uint64())); err == nil {
							book(n, -int64(amount))
						} else if say(err) != payment.InsufficientFunds {
							t.Error(err)
						}
					case 1:
						if _, err := u.banks[i].Grant(context.Background(), n.AID(), amount, audit.By{Who: "op", How: "test"}); err != nil {
							t.Error(err)
						} else {
							book(n, int64(amount))
						}
					case 2:
						if worker > 0 {
							continue // one operator clears
						}
						u.clear(i, amount)
					default:
						d := u.deal(r)
						u.bring(d)
						mu.Lock()
						deals = append(deals, d)
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		u.weather(false)
		for _, d := range deals {
			u.bring(d)
		}
		u.settleUp(deals, beside)
	}
}

// gate has a number of payments settled at the peer before it gives any answer.
type gate struct {
	*line
	open sync.WaitGroup
}

func (g *gate) Settle(ctx context.Context, hub string, req payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	s, err := g.line.Settle(ctx, hub, req)
	g.open.Done()
	g.open.Wait()
	return s, err
}

// A peer that settles many payments before it answers owes no more than it may, also
// where two processes asked it. What came too late is open, and credited once there is
// room; and what was credited stays so where no more is taken.
func TestAPeerOwesNoMoreThanItMay(t *testing.T) {
	u := newUnion(t, 1)
	b, peer := u.banks[0], u.banks[1].key.AID()
	by := audit.By{Who: "op", How: "test"}
	if err := b.Allow(t.Context(), peer, true, 50, by); err != nil {
		t.Fatal(err)
	}
	shut := &gate{line: u.lines[0]}
	shut.open.Add(10) // five of each process, and there is room for five
	other := b.another()
	b.Peers, other.Peers = shut, shut
	payments := make([]*ledgertest.Payment, 20)
	var wg sync.WaitGroup
	for i := range payments {
		from := u.members[1][i%3]
		payments[i] = ledgertest.Pay(from.Key, u.members[0][0].AID(), peer, 10, b.clock.now())
		at := []*ledger.Ledger{b.Ledger, other}[i%2]
		wg.Go(func() {
			if s, err := at.Settle(context.Background(), payments[i].Request(t), ""); !s.Success && (say(err) != "debt_at_limit" || s.ErrorReason != payment.SettlementPending) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	wg.Wait()
	b.Peers = u.lines[0]
	settled := func() (n, open int) {
		for _, p := range payments {
			switch s, err := b.Settle(context.Background(), p.Request(t), ""); {
			case s.Success:
				n++
			case err == nil && s.ErrorReason == payment.SettlementPending:
				open++
			case s.ErrorReason != payment.SettlementFailed:
				t.Errorf("%+v, %v", s, err)
			}
		}
		return n, open
	}
	if n, open := settled(); n != 5 || open != 5 || u.debt(0).Owed != 50 {
		t.Errorf("%d payments of 10 are settled, %d open and %d owed; want 5, 5 and 50", n, open, u.debt(0).Owed)
	}
	if _, err := u.banks[1].Clear(t.Context(), b.key.AID(), 30, "", by); err != nil {
		t.Fatal(err)
	}
	if n, _ := settled(); n != 8 || u.debt(0).Owed != 50 {
		t.Errorf("with room for 30: %d payments of 10 are settled and %d owed; want 8 and 50", n, u.debt(0).Owed)
	}
	if err := b.Allow(t.Context(), peer, false, 0, by); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range payments {
		if s, err := b.Settle(t.Context(), p.Request(t), ""); err == nil && s.Success {
			n++
		}
	}
	if n != 8 {
		t.Errorf("once no more is taken %d of 8 payments are known", n)
	}
	b.balanced()
}

// An audit finds what is changed in the books of debts, and is not misled by a peer that
// dates a rotation of its key to before it settled.
func TestAuditFindsEveryChangeOfADebt(t *testing.T) {
	u := newUnion(t, 1)
	b, peer := u.banks[0], u.banks[1]
	by := audit.By{Who: "op", How: "test"}
	for i, from := range []*bank{b, peer} {
		to := u.banks[1-i]
		for range 2 {
			p := ledgertest.Pay(u.members[i][0].Key, u.members[1-i][0].AID(), from.key.AID(), 10, b.clock.now())
			if s, err := to.Settle(t.Context(), p.Request(t), ""); err != nil || !s.Success {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		if _, err := from.Clear(t.Context(), to.key.AID(), 7, "", by); err != nil {
			t.Fatal(err)
		}
	}
	b.run(`INSERT INTO peer (position, aid, endpoint, name, delivery, discovery, added_at, next_try_at, proved_at, kel)
		VALUES (1, $1, 'https://peer.example', 'peer', false, false, now(), now(), now(), $2)`,
		peer.key.AID(), testkit.Rotated(t, peer.key, testkit.Now).KEL())
	b.balanced()
	const spoilt = ` = set_byte(receipt, length(receipt) - 1, 255 - get_byte(receipt, length(receipt) - 1))`
	b.findsEvery(
		`UPDATE clearing SET owed = owed + 1`,
		`UPDATE clearing SET due = due + 1`,
		`DELETE FROM clearing`,
		`DELETE FROM peer_payment`,
		`UPDATE peer_payment SET amount = amount + 1`,
		`UPDATE peer_payment SET pay_to = payer`,
		`UPDATE peer_payment SET hub = payer`,
		`UPDATE peer_payment SET payer = pay_to`,
		`UPDATE peer_payment SET receipt = signed`,
		`UPDATE peer_payment p SET receipt = (SELECT receipt FROM peer_payment o WHERE o.auth_id <> p.auth_id)`,
		`UPDATE peer_payment SET receipt`+spoilt,
		`UPDATE settlement SET due_to = NULL WHERE due_to IS NOT NULL`,
		`UPDATE settlement SET due_to = payer WHERE due_to IS NOT NULL`,
		`DELETE FROM discharge WHERE ours`,
		`DELETE FROM discharge WHERE NOT ours`,
		`UPDATE discharge SET amount = amount + 1 WHERE ours`,
		`UPDATE discharge SET auth_id = 'clear:x' WHERE NOT ours`,
		`UPDATE discharge SET receipt`+spoilt+` WHERE ours`,
		`UPDATE discharge SET receipt`+spoilt+` WHERE NOT ours`,
		`UPDATE discharge SET done_at = NULL WHERE ours`,
	)
	b.balanced()
}

// liar is a peer that settles, and says something else beside it.
type liar struct {
	*line
	lie func(*payment.SettlementResponse)
}

func (l *liar) Settle(ctx context.Context, hub string, req payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	s, err := l.line.Settle(ctx, hub, req)
	l.lie(&s)
	return s, err
}

// What the payer signed is not a peer's to say, and a reason is one of those that
// payees know.
func TestAPeersWordsAreHeldToWhatWasSigned(t *testing.T) {
	u := newUnion(t, 1)
	b, peer := u.banks[0], u.banks[1].key.AID()
	pay := func() *ledgertest.Payment {
		return ledgertest.Pay(u.members[1][0].Key, u.members[0][0].AID(), peer, 10, b.clock.now())
	}
	b.Peers = &liar{u.lines[0], func(s *payment.SettlementResponse) {
		s.Payer, s.Transaction, s.Network, s.Amount, s.ErrorReason = "somebody", "x", "hub:x", "1000000", "gone fishing"
	}}
	p := pay()
	for range 2 {
		s := b.mustSettle(p)
		if s.Payer != p.Auth.Payer || s.Transaction != p.ID(t) || s.Network != p.Auth.Network || s.Amount != "10" || s.ErrorReason != "" {
			t.Errorf("the answer is %+v", s)
		}
	}
	b.Peers = &liar{u.lines[0], func(s *payment.SettlementResponse) { s.Success, s.ErrorReason = false, "gone fishing" }}
	if s, err := b.Settle(t.Context(), pay().Request(t), ""); err != nil || s.ErrorReason != payment.SettlementFailed {
		t.Errorf("a reason of its own: %+v, %v", s, err)
	}
	b.balanced()
}

// J.6: a statement counts where the hub that owes made it to this one, and says when.
func TestStatementsThatDoNotCount(t *testing.T) {
	u := newUnion(t, 1)
	b, peer, third := u.banks[0], u.banks[1].key, testkit.Agent(t, 3)
	b.mustSettle(ledgertest.Pay(u.members[1][0].Key, u.members[0][0].AID(), peer.AID(), 20, b.clock.now()))
	for _, c := range []struct {
		why, want string
		change    func(*payment.Receipt)
	}{
		{"of another hub", "receipt_invalid", func(r *payment.Receipt) { r.Payer = third.AID() }},
		{"to another hub", "receipt_invalid", func(r *payment.Receipt) { r.PayTo = third.AID() }},
		{"on another ledger", "receipt_invalid", func(r *payment.Receipt) { r.Network = payment.Network(third.AID()) }},
		{"without an id", "receipt_invalid", func(r *payment.Receipt) { r.AuthID = "" }},
		{"with an id of two lines", "receipt_invalid", func(r *payment.Receipt) { r.AuthID = "clear:\n" }},
		{"of nothing", "receipt_invalid", func(r *payment.Receipt) { r.Amount = 0 }},
		{"without a time", "receipt_invalid", func(r *payment.Receipt) { r.SettleAt = 0 }},
		{"as it should be", "", func(*payment.Receipt) {}},
	} {
		r := payment.Receipt{AuthID: "clear:1", Payer: peer.AID(), PayTo: b.key.AID(), Amount: 5, Network: payment.Network(peer.AID()),
			SettleAt: uint64(b.clock.now().UnixMilli())}
		c.change(&r)
		signed, _, err := identity.SignObject(peer, r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.TakeDischarge(t.Context(), peer.AID(), signed); testkit.Reason(err) != c.want {
			t.Errorf("%s: %v, want %q", c.why, err, c.want)
		}
		if want := map[bool]uint64{true: 15, false: 20}[c.want == ""]; u.debt(0).Owed != want {
			t.Errorf("%s: %d are owed, want %d", c.why, u.debt(0).Owed, want)
		}
	}
}
