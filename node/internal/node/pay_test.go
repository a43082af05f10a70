//go:build !no_payments

package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/effect"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
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

// A hub that has moved to another key signs receipts that both sides take, at once.
func TestTheHubMovesToAnotherKey(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, _ := w.shop(&counter{})
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)
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
				w.start(shop.dir, options...)
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

// Payments whose outcome stays open, however many, keep nobody else out.
func TestPaymentsThatStayOpenHoldUpNoOthers(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, options := w.shop(job)
		alice, mallory := w.node("alice"), w.stranger()
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)
		ledger.Stall(mallory.signer.AID())
		asked := w.order(alice, shop, nil)
		w.must(shop.Journal.Write(t.Context(), func(tx *journal.Tx) error { return w.stuck(tx, mallory, shop.aid(), 200) }))
		w.end(shop)
		w.start(shop.dir, options...)
		time.Sleep(time.Minute)
		_, err := alice.Pay(t.Context(), asked.ID, Consent{})
		w.must(err)
		time.Sleep(time.Minute)
		wantOutcome(t, "the call", w.task(alice, asked.ID), "completed OK  verified")
	})
}

// stuck writes down payments of a stranger that a shop was given.
func (w *world) stuck(tx *journal.Tx, s *stranger, payee string, n int) error {
	option := payment.NewQuote("job", "", payee, 5, []string{w.hub.Ledger().Network()}).Accepts[0]
	wanted, err := json.Marshal(option)
	if err != nil {
		return err
	}
	for i := range n {
		now := uint64(tx.Now().UnixMilli())
		signed, id, err := payment.SignAuthorization(s.signer, payment.Authorization{Payer: s.signer.AID(), PayTo: payee, Amount: 5,
			Network: option.Network, Nonce: fmt.Sprint(i), IssuedAt: now, NotAfter: now + payment.Window})
		if err != nil {
			return err
		}
		payload, err := json.Marshal(payment.NewPayload(option, signed))
		if err != nil {
			return err
		}
		if err := tx.PutSale(journal.Sale{Task: fmt.Sprint("stuck ", i), Peer: s.signer.AID(), Capability: "job", AuthID: id, Amount: 5,
			Network: option.Network, Wanted: wanted, Payload: payload}); err != nil {
			return err
		}
	}
	return nil
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
		w.start(shop.dir, options[1]) // it serves nothing any more
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

// charge is a stranger's quote for a task, as it may be spoilt.
func (s *stranger) charge(to *running, ix string, edit func(*payment.PaymentRequired)) {
	q := payment.NewQuote("x", "", s.signer.AID(), 5, []string{s.w.hub.Ledger().Network()})
	edit(&q)
	required, err := json.Marshal(q)
	s.w.must(err)
	s.say(to, ix, task.StatusMsg{State: task.InputRequired, Metadata: []byte(`{"x402.payment.status":"payment-required","x402.payment.required":` + string(required) + `}`)})
}

func (s *stranger) say(to *running, ix string, m task.StatusMsg) {
	s.send(to, task.TypeStatus, ix, body(s.w, m))
	time.Sleep(time.Second)
}

// paid are the payments that came to a stranger.
func (s *stranger) paid() (all []payment.PaymentPayload) {
	for _, m := range s.open() {
		if m.Type != task.TypeMessage {
			continue
		}
		msg, err := task.Parse[task.ChatMsg](m.Body)
		s.w.must(err)
		meta, err := task.ParseMetadata(msg.Metadata)
		s.w.must(err)
		if p, err := payment.ParsePayload(meta[task.KeyPaymentPayload]); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// A quote that cannot be paid here, or asks for something else, is not signed for.
func TestQuotesThatAreNotPaid(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*payment.PaymentRequired)
		want string
	}{
		{"good", func(*payment.PaymentRequired) {}, "working -  unknown"},
		{"one of two rails", func(q *payment.PaymentRequired) {
			q.Accepts = append([]payment.Requirements{{Scheme: "exact", Network: "eip155:1", Amount: "1", Asset: "USDC", PayTo: "0x", MaxTimeoutSeconds: 1}}, q.Accepts...)
		}, "working -  unknown"},
		{"another rail", func(q *payment.PaymentRequired) { q.Accepts[0].Network = "hub:elsewhere" }, "input-required PAYMENT_REQUIRED rail_not_payable unknown"},
		{"another asset", func(q *payment.PaymentRequired) { q.Accepts[0].Asset = "USDC" }, "input-required PAYMENT_REQUIRED rail_not_payable unknown"},
		{"no way at all", func(q *payment.PaymentRequired) { q.Accepts = nil }, "input-required PAYMENT_REQUIRED rail_not_payable unknown"},
		{"for somebody else", func(q *payment.PaymentRequired) { q.Accepts[0].PayTo = q.Accepts[0].Network[4:] }, "input-required PAYMENT_REQUIRED payee_mismatch unknown"},
		{"for nothing", func(q *payment.PaymentRequired) { q.Accepts[0].Amount = "0" }, "input-required PAYMENT_REQUIRED invalid_amount unknown"},
		{"for more than there is", func(q *payment.PaymentRequired) { q.Accepts[0].Amount = "18446744073709551617" }, "input-required PAYMENT_REQUIRED invalid_amount unknown"},
		{"for part of a credit", func(q *payment.PaymentRequired) { q.Accepts[0].Amount = "1.5" }, "input-required PAYMENT_REQUIRED invalid_amount unknown"},
		{"another version", func(q *payment.PaymentRequired) { q.X402Version = 1 }, "input-required PAYMENT_REQUIRED invalid_payment_requirements unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory := w.node("alice"), w.stranger()
				asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x", Pay: &Consent{}})
				w.must(err)
				time.Sleep(time.Second)
				mallory.charge(alice, asked.ID, tt.edit)
				wantOutcome(t, tt.name, w.task(alice, asked.ID), tt.want)
				if want := strings.HasPrefix(tt.want, "working"); len(mallory.paid()) == 1 != want {
					t.Errorf("%d payments were sent, want one: %v", len(mallory.paid()), want)
				}
			})
		})
	}
}

