package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/admission"
	. "github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

var start = testkit.Now.Add(time.Hour)

// bank is a hub's ledger over books in memory, with two members.
type bank struct {
	*Ledger
	t          testing.TB
	books      *ledgertest.Books
	hub        *identity.Controller
	alice, bob *identity.Controller
	clock      time.Time
	replays    atomic.Int64
	registry   *prometheus.Registry
}

func (b *bank) Current() *identity.Controller { return b.hub }

func newBank(t testing.TB) *bank {
	b := &bank{t: t, books: ledgertest.NewBooks(), hub: testkit.Agent(t, 1), alice: testkit.Agent(t, 2), bob: testkit.Agent(t, 3), clock: start,
		registry: prometheus.NewRegistry()}
	b.books.Registered[b.alice.AID()], b.books.Registered[b.bob.AID()] = b.alice.KEL(), b.bob.KEL()
	b.books.Balances[b.alice.AID()] = 100
	b.Ledger = New(Deps{Store: b.books, Key: b, Peers: ledgertest.Alone{}, Grants: 100,
		Payers: limiter(b, 1000), Bearers: limiter(b, 1000), Askers: limiter(b, 30), Asked: limiter(b, 50),
		Replay: func(kel []byte) (*identity.History, error) { b.replays.Add(1); return identity.Replay(kel) },
		Now:    func() time.Time { return b.clock }, Log: slog.New(slog.DiscardHandler), Metrics: b.registry})
	return b
}

func limiter(b *bank, burst int) *admission.Limiter {
	return admission.NewLimiter(60, burst, "asked_rate", func() time.Time { return b.clock })
}

// pays is a payment of alice's to bob.
func (b *bank) pays(amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(b.alice, b.bob.AID(), b.hub.AID(), amount, b.clock)
}

