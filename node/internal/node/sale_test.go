//go:build !no_payments

package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

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
		alice, ledger := w.buyer()
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

// A kill of the shop at any step of a payment: it is settled once and run at most
// once, and the buyer has the receipt.
func TestKillAtEveryStepOfASale(t *testing.T) {
	for _, step := range []string{"settle", "settled", "work", "send"} {
		t.Run(step, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, options := w.shop(job)
				alice, ledger := w.buyer()
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
		mallory, ledger := w.customer(shop), w.hub.Ledger()
		for _, tt := range []struct {
			want string
			edit func(*payment.Authorization, *payment.Requirements)
		}{
			{"binding_mismatch", func(a *payment.Authorization, _ *payment.Requirements) {
				a.Interaction = payment.Binding("ix_2", mallory.nonce)
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
			mallory.pay(tt.edit)
			told := mallory.told()
			if last := told[len(told)-1]; last != "input-required "+tt.want {
				t.Errorf("told %q, want %s", last, tt.want)
			}
		}
		if n := len(ledger.Asked()); n != 0 {
			t.Errorf("the ledger was asked %d times before a payment fitted, want never", n)
		}
		mallory.pay(func(*payment.Authorization, *payment.Requirements) {})
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
		mallory.pay(func(a *payment.Authorization, _ *payment.Requirements) { a.Nonce = "another" })
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
			signed, _, err := payment.SignAuthorization(mallory.signer, payment.Authorization{Payer: mallory.signer.AID(), PayTo: shop.aid(),
				Amount: amount, Network: ledger.Network(), Nonce: "n", Interaction: payment.Binding(ix, doc.Nonce())}.Issued(time.Now()))
			w.must(err)
			accepted := payment.NewOption(ledger.Network(), shop.aid(), amount, payment.Window)
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
