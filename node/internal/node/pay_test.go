package node

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// unpayable is a node whose hub keeps no ledger.
func unpayable(p *Parts) { p.Ledger = nil }

// spending sets a node's limits.
func spending(l config.Payments) option {
	return func(p *Parts) { p.Payments = func() config.Payments { return l } }
}

// shop is a node that sells calls of "job" for 5 credits.
func (w *world) shop(job *counter) (*running, []option) {
	job.cap, job.price = "job", 5
	options := []option{serving(job), public(config.DefaultPublic("job"))}
	return w.node("shop", options...), options
}

// status is what a node says of the payment of a task.
func status(t Task) string {
	if t.Payment == nil {
		return "-"
	}
	return t.Payment.Status
}

// settles waits until a task is not as it was.
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
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)

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

// What was agreed to when the task was sent is paid without another word, once,
// and not above what was agreed.
func TestConsent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits config.Payments
		c      *Consent
		want   string
	}{
		{"agreed to", config.DefaultPayments(), &Consent{Max: 5}, "completed OK  verified"},
		{"without a bound of its own", config.DefaultPayments(), &Consent{}, "completed OK  verified"},
		{"above what was agreed", config.DefaultPayments(), &Consent{Max: 4}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"above the limit for people", config.Payments{ExplicitMax: 4, DailyMax: 50}, &Consent{Max: 9}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"above the limit for a day", config.Payments{ExplicitMax: 9, DailyMax: 4}, &Consent{Max: 9}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"nobody's word", config.DefaultPayments(), nil, "input-required PAYMENT_REQUIRED  unknown"},
		{"a program's word, as it comes", config.DefaultPayments(), &Consent{Tier: "agent"}, "input-required PAYMENT_REQUIRED payment_over_limit unknown"},
		{"a program's word, no payee", config.Payments{AgentMax: 9, AgentDailyMax: 9, DailyMax: 9, PayeeList: true}, &Consent{Tier: "agent"}, "input-required PAYMENT_REQUIRED payee_not_listed unknown"},
		{"a program's word", config.Payments{AgentMax: 9, AgentDailyMax: 9, DailyMax: 9}, &Consent{Tier: "agent"}, "completed OK  verified"},
		{"by itself", config.Payments{AutoMax: 5, DailyMax: 5}, nil, "completed OK  verified"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, _ := w.shop(job)
				alice := w.node("alice", spending(tt.limits))
				w.hub.Ledger().Grant(alice.aid(), 20)
				wantOutcome(t, tt.name, w.order(alice, shop, tt.c), tt.want)
			})
		})
	}
}

// Admission still comes first, and a refused call uses nothing up: neither the
// caller's quota nor its place.
func TestAdmissionComesBeforeThePrice(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		limits := config.DefaultPublic("job")
		limits.PerCallerPerMin = 1
		shop, mallory := w.node("shop", serving(&counter{cap: "job", price: 5}), public(limits)), w.stranger()
		doc, err := task.NewCall("job", nil)
		w.must(err)
		bare := doc
		bare.Tasks[0].Contexts = bare.Tasks[0].Contexts[:1] // without its nonce
		req, err := task.NewDelegate(mallory.signer, "ix_1", bare)
		w.must(err)
		mallory.send(shop, task.TypeDelegate, "ix_1", body(w, req))
		time.Sleep(time.Second)
		mallory.send(shop, task.TypeDelegate, "ix_2", body(w, mallory.call("ix_2", "job")))
		time.Sleep(time.Second)
		mallory.send(shop, task.TypeDelegate, "ix_3", body(w, mallory.call("ix_3", "job")))
		time.Sleep(time.Second)
		want := []string{"rejected task_nonce_required", "input-required ", "rejected quota_caller_per_min"}
		if told := mallory.told(); !equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// While the outcome is not known nothing is run, refused, or paid again; then it
// is run once.
func TestAnOutcomeThatIsNotKnown(t *testing.T) {
	for _, tt := range []struct {
		name   string
		break_ func(w *world)
		mend   func(w *world)
	}{
		{"the ledger says so", func(w *world) { w.hub.Ledger().Pending(true) }, func(w *world) { w.hub.Ledger().Pending(false) }},
		{"answers are lost", func(w *world) { w.hub.Ledger().LoseAnswers(1000) }, func(w *world) { w.hub.Ledger().LoseAnswers(0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, options := w.shop(job)
				alice := w.node("alice")
				ledger := w.hub.Ledger()
				ledger.Grant(alice.aid(), 20)
				asked := w.order(alice, shop, nil)
				tt.break_(w)
				_, err := alice.Pay(t.Context(), asked.ID, Consent{})
				w.must(err)
				time.Sleep(time.Minute)
				got := w.task(alice, asked.ID)
				wantOutcome(t, "meanwhile", got, "working - settlement_pending unknown")
				if _, err := alice.Pay(t.Context(), asked.ID, Consent{}); !errs.Is(err, payment.SettlementPending) || status(got) != PaySubmitted {
					t.Errorf("a second payment: %v, and the first is %s; want settlement_pending", err, status(got))
				}
				if _, err := shop.Cancel(t.Context(), asked.ID); !errs.Is(err, "task_paid") {
					t.Errorf("the shop cancels: %v, want task_paid", err)
				}
				w.end(shop)
				shop = w.start(shop.dir, options...)
				time.Sleep(time.Minute)
				if job.count() != 0 {
					t.Fatalf("%d effects before anything was known", job.count())
				}
				tt.mend(w)
				got = w.wait(alice, asked.ID, 10*time.Minute)
				wantOutcome(t, "then", got, "completed OK  verified")
				if a := ledger.Balance(alice.aid()); a != 15 || job.count() != 1 || status(got) != PayPaid {
					t.Errorf("balance %d, %d effects, %s; want 15, 1 and paid", a, job.count(), status(got))
				}
				first := ledger.Asked()[0].PaymentPayload.Payload.Authorization
				for _, r := range ledger.Asked() {
					if r.PaymentPayload.Payload.Authorization != first {
						t.Error("another authorization was brought meanwhile")
					}
				}
			})
		})
	}
}

