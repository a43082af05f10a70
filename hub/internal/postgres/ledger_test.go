package postgres

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/shared/payment"
)

// Number 54, case D24: 200 settles of one authorization at two processes move it
// once, and all are answered alike.
func TestTwoHundredSettlesOfOneAuthorization(t *testing.T) {
	b := newBank(t)
	alice, bob, other := b.member(), b.member(), b.another()
	p := b.pay(alice, bob, 10)
	var mu sync.Mutex
	var wg sync.WaitGroup
	receipts, fresh := map[string]int{}, 0
	for i := range 200 {
		wg.Go(func() {
			l := b.Ledger
			if i%2 == 1 {
				l = other
			}
			s, err := l.Settle(context.Background(), p.Request(t), "")
			if err != nil || !s.Success {
				t.Errorf("%+v, %v", s, err)
			}
			mu.Lock()
			defer mu.Unlock()
			receipts[string(s.Extensions[payment.ExtReceipt])]++
			if s.Extensions[payment.ExtReplayed] == nil {
				fresh++
			}
		})
	}
	wg.Wait()
	if len(receipts) != 1 || fresh != 1 || b.balance(alice) != 90 || b.balance(bob) != 110 {
		t.Errorf("%d receipts, %d fresh, balances %d and %d", len(receipts), fresh, b.balance(alice), b.balance(bob))
	}
	b.balanced()
}

// Number 54: of many authorizations for one thing a single one moves.
func TestOnePaymentForOneThing(t *testing.T) {
	b := newBank(t)
	alice, bob := b.member(), b.member()
	results := make([]payment.SettlementResponse, 20)
	var wg sync.WaitGroup
	for i := range results {
		p := b.pay(alice, bob, 10).For("ix")
		wg.Go(func() {
			var err error
			if results[i], err = b.Settle(context.Background(), p.Request(t), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	settled := ""
	for _, s := range results {
		if s.Success {
			settled += s.Transaction
		}
	}
	for _, s := range results {
		if !s.Success && (s.ErrorReason != payment.DuplicateBinding || string(s.Extensions[payment.ExtOriginal]) != `"`+settled+`"`) {
			t.Errorf("%+v, want that %s was first", s, settled)
		}
	}
	if b.balance(alice) != 90 {
		t.Errorf("balance %d, want 90", b.balance(alice))
	}
	b.balanced()
}

// Everybody pays everybody at once: nobody waits in a circle, nothing is spent
// twice, and the sum stays what it was.
func TestPaymentsCrissCross(t *testing.T) {
	b := newBank(t)
	members := make([]*directorytest.Node, 6)
	for i := range members {
		members[i] = b.member()
	}
	other := b.another()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 1))
			l := b.Ledger
			if worker%2 == 1 {
				l = other
			}
			for range 25 {
				from, to := members[r.IntN(6)], members[r.IntN(6)]
				s, err := l.Settle(context.Background(), b.pay(from, to, 1+r.Uint64N(60)).Request(t), "")
				if err != nil || !s.Success && s.ErrorReason != payment.InsufficientFunds {
					t.Errorf("%+v, %v", s, err)
				}
			}
		})
	}
	wg.Wait()
	if r := b.balanced(); r.Balances != 600 {
		t.Errorf("%d credits, want 600", r.Balances)
	}
}

func TestPayingOneself(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	b.mustSettle(b.pay(alice, alice, 100))
	if s, err := b.Settle(context.Background(), b.pay(alice, alice, 101).Request(t), ""); err != nil || s.ErrorReason != payment.InsufficientFunds {
		t.Errorf("%+v, %v", s, err)
	}
	a, page, err := b.Show(t.Context(), alice.AID(), 10)
	if err != nil || a.Balance != 100 || a.Entries != 3 || page[1].Delta != -100 || page[2].Delta != 100 {
		t.Errorf("%+v %+v, %v", a, page, err)
	}
	b.balanced()
}

// A payer dates its rotations as it likes: the books hold all the same, and its payee
// gets the receipt, also once the payer has left.
func TestWhatAPayerDoesUndoesNoPayment(t *testing.T) {
	for _, at := range []time.Time{time.UnixMilli(1), {}} {
		b := newBank(t)
		alice, bob := b.member(), b.member()
		p := b.pay(alice, bob, 10)
		first := b.mustSettle(p)
		b.clock.advance(time.Second)
		alice.Rotate(at)
		b.register(alice, alice.Register("n"))
		if err := b.tryLeave(alice); err != nil {
			t.Fatal(err)
		}
		if s := b.mustSettle(p); !bytes.Equal(s.Extensions[payment.ExtReceipt], first.Extensions[payment.ExtReceipt]) {
			t.Errorf("rotated as of %s: %+v, want the receipt", at, s)
		}
		b.balanced()
	}
}

// An account is opened with its first credit, for an AID that never registered as
// well.
func TestPayingSomebodyWithoutAnAccount(t *testing.T) {
	b := newBank(t)
	alice, stranger := b.member(), b.node()
	b.mustSettle(b.pay(alice, stranger, 30))
	if b.balance(stranger) != 30 {
		t.Errorf("balance %d", b.balance(stranger))
	}
	b.register(stranger, stranger.Register("s"))
	if err := b.BookGrants(t.Context()); err != nil || b.balance(stranger) != 130 {
		t.Errorf("with its grant: %d, %v", b.balance(stranger), err)
	}
	b.balanced()
}

// Pages of offers by numbers are those of one list, wherever they begin.
func TestOffersByNumbers(t *testing.T) {
	b := newBank(t)
	seed(t, b.pool, 60)
	for _, sql := range []string{
		`UPDATE agent SET shown = aid <> '` + agentOf(7) + `'`,
		`INSERT INTO agent_adp_card (aid, card) SELECT aid, '{}' FROM agent`,
		`INSERT INTO gateway_offer (aid, capability, price, at) SELECT aid, 'cap.' || i, i, '` + b.clock.now().Format(time.RFC3339) + `' FROM agent, generate_series(1, 5) AS i`,
	} {
		if _, err := b.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	all := map[ledger.Mark]bool{}
	for offset := 0; offset < 320; offset += 7 {
		page, total, err := b.Offers(t.Context(), "", 7, offset)
		if err != nil || total != 295 || len(page) != max(0, min(7, 295-offset)) {
			t.Fatalf("from %d on: %d offers of %d, %v, want all of 295", offset, len(page), total, err)
		}
		for _, o := range page {
			all[o.Mark] = true
		}
	}
	if of, total, err := b.Offers(t.Context(), agentOf(9), 2, 1); err != nil || total != 5 || len(of) != 2 || of[0].Capability != "cap.2" {
		t.Errorf("of one seller: %+v of %d, %v", of, total, err)
	}
	if len(all) != 295 {
		t.Errorf("the pages show %d offers, want 295", len(all))
	}
}
