//go:build !no_payments

package node

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// A provider that says of each payment that it failed, and asks for another, gets one
// from a node that pays by itself; the next one is a person's to make.
func TestANodePaysByItselfOnce(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, mallory := w.node("alice", spending(config.Limits{AutoMax: 5, ExplicitMax: 5, DailyMax: 50})), w.stranger()
		w.hub.Ledger().Grant(alice.aid(), 50)
		asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x"})
		w.must(err)
		time.Sleep(time.Second)
		for range 3 {
			mallory.charge(alice, asked.ID, func(*payment.PaymentRequired) {})
			mallory.say(alice, asked.ID, task.StatusMsg{State: task.InputRequired, Metadata: []byte(
				`{"x402.payment.status":"payment-failed","anet.reason":"insufficient_funds"}`)})
		}
		if n := len(mallory.paid()); n != 1 {
			t.Errorf("%d payments were signed, want one", n)
		}
		mallory.charge(alice, asked.ID, func(*payment.PaymentRequired) {})
		_, err = alice.Pay(t.Context(), asked.ID, Consent{})
		time.Sleep(time.Second)
		if n := len(mallory.paid()); err != nil || n != 2 {
			t.Errorf("a person pays: %v, %d payments in all", err, n)
		}
	})
}