func (b *bank) settle(p *ledgertest.Payment) payment.SettlementResponse {
	b.t.Helper()
	s, err := b.Settle(context.Background(), p.Request(b.t), "")
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *bank) verify(p *ledgertest.Payment) payment.VerifyResponse {
	b.t.Helper()
	v, err := b.Verify(context.Background(), p.Request(b.t), "")
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// check is one line of wire 2, K.3.
type check struct {
	step   int
	why    string
	change func(*bank, *ledgertest.Payment)
	want   string
}

// checks are in the order of K.3: what several lines speak of at once is answered
// by the first (TestTheFirstCheckSpeaks).
var checks = []check{
	{2, "a requirement that pays the hub", func(b *bank, p *ledgertest.Payment) { p.Wanted.PayTo = b.hub.AID() }, payment.PayeeMismatch},
	{3, "another scheme", func(_ *bank, p *ledgertest.Payment) { p.Accepted.Scheme = "exact" }, payment.UnsupportedScheme},
	{3, "another network", func(b *bank, p *ledgertest.Payment) { p.Accepted.Network = payment.Network(b.bob.AID()) }, payment.NetworkMismatch},
	{4, "no authorization", func(_ *bank, p *ledgertest.Payment) { p.Raw = "AA==" }, payment.MalformedPayment},
	{4, "no base64", func(_ *bank, p *ledgertest.Payment) { p.Raw = "*" }, payment.MalformedPayment},
	{4, "another version of x402", func(_ *bank, p *ledgertest.Payment) { p.Version = 1 }, payment.MalformedPayment},
	{4, "more than is kept", func(_ *bank, p *ledgertest.Payment) { p.Auth.Nonce = strings.Repeat("n", MaxAuthorization) }, payment.MalformedPayment},
	{4, "an interaction that cannot be kept", func(_ *bank, p *ledgertest.Payment) { p.Auth.Interaction = "a\x00b" }, payment.MalformedPayment},
	{4, "an interaction that is too long", func(_ *bank, p *ledgertest.Payment) {
		p.Auth.Interaction = strings.Repeat("i", MaxInteraction+1)
	}, payment.MalformedPayment},
	{4, "nothing", func(_ *bank, p *ledgertest.Payment) { p.Auth.Amount = 0 }, payment.InvalidAmount},
	{4, "one more than there can be", func(_ *bank, p *ledgertest.Payment) { p.Auth.Amount = math.MaxInt64 + 1 }, payment.InvalidAmount},
	{4, "signed for another network", func(b *bank, p *ledgertest.Payment) { p.Auth.Network = payment.Network(b.bob.AID()) }, payment.NetworkMismatch},
	{5, "a payer who is not here", func(b *bank, p *ledgertest.Payment) { delete(b.books.Registered, p.Auth.Payer) }, payment.UnknownPayer},
	{5, "a payer who is no agent", func(_ *bank, p *ledgertest.Payment) { p.Auth.Payer = "alice\x00" }, payment.UnknownPayer},
	{5, "a payer who is blocked", func(b *bank, p *ledgertest.Payment) { b.books.Blocked[p.Auth.Payer] = true }, payment.UnknownPayer},
	{5, "a signature that does not verify", func(_ *bank, p *ledgertest.Payment) { p.Forged = true }, payment.InvalidSignature},
	{5, "signed by somebody else", func(b *bank, p *ledgertest.Payment) { p.Signer = b.bob }, payment.InvalidSignature},
	{5, "a window that ends before it begins", func(_ *bank, p *ledgertest.Payment) { p.Auth.NotAfter = p.Auth.IssuedAt }, payment.ExpiredPayment},
	{5, "a window without a beginning", func(_ *bank, p *ledgertest.Payment) { p.Auth.IssuedAt = 0 }, payment.ExpiredPayment},
	{6, "a requirement of nothing", func(_ *bank, p *ledgertest.Payment) { p.Wanted.Amount = "0" }, payment.InvalidAmount},
	{6, "a requirement that wraps", func(_ *bank, p *ledgertest.Payment) { p.Wanted.Amount = "18446744073709551617" }, payment.InvalidAmount},
	{6, "a requirement without a payee", func(_ *bank, p *ledgertest.Payment) { p.Wanted.PayTo = "" }, payment.InvalidRequirements},
	{6, "a requirement without a network", func(_ *bank, p *ledgertest.Payment) { p.Wanted.Network = "" }, payment.InvalidRequirements},
	{6, "a requirement of another scheme", func(_ *bank, p *ledgertest.Payment) { p.Wanted.Scheme = "exact" }, payment.UnsupportedScheme},
	{6, "a requirement on another network", func(b *bank, p *ledgertest.Payment) { p.Wanted.Network = payment.Network(b.bob.AID()) }, payment.NetworkMismatch},
	{6, "signed to somebody else", func(b *bank, p *ledgertest.Payment) { p.Auth.PayTo = b.alice.AID() }, payment.PayeeMismatch},
	{6, "signed to the hub", func(b *bank, p *ledgertest.Payment) { p.Auth.PayTo = b.hub.AID() }, payment.PayeeMismatch},
	{6, "accepted to somebody else", func(b *bank, p *ledgertest.Payment) { p.Accepted.PayTo = b.alice.AID() }, payment.PayeeMismatch},
	{6, "to nobody", func(_ *bank, p *ledgertest.Payment) {
		p.Auth.PayTo, p.Accepted.PayTo, p.Wanted.PayTo = "bob", "bob", "bob"
	}, payment.PayeeMismatch},
	{6, "signed for more than was accepted", func(_ *bank, p *ledgertest.Payment) { p.Auth.Amount++ }, payment.InvalidAmount},
	{6, "less than is required", func(_ *bank, p *ledgertest.Payment) { p.Wanted.Amount = "11" }, payment.InvalidAmount},
	{8, "not yet", func(_ *bank, p *ledgertest.Payment) { p.Auth.IssuedAt += 120_001 }, payment.ExpiredPayment},
	{8, "no more", func(_ *bank, p *ledgertest.Payment) {
		p.Auth.IssuedAt, p.Auth.NotAfter = p.Auth.IssuedAt-200_000, p.Auth.IssuedAt-120_001
	}, payment.ExpiredPayment},
	{8, "a key that is retired", func(b *bank, p *ledgertest.Payment) {
		b.books.Registered[b.alice.AID()] = testkit.Rotated(b.t, b.alice, b.clock.Add(time.Hour)).KEL()
	}, payment.InvalidSignature},
	{9, "an interaction that was paid for", func(b *bank, p *ledgertest.Payment) {
		if s := b.settle(b.pays(1).For("ix")); !s.Success {
			b.t.Fatal(s)
		}
		p.For("ix")
	}, payment.DuplicateBinding},
	{10, "more than there is", func(b *bank, p *ledgertest.Payment) { b.books.Balances[b.alice.AID()] = 9 }, payment.InsufficientFunds},
}

// Number 53: each line with its constant, and the transaction wherever it can be
// read. Nothing moves.
func TestSettleChecks(t *testing.T) {
	for _, c := range checks {
		b := newBank(t)
		p := b.pays(10)
		c.change(b, p)
		before := b.books.Balances[b.alice.AID()]
		v, s := b.verify(p), b.settle(p)
		if v.IsValid || v.InvalidReason != c.want || s.Success || s.ErrorReason != c.want {
			t.Errorf("step %d, %s: verify says %q, settle %q, want %q", c.step, c.why, v.InvalidReason, s.ErrorReason, c.want)
		}
		id, detail := "", s.Extensions[payment.ExtErrorDetail]
		if p.Raw == "" {
			id = p.ID(t)
		}
		if s.Transaction != id || len(detail) == 0 {
			t.Errorf("step %d, %s: transaction %q, want %q; detail %s", c.step, c.why, s.Transaction, id, detail)
		}
		if got := b.books.Balances[b.alice.AID()]; got != before {
			t.Errorf("step %d, %s: %d credits moved", c.step, c.why, before-got)
		}
	}
}

// Where two lines are broken, the answer is that of the first, within a step of K.3 too.
func TestTheFirstCheckSpeaks(t *testing.T) {
	for i, first := range checks {
		for _, later := range checks[i+1:] {
			b := newBank(t)
			p := b.pays(10)
			later.change(b, p)
			first.change(b, p)
			if masks(first, later) {
				continue
			}
			if v, s := b.verify(p), b.settle(p); v.InvalidReason != first.want || s.ErrorReason != first.want {
				t.Errorf("%s and %s: verify says %s, settle %s, want %s", first.why, later.why, v.InvalidReason, s.ErrorReason, first.want)
			}
		}
	}
}

// masks reports whether one change undoes what another broke.
func masks(first, later check) bool {
	return later.step == 9 && first.step <= 8 && first.want == payment.MalformedPayment
}

// Amounts at the bounds move as they are, and balances cannot wrap.
func TestSettleAtTheBounds(t *testing.T) {
	for _, amount := range []uint64{1, math.MaxInt64} {
		b := newBank(t)
		b.books.Balances[b.alice.AID()] = math.MaxInt64
		if s := b.settle(b.pays(amount)); !s.Success || s.Amount != payment.FormatAmount(amount) {
			t.Errorf("%d: %+v", amount, s)
		}
		if a, p := b.books.Balances[b.alice.AID()], b.books.Balances[b.bob.AID()]; a != math.MaxInt64-amount || p != amount {
			t.Errorf("%d: balances %d and %d", amount, a, p)
		}
	}
}

// A window far in the future does not come round to the past.
func TestSettleWindowDoesNotOverflow(t *testing.T) {
	b := newBank(t)
	p := b.pays(1)
	p.Auth.NotAfter = math.MaxUint64
	if s := b.settle(p); !s.Success {
		t.Errorf("%+v", s)
	}
}

// Number 54: the authorized amount moves, with a receipt that holds; whoever
// brings it again gets the same receipt, also when its window is over.
func TestSettleAgain(t *testing.T) {
	b := newBank(t)
	p := b.pays(10)
	p.Wanted.Amount = "7"
	first := b.settle(p)
	r, ok, err := first.Receipt()
	if err != nil || !ok || !first.Success || first.Payer != b.alice.AID() || first.Transaction != p.ID(t) || first.Amount != "10" ||
		first.Network != payment.Network(b.hub.AID()) {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := r.Verify(b.hub.History()); err != nil || r.AuthID != first.Transaction || r.Amount != 10 || r.PayTo != b.bob.AID() {
		t.Errorf("receipt %+v, %v", r.Receipt, err)
	}
	b.clock = start.Add(48 * time.Hour)
	again := b.settle(p)
	if !bytes.Equal(again.Extensions[payment.ExtReceipt], first.Extensions[payment.ExtReceipt]) || string(again.Extensions[payment.ExtReplayed]) != "true" {
		t.Errorf("again: %+v", again)
	}
	if v := b.verify(p); v.IsValid || v.InvalidReason != payment.DuplicateNonce {
		t.Errorf("verify of a settled one: %+v", v)
	}
	if a, p := b.books.Balances[b.alice.AID()], b.books.Balances[b.bob.AID()]; a != 90 || p != 10 {
		t.Errorf("balances %d and %d, want 90 and 10", a, p)
	}
}

// Whatever a payer does once it has paid, the payee that did not hear of it gets the
// receipt; and what was not settled by then is settled no more.
func TestWhatAPayerDoesUndoesNoPayment(t *testing.T) {
	for _, c := range []struct {
		why, want string
		do        func(*bank)
	}{
		{"it leaves", payment.UnknownPayer, func(b *bank) { b.books.Left[b.alice.AID()] = true }},
		{"it is blocked", payment.UnknownPayer, func(b *bank) { b.books.Blocked[b.alice.AID()] = true }},
		{"it moves to another key", payment.InvalidSignature, func(b *bank) { b.rotate(b.clock.Add(time.Second)) }},
		{"it dates that to before it paid", payment.InvalidSignature, func(b *bank) { b.rotate(b.clock.Add(-time.Second)) }},
		{"it does not date that at all", payment.InvalidSignature, func(b *bank) { b.rotate(time.Time{}) }},
	} {
		b := newBank(t)
		p, late := b.pays(10), b.pays(10)
		first := b.settle(p)
		c.do(b)
		if s := b.settle(p); !s.Success || !bytes.Equal(s.Extensions[payment.ExtReceipt], first.Extensions[payment.ExtReceipt]) {
			t.Errorf("%s: %+v, want the receipt", c.why, s)
		}
		if s := b.settle(late); s.ErrorReason != c.want {
			t.Errorf("%s, and then pays: %+v, want %s", c.why, s, c.want)
		}
		p.Forged = true
		if s := b.settle(p); s.ErrorReason != payment.InvalidSignature {
			t.Errorf("%s: without the signature: %+v", c.why, s)
		}
	}
}

func (b *bank) rotate(at time.Time) {
	b.books.Registered[b.alice.AID()] = testkit.Rotated(b.t, b.alice, at).KEL()
}

func TestASecondPaymentForOneThingNamesTheFirst(t *testing.T) {
	b := newBank(t)
	first := b.settle(b.pays(10).For("ix"))
	second := b.settle(b.pays(10).For("ix"))
	var original string
	if err := json.Unmarshal(second.Extensions[payment.ExtOriginal], &original); err != nil || original != first.Transaction {
		t.Errorf("%+v names %q, want %q", second, original, first.Transaction)
	}
	if third := b.settle(b.pays(10)); !third.Success {
		t.Errorf("a payment bound to nothing: %+v", third)
	}
	if fourth := b.settle(b.pays(10)); !fourth.Success {
		t.Errorf("another one bound to nothing: %+v", fourth)
	}
}

// Case D24, and number 54: any number at once is one movement and one receipt.
func TestParallelSettlesOfOneAuthorization(t *testing.T) {
	b := newBank(t)
	p := b.pays(10)
	receipts := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			s := b.settle(p)
			mu.Lock()
			defer mu.Unlock()
			receipts[string(s.Extensions[payment.ExtReceipt])]++
		})
	}
	wg.Wait()
	if len(receipts) != 1 || b.books.Balances[b.bob.AID()] != 10 {
		t.Errorf("%d different receipts, %d credits", len(receipts), b.books.Balances[b.bob.AID()])
	}
}

