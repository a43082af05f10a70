package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// neighbour is a peer that counts what it is asked. It settles what is signed, and
// knows no agent.
type neighbour struct {
	ledgertest.Alone
	key   *identity.Controller
	asked atomic.Int64
	hold  chan struct{} // nil: it answers at once
	gone  bool
	said  payment.VerifyResponse // of every payment; zero: that it is valid
}

func (n *neighbour) All() []string { return []string{n.key.AID()} }

func (n *neighbour) History(aid string) (*identity.History, bool) {
	return n.key.History(), aid == n.key.AID()
}

func (n *neighbour) Settle(_ context.Context, _ string, req payment.FacilitatorRequest) (payment.SettlementResponse, error) {
	n.asked.Add(1)
	if n.hold != nil {
		<-n.hold
	}
	a, err := req.PaymentPayload.Authorization()
	if err != nil || n.gone {
		return payment.SettlementResponse{}, errors.New("no answer")
	}
	if payer, err := identity.Replay(carol.KEL()); err != nil || a.Verify(payer) != nil {
		return payment.SettlementResponse{ErrorReason: payment.InvalidSignature, Transaction: a.ID()}, nil
	}
	receipt, _, err := payment.SignReceipt(n.key, payment.Receipt{AuthID: a.ID(), Payer: a.Payer, PayTo: a.PayTo, Amount: a.Amount,
		Network: a.Network, SettleAt: uint64(start.UnixMilli())})
	return payment.SettlementResponse{Success: true, Transaction: a.ID(), Network: a.Network,
		Extensions: payment.Extensions{payment.ExtReceipt: []byte(`"` + codec.EncodeB64(receipt) + `"`), "anet.payee": []byte(`"elsewhere"`)}}, err
}

func (n *neighbour) Verify(context.Context, string, payment.FacilitatorRequest) (payment.VerifyResponse, error) {
	if n.gone {
		return payment.VerifyResponse{}, errors.New("no answer")
	}
	if n.said != (payment.VerifyResponse{}) {
		return n.said, nil
	}
	return payment.VerifyResponse{IsValid: true}, nil
}

func (n *neighbour) HomeOf(context.Context, []string, string) (string, error) {
	n.asked.Add(1)
	return "", nil
}

// carol has her credits at the neighbour's.
var carol *identity.Controller

// newBorder is a bank that takes payments on the ledger of a neighbour.
func newBorder(t *testing.T) (*bank, *neighbour) {
	b, n := newBank(t), &neighbour{key: testkit.Agent(t, 4)}
	carol = testkit.Agent(t, 5)
	b.Peers = n
	b.books.Debtors = []ledger.Debt{{Hub: n.key.AID(), Open: true, Most: 1000}}
	return b, n
}

// across is a payment of carol's to bob.
func (b *bank) across(n *neighbour, amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(carol, b.bob.AID(), n.key.AID(), amount, b.clock)
}

func forged(p *ledgertest.Payment) { p.Forged = true }

