//go:build !no_payments

package node

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
	"github.com/anet-hub/anet/shared/testkit"
)

// asked is a task that a stranger quoted a price for, and was paid where c says so.
func (w *world) asked(from *running, of *stranger, c *Consent, more string) Task {
	w.t.Helper()
	asked, err := from.StartTask(w.t.Context(), Order{Provider: of.signer.AID(), Capability: "x", Pay: c})
	w.must(err)
	time.Sleep(time.Second)
	required, err := json.Marshal(payment.NewQuote("x", "", of.signer.AID(), 5, []string{w.hub.Ledger().Network()}))
	w.must(err)
	of.say(from, asked.ID, task.StatusMsg{State: task.InputRequired, Metadata: []byte(
		`{"x402.payment.status":"payment-required","x402.payment.required":` + string(required) + more + `}`)})
	return asked
}

// A quote is paid until its end, which is a day after it came at the latest.
func TestAQuoteIsPaidUntilItsEnd(t *testing.T) {
	for _, tt := range []struct {
		name        string
		holds, pays time.Duration
		want        string
	}{
		{"before its end", time.Hour, 59 * time.Minute, ""},
		{"after its end", time.Hour, time.Hour, string(task.QuoteExpired)},
		{"one for a month, within a day", 30 * 24 * time.Hour, 23 * time.Hour, ""},
		{"one for a month, the next day", 30 * 24 * time.Hour, 25 * time.Hour, string(task.QuoteExpired)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory := w.node("alice"), w.stranger()
				until := fmt.Sprintf(`,"anet.payment.expires_at":%d`, time.Now().Add(tt.holds).UnixMilli())
				asked := w.asked(alice, mallory, nil, until)
				time.Sleep(tt.pays)
				if _, err := alice.Pay(t.Context(), asked.ID, Consent{}); testkit.Reason(err) != tt.want {
					t.Errorf("paying: %v, want %q", err, tt.want)
				}
			})
		})
	}
}

// A payment has failed where its provider says so of this very one, and for good: before
// that nothing else is signed.
func TestFailuresThatAreNone(t *testing.T) {
	for name, said := range map[string]string{
		"it is not known yet": `"anet.reason":"settlement_pending"`,
		"of another payment":  `"anet.reason":"insufficient_funds","x402.payment.receipts":[{"success":false,"errorReason":"insufficient_funds","network":"","transaction":"another"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, w *world) {
				alice, mallory := w.node("alice"), w.stranger()
				asked := w.asked(alice, mallory, &Consent{}, "")
				mallory.say(alice, asked.ID, task.StatusMsg{State: task.InputRequired, Metadata: []byte(`{"x402.payment.status":"payment-failed",` + said + `}`)})
				_, err := alice.Pay(t.Context(), asked.ID, Consent{})
				if got := w.task(alice, asked.ID); !errs.Is(err, payment.SettlementPending) || status(got) != PaySubmitted || len(mallory.paid()) != 1 {
					t.Errorf("paying again: %v, the payment is %s, %d were signed; want settlement_pending, submitted and one", err, status(got), len(mallory.paid()))
				}
			})
		})
	}
}

// A day's limit is of the day, in UTC: what counts before midnight does not after it.
func TestTheNextDayHasItsOwnLimit(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		payee := testkit.Agent(t, 77).AID()
		alice := w.node("alice", spending(config.Limits{ExplicitMax: 10, DailyMax: 10}))
		sign := func(when, want string) {
			t.Helper()
			if _, err := alice.Authorize(t.Context(), w.bill(payee, 10, wallet.Explicit)); testkit.Reason(err) != want {
				t.Errorf("%s: %v, want %q", when, err, want)
			}
		}
		left := time.Until(time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour))
		time.Sleep(left - time.Second)
		sign("before midnight", "")
		sign("before midnight, once more", "payment_over_limit")
		time.Sleep(time.Second)
		sign("at midnight", "")
	})
}
