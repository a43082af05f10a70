//go:build !no_payments

package node

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/hubtest"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// customer is a stranger with 20 credits that asked a shop for a call of "job".
type customer struct {
	*stranger
	shop   *running
	ledger *hubtest.Ledger
	nonce  string // of the task
}

// asks is the id of a customer's task.
const asks = "ix_1"

func (w *world) customer(shop *running) *customer {
	w.t.Helper()
	c := &customer{w.stranger(), shop, w.hub.Ledger(), ""}
	c.ledger.Grant(c.signer.AID(), 20)
	doc, err := task.NewCall("job", nil)
	w.must(err)
	c.nonce = doc.Nonce()
	req, err := task.NewDelegate(c.signer, asks, doc)
	w.must(err)
	c.send(shop, task.TypeDelegate, asks, body(w, req))
	time.Sleep(time.Second)
	return c
}

// pay sends a payment that fits, but for an edit, and gives what was sent.
func (c *customer) pay(edit func(*payment.Authorization, *payment.Requirements)) (metadata string) {
	a := payment.Authorization{Payer: c.signer.AID(), PayTo: c.shop.aid(), Amount: 5, Network: c.ledger.Network(), Nonce: "n",
		Interaction: payment.Binding(asks, c.nonce)}.Issued(time.Now())
	accepted := payment.NewOption(c.ledger.Network(), c.shop.aid(), 5, payment.Window)
	edit(&a, &accepted)
	signed, _, err := payment.SignAuthorization(c.signer, a)
	c.w.must(err)
	payload, err := json.Marshal(payment.NewPayload(accepted, signed))
	c.w.must(err)
	metadata = `{"x402.payment.status":"payment-submitted","x402.payment.payload":` + string(payload) + `}`
	c.says(metadata)
	return metadata
}

// says sends a message within the task.
func (c *customer) says(metadata string) {
	c.send(c.shop, task.TypeMessage, asks, body(c.w, task.ChatMsg{Kind: task.KindText, Metadata: []byte(metadata)}))
	time.Sleep(time.Second)
}

const declines = `{"x402.payment.status":"payment-rejected"}`

func asQuoted(*payment.Authorization, *payment.Requirements) {}

func another(a *payment.Authorization, _ *payment.Requirements) { a.Nonce = "another" }

// brought counts the authorizations that came to the ledger.
func (c *customer) brought() int {
	var all []string
	for _, r := range c.ledger.Asked() {
		all = append(all, r.PaymentPayload.Payload.Authorization)
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// Checklist 57: while it is not known what became of a payment no other is taken, the
// same one changes nothing, and the call is not taken back.
func TestOnePaymentAtATime(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{}
		shop, _ := w.shop(job)
		c := w.customer(shop)
		c.ledger.Pending(true)
		first := c.pay(asQuoted)
		c.says(first)
		c.pay(another)
		c.says(declines)
		if told, want := c.told(), []string{"input-required ", "working settlement_pending", "input-required no_pending_quote"}; !equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		c.ledger.Pending(false)
		time.Sleep(10 * time.Minute)
		if n := len(c.results()); n != 1 || job.count() != 1 || c.brought() != 1 || c.ledger.Balance(shop.aid()) != 5 {
			t.Errorf("%d results, %d effects, %d payments at the ledger, balance %d; want one, one, one and 5",
				n, job.count(), c.brought(), c.ledger.Balance(shop.aid()))
		}
	})
}

// A task that ended without a payment is not paid for afterwards: nobody would work
// for it.
func TestNothingIsTakenForATaskThatEnded(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*customer)
		last string
	}{
		{"declined", func(c *customer) { c.says(declines) }, "canceled "},
		{"too many that did not do", func(c *customer) {
			for range 16 {
				c.pay(func(a *payment.Authorization, r *payment.Requirements) { a.Amount, r.Amount = 4, "4" })
			}
			if told := c.told(); len(told) != 17 || told[15] != "input-required invalid_amount" {
				c.w.t.Errorf("told %q, want the task to end with the sixteenth", told)
			}
		}, "rejected invalid_amount"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				job := &counter{}
				shop, _ := w.shop(job)
				c := w.customer(shop)
				tt.end(c)
				c.pay(another)
				told := c.told()
				if last := told[len(told)-1]; last != tt.last || c.brought() != 0 || job.count() != 0 {
					t.Errorf("told %q at last, %d payments at the ledger, %d effects; want %q and none", last, c.brought(), job.count(), tt.last)
				}
			})
		})
	}
}

// Who wants the call no more is heard once the payment turns out to have moved nothing.
func TestACancellationWaitsForTheLedger(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, _ := w.shop(&counter{})
		alice, ledger := w.node("alice"), w.hub.Ledger()
		asked := w.order(alice, shop, nil)
		ledger.Pending(true)
		_, err := alice.Pay(t.Context(), asked.ID, Consent{})
		w.must(err)
		time.Sleep(time.Second)
		_, err = alice.Cancel(t.Context(), asked.ID)
		w.must(err)
		time.Sleep(time.Minute)
		if got := w.task(shop, asked.ID); got.Ended {
			t.Errorf("at the shop the task is %s before the ledger has spoken", outcome(got))
		}
		ledger.Pending(false) // and alice has nothing
		time.Sleep(10 * time.Minute)
		wantOutcome(t, "alice's", w.task(alice, asked.ID), "canceled UNAVAILABLE  unknown")
		wantOutcome(t, "the shop's", w.task(shop, asked.ID), "canceled UNAVAILABLE  unknown")
	})
}