// A payment that the ledger refuses is told with its reason, and another one can
// be made within the same quote.
func TestARefusedPayment(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 4)
		asked := w.order(alice, shop, &Consent{})
		wantOutcome(t, "too poor", asked, "input-required PAYMENT_REQUIRED insufficient_funds unknown")
		ledger.Grant(alice.aid(), 4)
		_, err := alice.Pay(t.Context(), asked.ID, Consent{})
		w.must(err)
		got := w.wait(alice, asked.ID, time.Minute)
		wantOutcome(t, "richer", got, "completed OK  verified")
		if a := ledger.Balance(alice.aid()); a != 3 || status(got) != PayPaid {
			t.Errorf("balance %d, %s; want 3 and paid", a, status(got))
		}
	})
}

// Paid work that cannot be done has failed, with the receipts.
func TestPaidWorkThatCannotBeDone(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, options := w.shop(&counter{})
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)
		asked := w.order(alice, shop, nil)
		ledger.Pending(true)
		_, err := alice.Pay(t.Context(), asked.ID, Consent{})
		w.must(err)
		time.Sleep(time.Minute)
		w.end(shop)
		shop = w.start(shop.dir, options[1]) // it serves nothing any more
		ledger.Pending(false)
		got := w.wait(alice, asked.ID, 10*time.Minute)
		wantOutcome(t, "the call", got, "failed UNAVAILABLE capability_not_served verified")
		if status(got) != PayPaid {
			t.Errorf("the payment is %s, want paid", status(got))
		}
	})
}

// A cancellation of paid work is noted, and the work goes on; before it is paid
// it ends the task on both sides.
func TestCancellingWhatHasAPrice(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{block: make(chan struct{})}
		shop, _ := w.shop(job)
		alice := w.node("alice")
		w.hub.Ledger().Grant(alice.aid(), 20)

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

// A quote that nobody pays within a day ends its task.
func TestAQuoteExpires(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, _ := w.shop(&counter{})
		alice := w.node("alice")
		asked := w.order(alice, shop, nil)
		time.Sleep(24*time.Hour + time.Minute)
		wantOutcome(t, "the next day", w.task(alice, asked.ID), "rejected UNAVAILABLE quote_expired unknown")
		wantOutcome(t, "the next day, at the shop", w.task(shop, asked.ID), "rejected UNAVAILABLE quote_expired unknown")
	})
}

