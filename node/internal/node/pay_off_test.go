//go:build no_payments

package node

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/shared/errs"
)

// A program that was built without payments neither takes nor makes any, and never
// works for nothing.
func TestABuildWithoutPayments(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		job := &counter{cap: "job", price: 5}
		shop, alice := w.node("shop", serving(job), public(config.DefaultPublic("job"))), w.node("alice")
		w.hub.Ledger().Grant(alice.aid(), 20)
		got := w.call(alice, Order{Provider: shop.aid(), Capability: "job", Pay: &Consent{}})
		wantOutcome(t, "a call that has a price", got, "rejected UNAVAILABLE payments_unavailable verified")
		if job.count() != 0 || len(w.hub.Ledger().Asked()) != 0 {
			t.Errorf("%d effects and %d settlements, want none", job.count(), len(w.hub.Ledger().Asked()))
		}
		other, err := alice.StartTask(t.Context(), Order{Provider: shop.aid(), Capability: "job"})
		w.must(err)
		time.Sleep(time.Second)
		if _, err := alice.Pay(t.Context(), other.ID, Consent{}); err == nil {
			t.Errorf("paying: %v, want a refusal", err)
		}
		if _, err := alice.Redeem(t.Context(), Redemption{Amount: 5}); !errs.Is(err, "payments_not_built") || w.hub.Ledger().Balance(alice.aid()) != 20 {
			t.Errorf("redeeming: %v, balance %d; want payments_not_built and 20", err, w.hub.Ledger().Balance(alice.aid()))
		}
	})
}