// Checklist 31: a quote that two readers could read differently is no quote.
func TestAnAmbiguousQuote(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, mallory := w.node("alice"), w.stranger()
		asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x", Pay: &Consent{}})
		w.must(err)
		time.Sleep(time.Second)
		option := `{"scheme":"anet-credit","network":"` + w.hub.Ledger().Network() + `","amount":"1","AMOUNT":"9","asset":"credit","payTo":"` + mallory.signer.AID() + `","maxTimeoutSeconds":300}`
		mallory.say(alice, asked.ID, task.StatusMsg{State: task.InputRequired, Metadata: []byte(
			`{"x402.payment.status":"payment-required","x402.payment.required":{"x402Version":2,"accepts":[` + option + `]}}`)})
		wantOutcome(t, "the task", w.task(alice, asked.ID), "submitted -  unknown")
	})
}

// Checklist 58: a task is paid by the ledger's receipt for this node's own
// authorization, and by nothing that a provider says or shows.
func TestAProviderThatSaysItWasPaid(t *testing.T) {
	for _, tt := range []struct {
		name  string
		show  func(w *world, s *stranger, p payment.PaymentPayload) any
		want  string
		apart bool
	}{
		{"nothing is shown", func(*world, *stranger, payment.PaymentPayload) any { return nil }, PaySubmitted, false},
		{"a success without a receipt", func(w *world, _ *stranger, p payment.PaymentPayload) any {
			a, err := p.Authorization()
			w.must(err)
			return payment.SettlementResponse{Success: true, Transaction: a.ID(), Network: a.Network, Amount: "5"}
		}, PaySubmitted, true},
		{"the receipt of another payment", func(w *world, s *stranger, p payment.PaymentPayload) any {
			mine := w.settleFor(s, p, func(a *payment.Authorization) { a.Payer = s.signer.AID() })
			a, err := p.Authorization()
			w.must(err)
			mine.Transaction = a.ID()
			return mine
		}, PaySubmitted, true},
		{"a receipt that this provider signed", func(w *world, s *stranger, p payment.PaymentPayload) any {
			a, err := p.Authorization()
			w.must(err)
			signed, _, err := payment.SignReceipt(s.signer, payment.Receipt{
				AuthID: a.ID(), Payer: a.Payer, PayTo: a.PayTo, Amount: a.Amount, Network: a.Network, SettleAt: uint64(time.Now().UnixMilli())})
			w.must(err)
			text, err := json.Marshal(codec.EncodeB64(signed))
			w.must(err)
			return payment.SettlementResponse{Success: true, Transaction: a.ID(), Network: a.Network, Extensions: payment.Extensions{payment.ExtReceipt: text}}
		}, PaySubmitted, true},
		{"the ledger's receipt", func(w *world, s *stranger, p payment.PaymentPayload) any { return w.settleFor(s, p, nil) }, PayPaid, false},
		{"that it failed, of another payment", func(*world, *stranger, payment.PaymentPayload) any {
			return payment.SettlementResponse{ErrorReason: "insufficient_funds", Transaction: "another"}
		}, PaySubmitted, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory := w.node("alice"), w.stranger()
				for _, aid := range []string{alice.aid(), mallory.signer.AID()} {
					w.hub.Ledger().Grant(aid, 20)
				}
				asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x", Pay: &Consent{}})
				w.must(err)
				time.Sleep(time.Second)
				req := mallory.open()[0]
				mallory.charge(alice, asked.ID, func(*payment.PaymentRequired) {})
				shown := tt.show(w, mallory, mallory.paid()[0])
				mallory.send(alice, task.TypeResult, asked.ID, mallory.result(req, func(_ *evidence.Receipt, r *task.ResultResp) {
					list, err := json.Marshal([]any{shown})
					w.must(err)
					r.Metadata = []byte(`{"x402.payment.status":"payment-completed","x402.payment.receipts":` + string(list) + `}`)
				}))
				time.Sleep(time.Second)
				got := w.task(alice, asked.ID)
				if !got.Ended || status(got) != tt.want || (got.Payment.Unverified != nil) != tt.apart {
					t.Errorf("the payment is %+v, want %s and unverified receipts: %v", got.Payment, tt.want, tt.apart)
				}
			})
		})
	}
}

