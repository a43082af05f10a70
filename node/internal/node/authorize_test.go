//go:build !no_payments

package node

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/journal"
	"github.com/anet-hub/anet/node/internal/wallet"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// bill is a quote of a stranger for so many credits.
func (w *world) bill(payee string, amount uint64, tier wallet.Tier) Bill {
	w.t.Helper()
	q := payment.NewQuote("text.digest", "", payee, amount, []string{w.hub.Ledger().Network()})
	raw, err := json.Marshal(q)
	w.must(err)
	return Bill{Quote: raw, Consent: Consent{Tier: string(tier)}}
}

func (b Bill) upTo(most uint64) Bill {
	b.Consent.Max = most
	return b
}

// What is signed outside of tasks is within the limits and counts against them, of
// which a program has its own.
func TestAuthorize(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		stranger := testkit.Agent(t, 77).AID()
		limits := config.Limits{AgentMax: 3, AgentDailyMax: 5, ExplicitMax: 10, DailyMax: 12, PayeeList: true}
		alice := w.node("alice", spending(limits))
		hub, _ := payment.HubOf(w.hub.Ledger().Network())
		for _, tt := range []struct {
			name string
			b    Bill
			want string
		}{
			{"a program pays nobody who is not listed", w.bill(stranger, 3, wallet.Agent), "payee_not_listed"},
			{"a program pays so much at once", w.bill(stranger, 4, wallet.Agent), "payment_over_limit"},
			{"nobody's word", w.bill(stranger, 1, wallet.Auto), "payment_over_limit"},
			{"more than was agreed to", w.bill(stranger, 5, "").upTo(4), "payment_over_limit"},
			{"a person pays", w.bill(stranger, 10, ""), ""},
			{"so much in a day", w.bill(stranger, 3, ""), "payment_over_limit"},
			{"to the hub itself", w.bill(hub, 1, ""), "payee_is_the_hub"},
			{"to nobody", w.bill("nobody", 1, ""), "payee_mismatch"},
			{"in no credits of this hub", Bill{Quote: json.RawMessage(`{"x402Version":2,"accepts":[]}`)}, "rail_not_payable"},
			{"no quote", Bill{Quote: json.RawMessage(`{"x402Version":1}`)}, "quote_malformed"},
		} {
			a, err := alice.Authorize(t.Context(), tt.b)
			if got := testkit.Reason(err); got != tt.want {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
			if err != nil {
				continue
			}
			p, err := payment.ParsePayloadHeader(a.Header)
			w.must(err)
			auth, err := p.Authorization()
			w.must(err)
			if auth.ID() != a.Transaction || auth.Amount != 10 || auth.PayTo != stranger || auth.Payer != alice.aid() || auth.Interaction != "" {
				t.Errorf("what was signed is %+v, as %+v", auth.Authorization, a)
			}
		}
	})
}

// Nobody tells the node what became of it: the node asks, once the signature is of no
// use to anybody. What moved is paid, with its receipt; what did not counts no more.
func TestAnAuthorizationIsLookedAfter(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		stranger := testkit.Agent(t, 77).AID()
		alice, _ := w.buyer()
		used, err := alice.Authorize(t.Context(), w.bill(stranger, 5, ""))
		w.must(err)
		lost, err := alice.Authorize(t.Context(), w.bill(stranger, 7, ""))
		w.must(err)
		p, err := payment.ParsePayloadHeader(used.Header)
		w.must(err)
		answer, err := alice.Ledger.Settle(t.Context(), payment.FacilitatorRequest{X402Version: 2, PaymentPayload: &p, PaymentRequirements: &p.Accepted})
		if err != nil || !answer.Success {
			t.Fatalf("%+v, %v", answer, err)
		}
		time.Sleep(time.Hour)
		for id, want := range map[string]journal.SpendState{used.Transaction: journal.SpendPaid, lost.Transaction: journal.SpendVoid} {
			var spends []journal.Spend
			w.must(alice.Journal.Read(t.Context(), func(tx *journal.Tx) (err error) {
				spends, err = tx.Spends(id)
				return err
			}))
			if len(spends) != 1 || spends[0].State != want || (want == journal.SpendPaid) != (len(spends[0].Receipt) > 0) {
				t.Errorf("%s: %+v, want it %s", id, spends, want)
			}
		}
		var l Limits
		w.must(alice.AddSpent(t.Context(), &l))
		if l.SpentToday != 5 {
			t.Errorf("%d credits count as spent today, want 5", l.SpentToday)
		}
	})
}