// A receipt that does not hold makes nothing paid, on either side.
func TestReceiptsThatDoNotHold(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)
		ledger.Forge(func(r *payment.Receipt) { r.Amount++ })
		asked := w.order(alice, shop, &Consent{})
		time.Sleep(time.Minute)
		if job.count() != 0 || status(w.task(alice, asked.ID)) != PaySubmitted || status(w.task(shop, asked.ID)) != PaySubmitted {
			t.Errorf("%d effects, %+v and %+v; want nothing to count as paid", job.count(), w.task(alice, asked.ID).Payment, w.task(shop, asked.ID).Payment)
		}
	})
}

// Of an authorization of which the provider says nothing the ledger is asked, once
// nobody can use it any more.
func TestTheLedgerIsAskedInTheEnd(t *testing.T) {
	for _, moved := range []bool{false, true} {
		story(t, func(t *testing.T, w *world) {
			job := &counter{block: make(chan struct{}), limit: time.Hour}
			shop, _ := w.shop(job)
			alice := w.node("alice")
			ledger := w.hub.Ledger()
			ledger.Grant(alice.aid(), 20)
			asked := w.order(alice, shop, nil)
			shop.line.Break("send")
			if !moved {
				w.end(shop)
			}
			_, err := alice.Pay(t.Context(), asked.ID, Consent{})
			w.must(err)
			time.Sleep(5 * time.Minute)
			if got := w.task(alice, asked.ID); status(got) != PaySubmitted {
				t.Errorf("moved %v: within its time the payment is %s, want submitted", moved, status(got))
			}
			time.Sleep(5 * time.Minute)
			got := w.task(alice, asked.ID)
			want := map[bool]string{false: "input-required PAYMENT_REQUIRED expired_payment unknown/required", true: "working -  unknown/paid"}[moved]
			if s := outcome(got) + "/" + status(got); s != want {
				t.Errorf("moved %v: %s, want %s", moved, s, want)
			}
			close(job.block)
		})
	}
}

// A kill of the shop at any step of a payment: it is settled once and run at most
// once, and the buyer has the receipt.
func TestKillAtEveryStepOfASale(t *testing.T) {
	for _, step := range []string{"settle", "settled", "work", "send"} {
		t.Run(step, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, options := w.shop(job)
				alice := w.node("alice")
				ledger := w.hub.Ledger()
				ledger.Grant(alice.aid(), 20)
				asked := w.order(alice, shop, nil)
				var left string
				switch step {
				case "settle": // written down, and the ledger was not asked
					shop.line.Break("settle")
				case "settled": // the ledger moved it, and the shop has not heard
					ledger.LoseAnswers(1)
				case "work": // in the middle of the work
					job.after = func() { left = w.snapshot(shop); shop.line.Break("send") }
				case "send": // done, and nobody was told
					shop.line.Break("send")
				}
				_, err := alice.Pay(t.Context(), asked.ID, Consent{})
				w.must(err)
				time.Sleep(100 * time.Millisecond)
				if left == "" {
					left = w.snapshot(shop)
				}
				w.end(shop)
				job.after = nil
				ledger.LoseAnswers(0)
				shop = w.start(left, options...)
				got := w.wait(alice, asked.ID, time.Hour)
				want := "completed OK  verified"
				if step == "work" {
					want = "completed UNVERIFIED interrupted verified"
				}
				wantOutcome(t, step, got, want)
				if a := ledger.Balance(alice.aid()); a != 15 || job.count() != 1 || status(got) != PayPaid || status(w.task(shop, asked.ID)) != PayPaid {
					t.Errorf("balance %d, %d effects, %s; want 15, 1 and paid", a, job.count(), status(got))
				}
			})
		})
	}
}

// A kill of the buyer after it signed: the same authorization is sent, no other.
func TestKillOfTheBuyer(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)
		asked := w.order(alice, shop, nil)
		alice.line.Break("send")
		_, err := alice.Pay(t.Context(), asked.ID, Consent{})
		w.must(err)
		left := w.snapshot(alice)
		w.end(alice)
		alice = w.start(left)
		got := w.wait(alice, asked.ID, time.Hour)
		wantOutcome(t, "the call", got, "completed OK  verified")
		var signed []journal.Spend
		w.must(alice.Journal.Read(t.Context(), func(tx *journal.Tx) (err error) { signed, err = tx.Spends(asked.ID); return err }))
		if len(signed) != 1 || ledger.Balance(alice.aid()) != 15 || status(got) != PayPaid {
			t.Errorf("%d signed, balance %d, %s; want one, 15 and paid", len(signed), ledger.Balance(alice.aid()), status(got))
		}
	})
}