// A provider that takes a payment and denies it is found out: the amount counts as
// spent until the ledger has said what became of it, and is paid where it moved.
func TestAProviderThatSaysItWasNotPaid(t *testing.T) {
	for _, taken := range []bool{true, false} {
		story(t, func(t *testing.T, w *world) {
			alice, mallory := w.node("alice"), w.stranger()
			w.hub.Ledger().Grant(alice.aid(), 20)
			asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x", Pay: &Consent{}})
			w.must(err)
			time.Sleep(time.Second)
			mallory.charge(alice, asked.ID, func(*payment.PaymentRequired) {})
			p := mallory.paid()[0]
			a, err := p.Authorization()
			w.must(err)
			if taken {
				w.settleFor(mallory, p, nil)
			}
			mallory.say(alice, asked.ID, task.StatusMsg{State: task.InputRequired, Metadata: []byte(
				`{"x402.payment.status":"payment-failed","anet.reason":"insufficient_funds","x402.payment.receipts":[{"success":false,` +
					`"errorReason":"insufficient_funds","network":"","transaction":"` + a.ID() + `"}]}`)})
			spent := func(when string, status string, want uint64) {
				t.Helper()
				var l Limits
				w.must(alice.AddSpent(t.Context(), &l))
				if got := w.task(alice, asked.ID); got.Payment.Status != status || l.SpentToday != want {
					t.Errorf("taken %v, %s: %+v with %d spent, want %s with %d", taken, when, got.Payment, l.SpentToday, status, want)
				}
			}
			spent("while it could still be taken", PayRequired, 5)
			time.Sleep(time.Hour)
			if !taken {
				spent("in the end", PayRequired, 0)
				return
			}
			spent("in the end", PayPaid, 5)
			got := w.task(alice, asked.ID)
			wantOutcome(t, "the task", got, "input-required -  unknown")
			if _, err := alice.Pay(t.Context(), asked.ID, Consent{}); !errs.Is(err, "already_paid") || len(got.Payment.Receipt) == 0 {
				t.Errorf("paid again: %v; %+v", err, got.Payment)
			}
		})
	}
}

