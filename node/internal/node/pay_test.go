//go:build !no_payments

package node

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// spending sets a node's limits.
func spending(l config.Limits) option {
	return func(p *Parts) { p.Limits = func() config.Limits { return l } }
}

// shop is a node that sells calls of "job" for 5 credits.
func (w *world) shop(job *counter) (*running, []option) {
	job.cap, job.price = "job", 5
	options := []option{serving(job), public(config.DefaultPublic("job"))}
	return w.node("shop", options...), options
}

// buyer is a node that has 20 credits.
func (w *world) buyer(options ...option) (*running, *hubtest.Ledger) {
	alice, ledger := w.node("alice", options...), w.hub.Ledger()
	ledger.Grant(alice.aid(), 20)
	return alice, ledger
}

// status is what a node says of the payment of a task.
func status(t Task) string {
	if t.Payment == nil {
		return "-"
	}
	return t.Payment.Status
}

// order asks for a call and waits for what comes of it at once.
func (w *world) order(from, to *running, c *Consent) Task {
	w.t.Helper()
	t, err := from.StartTask(w.t.Context(), Order{Provider: to.aid(), Capability: "job", Pay: c})
	w.must(err)
	time.Sleep(time.Second)
	return w.task(from, t.ID)
}

// A call that has a price is quoted, paid by hand, settled, run, and both sides
// hold the receipts.
func TestAPricedCall(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		alice, ledger := w.buyer()

		asked := w.order(alice, shop, nil)
		wantOutcome(t, "quoted", asked, "input-required PAYMENT_REQUIRED  unknown")
		if p := asked.Payment; p == nil || p.Status != PayRequired || p.Amount != "5" || p.Network != ledger.Network() || p.Payee != shop.aid() {
			t.Fatalf("the payment is %+v, want 5 credits required by the shop", asked.Payment)
		}
		if job.count() != 0 || len(ledger.Asked()) != 0 {
			t.Errorf("%d effects and %d settlements before anybody paid", job.count(), len(ledger.Asked()))
		}
		_, err := alice.Pay(t.Context(), asked.ID, Consent{})
		w.must(err)
		got := w.wait(alice, asked.ID, time.Minute)
		wantOutcome(t, "paid", got, "completed OK  verified")
		sold := w.task(shop, asked.ID)
		if status(got) != PayPaid || status(sold) != PayPaid || string(got.Payment.Receipt) != string(sold.Payment.Receipt) || got.Payment.Receipt == nil {
			t.Errorf("payments %+v and %+v, want one receipt with both", got.Payment, sold.Payment)
		}
		d, err := effect.Parse(got.Deliverable)
		if err != nil || d.Paid == nil || d.Paid.Transaction != got.Payment.Transaction || d.Paid.Receipt == "" {
			t.Errorf("the deliverable says of payment %+v, %v", d.Paid, err)
		}
		if a, b := ledger.Balance(alice.aid()), ledger.Balance(shop.aid()); a != 15 || b != 5 || job.count() != 1 {
			t.Errorf("balances %d and %d, %d effects; want 15, 5 and 1", a, b, job.count())
		}
		if _, err := alice.Pay(t.Context(), asked.ID, Consent{}); !errs.Is(err, "task_ended") {
			t.Errorf("paying once more: %v, want task_ended", err)
		}
		if r := ledger.Asked()[0]; r.PaymentPayload.Extensions != nil || r.PaymentRequirements.Amount != "5" {
			t.Errorf("the ledger was told %+v, want bare requirements", r)
		}
	})
}

// A hub that has moved to another key signs receipts that both sides take, at once.
func TestTheHubMovesToAnotherKey(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, _ := w.shop(&counter{})
		alice, ledger := w.buyer()
		for range 3 {
			got := w.wait(alice, w.order(alice, shop, &Consent{}).ID, time.Minute)
			if wantOutcome(t, "the call", got, "completed OK  verified"); status(got) != PayPaid || got.Payment.Unverified != nil {
				t.Errorf("the payment is %+v, want it paid", got.Payment)
			}
			ledger.Rotate()
			if _, err := alice.Redeem(t.Context(), Redemption{Amount: 1}); err != nil {
				t.Errorf("a redemption: %v", err)
			}
			ledger.Rotate()
		}
	})
}