// A signature that the key cannot have made costs no replay of a history (A.7).
func TestABadSignatureIsNotReplayed(t *testing.T) {
	b := newBank(t)
	b.settle(b.pays(1).With(func(p *ledgertest.Payment) { p.Forged = true }))
	if n := b.replays.Load(); n != 0 {
		t.Errorf("%d replays", n)
	}
}

// What is not known is said to be open, with the transaction to try again with.
func TestUnknownOutcomesArePending(t *testing.T) {
	b := newBank(t)
	p := b.pays(10)
	b.books.Away = errors.New("connection lost")
	s, err := b.Settle(context.Background(), p.Request(t), "")
	if err == nil || s.Success || s.ErrorReason != payment.SettlementPending || s.Transaction != p.ID(t) {
		t.Errorf("%+v, %v", s, err)
	}
	b.books.Away, b.books.ReadOnly = nil, true
	s, err = b.Settle(context.Background(), p.Request(t), "")
	if testkit.Reason(err) != "ledger_read_only" || s.ErrorReason != payment.SettlementPending {
		t.Errorf("read only: %+v, %v", s, err)
	}
	b.books.ReadOnly = false
	if s := b.settle(p); !s.Success || s.Extensions[payment.ExtReplayed] != nil {
		t.Errorf("afterwards: %+v", s)
	}
}