// settleFor brings a payment to the ledger as its payee, or one that the payee
// makes like it.
func (w *world) settleFor(s *stranger, p payment.PaymentPayload, edit func(*payment.Authorization)) payment.SettlementResponse {
	w.t.Helper()
	if edit != nil {
		a, err := p.Authorization()
		w.must(err)
		edit(&a.Authorization)
		signed, _, err := payment.SignAuthorization(s.signer, a.Authorization)
		w.must(err)
		p = payment.NewPayload(p.Accepted, signed)
	}
	answer, err := w.hub.Line(s.signer.AID()).Purse().Settle(w.t.Context(), payment.FacilitatorRequest{PaymentPayload: &p, PaymentRequirements: &p.Accepted})
	w.must(err)
	if !answer.Success {
		w.t.Fatalf("the ledger refused: %+v", answer)
	}
	return answer
}

// Checklist 57: the shop refuses what does not fit before it asks the ledger, tells
// it with the transaction, and takes no second payment.
func TestPaymentsThatAShopRefuses(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		mallory := w.stranger()
		ledger := w.hub.Ledger()
		ledger.Grant(mallory.signer.AID(), 20)
		doc, err := task.NewCall("job", nil)
		w.must(err)
		req, err := task.NewDelegate(mallory.signer, "ix_1", doc)
		w.must(err)
		mallory.send(shop, task.TypeDelegate, "ix_1", body(w, req))
		time.Sleep(time.Second)
		pay := func(edit func(*payment.Authorization, *payment.Requirements)) {
			t.Helper()
			now := uint64(time.Now().UnixMilli())
			a := payment.Authorization{Payer: mallory.signer.AID(), PayTo: shop.aid(), Amount: 5, Network: ledger.Network(), Nonce: "n",
				IssuedAt: now, NotAfter: now + payment.Window, Interaction: payment.Binding("ix_1", doc.Nonce())}
			accepted := payment.NewQuote("job", "", shop.aid(), 5, []string{ledger.Network()}).Accepts[0]
			edit(&a, &accepted)
			signed, _, err := payment.SignAuthorization(mallory.signer, a)
			w.must(err)
			payload, err := json.Marshal(payment.NewPayload(accepted, signed))
			w.must(err)
			mallory.send(shop, task.TypeMessage, "ix_1", body(w, task.ChatMsg{Kind: task.KindText, Metadata: []byte(
				`{"x402.payment.status":"payment-submitted","x402.payment.payload":` + string(payload) + `}`)}))
			time.Sleep(time.Second)
		}
		for _, tt := range []struct {
			want string
			edit func(*payment.Authorization, *payment.Requirements)
		}{
			{"binding_mismatch", func(a *payment.Authorization, _ *payment.Requirements) {
				a.Interaction = payment.Binding("ix_2", doc.Nonce())
			}},
			{"payee_mismatch", func(a *payment.Authorization, _ *payment.Requirements) { a.PayTo = mallory.signer.AID() }},
			{"invalid_amount", func(a *payment.Authorization, r *payment.Requirements) { a.Amount, r.Amount = 4, "4" }},
			{"expired_payment", func(a *payment.Authorization, _ *payment.Requirements) { a.IssuedAt, a.NotAfter = 1, 2 }},
			{"network_mismatch", func(a *payment.Authorization, r *payment.Requirements) { a.Network, r.Network = "hub:x", "hub:x" }},
			{"duplicate_nonce", func(a *payment.Authorization, _ *payment.Requirements) {
				a.Nonce = "bought a voucher"
				_, id, err := payment.SignAuthorization(mallory.signer, *a)
				w.must(err)
				w.must(shop.Journal.Write(t.Context(), func(tx *journal.Tx) error {
					_, err := tx.SpendVoucher(id, []byte("voucher"))
					return err
				}))
			}},
		} {
			pay(tt.edit)
			told := mallory.told()
			if last := told[len(told)-1]; last != "input-required "+tt.want {
				t.Errorf("told %q, want %s", last, tt.want)
			}
		}
		if n := len(ledger.Asked()); n != 0 {
			t.Errorf("the ledger was asked %d times before a payment fitted, want never", n)
		}
		pay(func(*payment.Authorization, *payment.Requirements) {})
		if results := mallory.results(); job.count() != 1 || len(results) != 1 || ledger.Balance(shop.aid()) != 5 {
			t.Fatalf("%d effects, %d results, balance %d; want 1, 1 and 5", job.count(), len(results), ledger.Balance(shop.aid()))
		}
		meta, err := task.ParseMetadata(mallory.results()[0].Metadata)
		w.must(err)
		receipts, err := payment.ParseResponses(meta[task.KeyPaymentReceipts])
		if err != nil || len(receipts) != 7 || !receipts[6].Success || receipts[0].ErrorReason != "binding_mismatch" || receipts[0].Transaction == "" {
			t.Errorf("the receipts are %+v, %v; want the six refusals and the success", receipts, err)
		}
		if got := mallory.receipts(); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("statuses came with %d receipts, want all there were each time", got)
		}
		pay(func(a *payment.Authorization, _ *payment.Requirements) { a.Nonce = "another" })
		if ledger.Balance(shop.aid()) != 5 || job.count() != 1 {
			t.Error("a second payment was taken after the end")
		}
	})
}