// What was agreed to when the task was sent is paid without another word, once,
// and not above what was agreed.
func TestConsent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits config.Limits
		c      *Consent
		want   string
	}{
		{"agreed to", config.DefaultLimits(), &Consent{Max: 5}, "completed OK  verified"},
		{"without a bound of its own", config.DefaultLimits(), &Consent{}, "completed OK  verified"},
		{"above what was agreed", config.DefaultLimits(), &Consent{Max: 4}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"above the limit for people", config.Limits{ExplicitMax: 4, DailyMax: 50}, &Consent{Max: 9}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"above the limit for a day", config.Limits{ExplicitMax: 9, DailyMax: 4}, &Consent{Max: 9}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"nobody's word", config.DefaultLimits(), nil, "input-required PAYMENT_REQUIRED  unknown"},
		{"a program's word, as it comes", config.DefaultLimits(), &Consent{Tier: "agent"}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"a program's word, no payee", config.Limits{AgentMax: 9, AgentDailyMax: 9, DailyMax: 9, PayeeList: true}, &Consent{Tier: "agent"}, "input-required PAYMENT_REQUIRED payee_not_listed unknown"},
		{"a program's word", config.Limits{AgentMax: 9, AgentDailyMax: 9, DailyMax: 9}, &Consent{Tier: "agent"}, "completed OK  verified"},
		{"by itself", config.Limits{AutoMax: 5, DailyMax: 5}, nil, "completed OK  verified"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, _ := w.shop(job)
				alice, _ := w.buyer(spending(tt.limits))
				wantOutcome(t, tt.name, w.order(alice, shop, tt.c), tt.want)
			})
		})
	}
}

// A cancellation of paid work is noted, and the work goes on; before it is paid
// it ends the task on both sides.
func TestCancellingWhatHasAPrice(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{block: make(chan struct{})}
		shop, _ := w.shop(job)
		alice, _ := w.buyer()

		unwanted := w.order(alice, shop, nil)
		_, err := alice.Cancel(t.Context(), unwanted.ID)
		w.must(err)
		time.Sleep(time.Second)
		wantOutcome(t, "declined", w.task(alice, unwanted.ID), "canceled UNAVAILABLE  unknown")
		wantOutcome(t, "declined, at the shop", w.task(shop, unwanted.ID), "canceled UNAVAILABLE  unknown")

		paid := w.order(alice, shop, &Consent{})
		_, err = alice.Cancel(t.Context(), paid.ID)
		w.must(err)
		w.must(shop.SetPeer(t.Context(), alice.aid(), Deny))
		w.must(alice.SetPeer(t.Context(), shop.aid(), Deny))
		time.Sleep(time.Second)
		close(job.block)
		got := w.wait(alice, paid.ID, time.Minute)
		wantOutcome(t, "paid", got, "completed OK  verified")
		if !got.CancelRequested || status(got) != PayPaid {
			t.Errorf("cancel requested %v, payment %s; want both noted", got.CancelRequested, status(got))
		}
	})
}

// Redeeming is done once for a reference, whatever gets lost on the way.
func TestRedeem(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, ledger := w.buyer()
		order := Redemption{Amount: 5, Reference: "invoice 7"}
		ledger.LoseAnswers(1)
		if _, err := alice.Redeem(t.Context(), order); err == nil {
			t.Fatal("a lost answer was no failure")
		}
		if _, err := alice.Redeem(t.Context(), Redemption{Amount: 6, Reference: order.Reference}); !errs.Is(err, "redemption_waits") {
			t.Errorf("another amount meanwhile: %v, want redemption_waits", err)
		}
		time.Sleep(time.Hour)
		done, err := alice.Redeem(t.Context(), order)
		if err != nil || done.Receipt == nil || ledger.Balance(alice.aid()) != 15 {
			t.Fatalf("%+v, %v, balance %d; want the receipt of the first and 15", done, err, ledger.Balance(alice.aid()))
		}
		if _, err := alice.Redeem(t.Context(), order); !errs.Is(err, "duplicate_binding") || ledger.Balance(alice.aid()) != 15 {
			t.Errorf("once more: %v, balance %d; want duplicate_binding and 15", err, ledger.Balance(alice.aid()))
		}
		if _, err := alice.Redeem(t.Context(), Redemption{Amount: 100}); !errs.Is(err, "insufficient_funds") {
			t.Errorf("too much: %v, want insufficient_funds", err)
		}
		ledger.Forge(func(r *payment.Receipt) { r.Amount++ })
		if _, err := alice.Redeem(t.Context(), Redemption{Amount: 1}); !errs.Is(err, "receipt_not_verified") {
			t.Errorf("with a receipt of another amount: %v, want receipt_not_verified", err)
		}
		ledger.Forge(nil)
		ledger.SignReceiptsBy(alice.Keys.Signer())
		if _, err := alice.Redeem(t.Context(), Redemption{Amount: 1, Reference: "x"}); !errs.Is(err, "receipt_not_verified") {
			t.Errorf("with a receipt that the hub did not sign: %v, want receipt_not_verified", err)
		}
	})
}
