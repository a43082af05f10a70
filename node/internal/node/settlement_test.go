//go:build !no_payments

package node

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

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
				alice, ledger := w.buyer()
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
	option := payment.NewOption(w.hub.Ledger().Network(), payee, 5, payment.Window)
	wanted, err := json.Marshal(option)
	if err != nil {
		return err
	}
	for i := range n {
		signed, id, err := payment.SignAuthorization(s.signer, payment.Authorization{Payer: s.signer.AID(), PayTo: payee, Amount: 5,
			Network: option.Network, Nonce: fmt.Sprint(i)}.Issued(tx.Now()))
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

// A receipt that does not hold makes nothing paid, on either side.
func TestReceiptsThatDoNotHold(t *testing.T) {
	for name, spoil := range map[string]func(*hubtest.Ledger, *running){
		"of another amount":     func(l *hubtest.Ledger, _ *running) { l.Forge(func(r *payment.Receipt) { r.Amount++ }) },
		"not signed by the hub": func(l *hubtest.Ledger, shop *running) { l.SignReceiptsBy(shop.Keys.Signer()) },
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, _ := w.shop(job)
				alice, ledger := w.buyer()
				spoil(ledger, shop)
				asked := w.order(alice, shop, &Consent{})
				time.Sleep(time.Minute)
				if job.count() != 0 || status(w.task(alice, asked.ID)) != PaySubmitted || status(w.task(shop, asked.ID)) != PaySubmitted {
					t.Errorf("%d effects, %+v and %+v; want nothing to count as paid", job.count(), w.task(alice, asked.ID).Payment, w.task(shop, asked.ID).Payment)
				}
			})
		})
	}
}

// Of an authorization of which the provider says nothing the ledger is asked, once
// nobody can use it any more.
func TestTheLedgerIsAskedInTheEnd(t *testing.T) {
	for _, moved := range []bool{false, true} {
		story(t, func(t *testing.T, w *world) {
			job := &counter{block: make(chan struct{}), limit: time.Hour}
			shop, _ := w.shop(job)
			alice, _ := w.buyer()
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

// A kill of the buyer after it signed: the same authorization is sent, no other.
func TestKillOfTheBuyer(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		alice, ledger := w.buyer()
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