// tries brings a payment from an address; refused tells that no peer was asked.
func (b *bank) tries(p *ledgertest.Payment, from string) (answer payment.SettlementResponse, refused bool) {
	b.t.Helper()
	s, err := b.Settle(b.t.Context(), p.Request(b.t), from)
	if errs.KindOf(err) == errs.TooMany {
		if s.ErrorReason != payment.SettlementPending || errs.As(err).RetryAfter <= 0 {
			b.t.Errorf("%+v, %v, want a settlement that is pending, and when to come again", s, err)
		}
		return s, true
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return s, false
}

// Payments that were made up reach a peer at a rate, of the address and of all
// together; those that move credits are not counted.
func TestPaymentsThatMoveNothingAreBounded(t *testing.T) {
	b, n := newBorder(t)
	for i := range 40 {
		if s, refused := b.tries(b.across(n, 1), "192.0.2.1"); refused || !s.Success {
			t.Fatalf("payment %d: %+v", i, s)
		}
	}
	n.asked.Store(0)
	for i := range 40 {
		if _, refused := b.tries(b.across(n, 1).With(forged), "192.0.2.1"); refused != (i >= 30) {
			t.Fatalf("forged payment %d of an address: refused %v", i, refused)
		}
	}
	for i := range 30 {
		if _, refused := b.tries(b.across(n, 1).With(forged), fmt.Sprint("198.51.100.", i)); refused != (i >= 20) {
			t.Fatalf("forged payment %d of all addresses: refused %v", i, refused)
		}
	}
	if n.asked.Load() != 50 {
		t.Errorf("the peer was asked %d times, want 50", n.asked.Load())
	}
	b.clock = b.clock.Add(time.Second)
	if s, refused := b.tries(b.across(n, 1), "192.0.2.1"); refused || !s.Success {
		t.Errorf("a second later: %+v", s)
	}
}

// A peer that does not answer costs the address that has it asked, too.
func TestAPeerThatIsGoneIsNotAskedWithoutEnd(t *testing.T) {
	b, n := newBorder(t)
	n.gone = true
	p := b.across(n, 1)
	for range 100 {
		if s, err := b.Settle(t.Context(), p.Request(t), "192.0.2.1"); err == nil || s.ErrorReason != payment.SettlementPending {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	if n.asked.Load() != 30 {
		t.Errorf("it was asked %d times, want 30", n.asked.Load())
	}
}

// One request again and again is one call for a while, whoever brings it.
func TestARefusalIsNotAskedForAgain(t *testing.T) {
	b, n := newBorder(t)
	p := b.across(n, 1).With(forged)
	for i := range 100 {
		if s, refused := b.tries(p, fmt.Sprint("192.0.2.", i)); refused || s.ErrorReason != payment.InvalidSignature {
			t.Fatalf("%+v", s)
		}
	}
	if n.asked.Load() != 1 {
		t.Errorf("the peer was asked %d times, want once", n.asked.Load())
	}
	b.clock = b.clock.Add(11 * time.Second)
	if b.tries(p, ""); n.asked.Load() != 2 {
		t.Errorf("later the peer was asked %d times, want twice", n.asked.Load())
	}
}

// Any number at once of one payment is one call and one receipt, also where whoever
// came first hangs up.
func TestOnePaymentAtOnceIsOneCall(t *testing.T) {
	b, n := newBorder(t)
	n.hold = make(chan struct{})
	p := b.across(n, 7)
	first, hangUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = b.Settle(first, p.Request(t), "") })
	testkit.Until(t, "the peer is asked", func() bool { return n.asked.Load() == 1 })
	hangUp()
	var receipts sync.Map
	for range 20 {
		wg.Go(func() {
			s, err := b.Settle(t.Context(), p.Request(t), "")
			if err != nil || !s.Success {
				t.Errorf("%+v, %v", s, err)
			}
			receipts.Store(string(s.Extensions[payment.ExtReceipt]), true)
		})
	}
	close(n.hold)
	wg.Wait()
	different := 0
	receipts.Range(func(any, any) bool { different++; return true })
	if n.asked.Load() != 1 || different != 1 || b.books.Balances[b.bob.AID()] != 7 {
		t.Errorf("asked %d times, %d receipts, bob has %d, want 1, 1 and 7", n.asked.Load(), different, b.books.Balances[b.bob.AID()])
	}
}

// What can be seen to be wrong here is no peer's business.
func TestNothingIsAskedForWhatCannotBe(t *testing.T) {
	b, n := newBorder(t)
	for _, c := range []struct {
		why, want string
		change    func(*ledgertest.Payment)
	}{
		{"a payer who is no agent", payment.UnknownPayer, func(p *ledgertest.Payment) { p.Auth.Payer = "carol" }},
		{"signed by somebody else", payment.InvalidSignature, func(p *ledgertest.Payment) { p.Signer = b.alice }},
		{"a window that ends before it begins", payment.ExpiredPayment, func(p *ledgertest.Payment) { p.Auth.NotAfter = p.Auth.IssuedAt }},
		{"nothing", payment.InvalidAmount, func(p *ledgertest.Payment) { p.Auth.Amount = 0 }},
		{"less than is required", payment.InvalidAmount, func(p *ledgertest.Payment) { p.Wanted.Amount = "11" }},
		{"more than may be owed", payment.SettlementFailed, func(p *ledgertest.Payment) {
			p.Auth.Amount, p.Accepted.Amount, p.Wanted.Amount = 1001, "1001", "1001"
		}},
		{"a payee who is not here", payment.PayeeMismatch, func(p *ledgertest.Payment) {
			p.Auth.PayTo, p.Accepted.PayTo, p.Wanted.PayTo = n.key.AID(), n.key.AID(), n.key.AID()
		}},
		{"no authorization", payment.MalformedPayment, func(p *ledgertest.Payment) { p.Raw = "AA==" }},
	} {
		if s, refused := b.tries(b.across(n, 10).With(c.change), ""); refused || s.ErrorReason != c.want {
			t.Errorf("%s: %+v, want %s", c.why, s, c.want)
		}
	}
	if n.asked.Load() != 0 {
		t.Errorf("the peer was asked %d times", n.asked.Load())
	}
}

// A payee whom nobody here knows is looked for at peers: at the same rate, and once
// for all who look.
func TestPayeesOfNobodyAreBounded(t *testing.T) {
	b, n := newBorder(t)
	nobody := func(seed byte) *ledgertest.Payment {
		return ledgertest.Pay(b.alice, testkit.Agent(t, seed).AID(), b.hub.AID(), 1, b.clock)
	}
	for range 50 {
		if s, refused := b.tries(nobody(9), "192.0.2.1"); refused || s.ErrorReason != payment.PayeeMismatch {
			t.Fatalf("%+v", s)
		}
	}
	if n.asked.Load() != 1 {
		t.Errorf("for one payee %d questions, want 1", n.asked.Load())
	}
	for i := range byte(40) {
		if _, refused := b.tries(nobody(10+i), "192.0.2.1"); refused != (i >= 29) {
			t.Fatalf("payee %d: refused %v", i, refused)
		}
	}
}
