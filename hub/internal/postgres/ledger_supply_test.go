package postgres

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// Number 39: the grant comes once, whatever an AID does.
func TestTheRegistrationGrantComesOnce(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	if err := b.tryLeave(alice); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(time.Minute)
	b.register(alice, alice.Register("again"))
	b.run(`INSERT INTO grant_due (aid, at) VALUES ($1, now())`, alice.AID()) // as if something had gone wrong
	if err := b.BookGrants(t.Context()); err != nil || b.balance(alice) != 100 {
		t.Errorf("balance %d, %v", b.balance(alice), err)
	}
	b.balanced()
}

// Many processes book at once; every grant is one link of one chain.
func TestGrantsAreBookedOnceByManyProcesses(t *testing.T) {
	b := newBank(t)
	for range 30 {
		n := b.node()
		b.register(n, n.Register("n"))
	}
	var wg sync.WaitGroup
	for range 4 {
		l := b.another()
		wg.Go(func() {
			if err := l.BookGrants(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r := b.balanced(); r.Balances != 3000 || r.Links != 30 {
		t.Errorf("%d credits in %d links, want 3000 in 30", r.Balances, r.Links)
	}
}

func TestWithoutAGrantNothingIsIssued(t *testing.T) {
	b := newBank(t)
	b.Grants = 0
	alice := b.member()
	b.Grants = 100
	if err := b.BookGrants(t.Context()); err != nil || b.balance(alice) != 0 {
		t.Errorf("balance %d, %v", b.balance(alice), err)
	}
	if r := b.balanced(); r.Links != 0 {
		t.Errorf("%d links", r.Links)
	}
}

// Number 55 and K.8: what is redeemed leaves circulation, once, as the chain says.
func TestRedeem(t *testing.T) {
	b := newBank(t)
	alice := b.member()
	p := ledgertest.Pay(alice.Key, b.key.AID(), b.key.AID(), 40, b.clock.now()).For("redeem:inv-1")
	var first ledger.Redemption
	for i := range 3 {
		r, err := b.Redeem(t.Context(), p.Payload(t), "inv-1", "")
		if err != nil || r.Amount != 40 || r.AID != alice.AID() || r.AuthID != p.ID(t) {
			t.Fatalf("%+v, %v", r, err)
		}
		if i == 0 {
			first = r
		}
		if !bytes.Equal(r.Receipt, first.Receipt) || !r.At.Equal(first.At) {
			t.Errorf("again: %+v, want %+v", r, first)
		}
	}
	for _, c := range []struct {
		why, want string
		amount    uint64
		reference string
		p         *ledgertest.Payment
	}{
		{why: "more than there is", want: payment.InsufficientFunds, amount: 61, reference: "x"},
		{why: "the reference again", want: payment.DuplicateBinding, amount: 1, reference: "inv-1"},
		{why: "a line break", want: payment.MalformedPayment, amount: 1, reference: "a\nb"},
		{why: "to somebody", want: payment.PayeeMismatch, reference: "y", p: b.pay(alice, alice, 1)},
		{why: "signed for another reference", want: payment.MalformedPayment, reference: "z",
			p: ledgertest.Pay(alice.Key, b.key.AID(), b.key.AID(), 1, b.clock.now()).For("redeem:zz")},
	} {
		if c.p == nil {
			c.p = ledgertest.Pay(alice.Key, b.key.AID(), b.key.AID(), c.amount, b.clock.now()).For("redeem:" + c.reference)
		}
		_, err := b.Redeem(t.Context(), c.p.Payload(t), c.reference, "")
		if no := (*ledger.Refusal)(nil); !errors.As(err, &no) || no.Reason != c.want {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
	if r := b.balanced(); r.Balances != 60 || r.Issued != 100 || r.Retired != 40 || b.balance(alice) != 60 {
		t.Errorf("%+v", r)
	}
	b.run(`UPDATE ledger SET read_only_since = now()`)
	if r, err := b.Redeem(t.Context(), p.Payload(t), "inv-1", ""); err != nil || !bytes.Equal(r.Receipt, first.Receipt) {
		t.Errorf("while the books wait for their audit: %+v, %v, want what is on record", r, err)
	}
	page, sum, err := NewLedger(b.pool, nil).Redemptions(t.Context(), alice.AID(), 10)
	if err != nil || len(page) != 1 || sum != (ledger.Sum{Count: 1, Amount: 40}) || page[0].Reference != "inv-1" {
		t.Errorf("%+v %+v, %v", page, sum, err)
	}
}

// Number 52: what is issued in all can be counted, also by many at once.
func TestTheSupplyCannotOverflow(t *testing.T) {
	b := newBank(t)
	alice, bob := b.member(), b.member()
	by := audit.By{Who: "op", How: "test"}
	if _, err := b.Grant(t.Context(), b.node().AID(), 1, by); errs.KindOf(err) != errs.NotFound {
		t.Errorf("to a stranger: %v", err)
	}
	const half = uint64(math.MaxInt64 / 2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	booked := 0
	for i := range 6 {
		to := alice
		if i%2 == 1 {
			to = bob
		}
		wg.Go(func() {
			switch _, err := b.Grant(context.Background(), to.AID(), half-200, by); {
			case err == nil:
				mu.Lock()
				booked++
				mu.Unlock()
			case !errs.Is(err, "supply_exhausted"):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if booked != 2 {
		t.Errorf("%d grants of half of everything were booked, want 2", booked)
	}
	if _, err := b.Grant(t.Context(), alice.AID(), 201, by); err != nil {
		t.Errorf("the last there is: %v", err)
	}
	if _, err := b.Grant(t.Context(), alice.AID(), 1, by); !errs.Is(err, "supply_exhausted") {
		t.Errorf("one more: %v", err)
	}
	b.mustSettle(b.pay(alice, bob, b.balance(alice)))
	if b.balance(bob) != math.MaxInt64 {
		t.Errorf("bob has %d, want everything there is", b.balance(bob))
	}
	b.balanced()
}

// Of one witness about one record the latest word is kept, in whatever order they come;
// and of a chain that this hub looks at the longest.
func TestWhatWitnessesSawLast(t *testing.T) {
	b := newBank(t)
	store, at := NewLedger(b.pool, nil), b.clock.now()
	for _, w := range []struct {
		says  string
		after time.Duration
		want  string
	}{{"second", time.Minute, "second"}, {"first", 0, "second"}, {"third", time.Hour, "third"}} {
		if err := store.Attest(t.Context(), ledger.Attested{Witness: "w", Seq: 1, HeadID: "one", ObservedAt: at.Add(w.after), Signed: []byte(w.says)}); err != nil {
			t.Fatal(err)
		}
		kept, err := store.Attestations(t.Context(), 10)
		if err != nil || len(kept) != 1 || string(kept[0].Signed) != w.want {
			t.Errorf("after the %s: %+v, %v, want the %s", w.says, kept, err, w.want)
		}
	}
	if _, err := store.LookAgain(t.Context(), []string{"peer"}, at, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{5, 4} {
		if err := store.Saw(t.Context(), "peer", ledger.Attested{Seq: seq, HeadID: "head", ObservedAt: at, Signed: []byte("s")}); err != nil {
			t.Fatal(err)
		}
		if last, _, err := store.LastSeen(t.Context(), "peer"); err != nil || last != 5 {
			t.Errorf("after record %d: %d was seen last, %v, want 5", seq, last, err)
		}
	}
}