// receipts counts those that each status about a payment came with.
func (s *stranger) receipts() (all []int) {
	s.statuses(func(_ task.State, meta task.Metadata) {
		list, err := payment.ParseResponses(meta[task.KeyPaymentReceipts])
		s.w.must(err)
		if meta.Text(task.KeyPaymentStatus) != "" {
			all = append(all, len(list))
		}
	})
	return all
}

// The prepaid form: a payment that comes with the request is taken at once.
func TestAPrepaidCall(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		mallory := w.stranger()
		ledger := w.hub.Ledger()
		ledger.Grant(mallory.signer.AID(), 20)
		for i, amount := range []uint64{5, 4} {
			ix := fmt.Sprint("ix_", i)
			doc, err := task.NewCall("job", nil)
			w.must(err)
			req, err := task.NewDelegate(mallory.signer, ix, doc)
			w.must(err)
			now := uint64(time.Now().UnixMilli())
			signed, _, err := payment.SignAuthorization(mallory.signer, payment.Authorization{Payer: mallory.signer.AID(), PayTo: shop.aid(),
				Amount: amount, Network: ledger.Network(), Nonce: "n", IssuedAt: now, NotAfter: now + payment.Window, Interaction: payment.Binding(ix, doc.Nonce())})
			w.must(err)
			accepted := payment.NewQuote("job", "", shop.aid(), amount, []string{ledger.Network()}).Accepts[0]
			req.Payment, err = json.Marshal(payment.NewPayload(accepted, signed))
			w.must(err)
			mallory.send(shop, task.TypeDelegate, ix, body(w, req))
			time.Sleep(2 * time.Second)
		}
		told := mallory.told()
		if len(mallory.results()) != 1 || job.count() != 1 || ledger.Balance(shop.aid()) != 5 || told[len(told)-1] != "input-required invalid_amount" {
			t.Errorf("%d results, %d effects, balance %d, told %q; want the full payment to have bought the one call", len(mallory.results()), job.count(), ledger.Balance(shop.aid()), told)
		}
	})
}

// Redeeming is done once for a reference, whatever gets lost on the way.
func TestRedeem(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice := w.node("alice")
		ledger := w.hub.Ledger()
		ledger.Grant(alice.aid(), 20)
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
	})
}
