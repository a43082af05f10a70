//go:build !no_payments

package node

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// A quote that nobody pays within a day ends its task.
func TestAQuoteExpires(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		shop, _ := w.shop(&counter{})
		alice := w.node("alice")
		asked := w.order(alice, shop, nil)
		time.Sleep(24*time.Hour - time.Minute)
		wantOutcome(t, "within the day", w.task(alice, asked.ID), "input-required PAYMENT_REQUIRED  unknown")
		time.Sleep(2 * time.Minute)
		wantOutcome(t, "the next day", w.task(alice, asked.ID), "rejected UNAVAILABLE quote_expired unknown")
		wantOutcome(t, "the next day, at the shop", w.task(shop, asked.ID), "rejected UNAVAILABLE quote_expired unknown")
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

// What is shown to who is asked to pay is what is going to be signed, whatever stands
// beside it in the quote or was signed before.
func TestAQuoteIsShownAsItIsPaid(t *testing.T) {
	story(t, func(t *testing.T, w *world) {
		alice, mallory := w.node("alice"), w.stranger()
		w.hub.Ledger().Grant(alice.aid(), 20)
		asked, err := alice.StartTask(t.Context(), Order{Provider: mallory.signer.AID(), Capability: "x"})
		w.must(err)
		time.Sleep(time.Second)
		lure := payment.Requirements{Scheme: payment.Scheme, Network: "hub:elsewhere", Amount: "0", Asset: payment.Asset, PayTo: alice.aid()}
		for _, tt := range []struct {
			name, want string
			edit       func(*payment.PaymentRequired)
		}{
			{"a lure in front", "required 5", func(q *payment.PaymentRequired) { q.Accepts = append([]payment.Requirements{lure}, q.Accepts...) }},
			{"a lure of the same network behind", "required 5", func(q *payment.PaymentRequired) {
				lure.Network = q.Accepts[0].Network
				q.Accepts = append(q.Accepts, lure)
			}},
			{"coins in front", "required 5", func(q *payment.PaymentRequired) {
				q.Accepts = append([]payment.Requirements{{Scheme: "exact", Network: "eip155:1", Amount: "1", Asset: "USDC", PayTo: "0x"}}, q.Accepts...)
			}},
			{"coins alone", "required ", func(q *payment.PaymentRequired) {
				q.Accepts = []payment.Requirements{{Scheme: "exact", Network: "eip155:1", Amount: "1", Asset: "USDC", PayTo: "0x"}}
			}},
			{"credits of another hub alone", "required 5", func(q *payment.PaymentRequired) { q.Accepts[0].Network = "hub:elsewhere" }},
		} {
			mallory.charge(alice, asked.ID, tt.edit)
			p := w.task(alice, asked.ID).Payment
			if got := p.Status + " " + p.Amount; got != tt.want || p.Amount != "" && p.Payee != mallory.signer.AID() {
				t.Errorf("%s: shown as %s to %s, want %s to the provider", tt.name, got, p.Payee, tt.want)
			}
		}

		mallory.charge(alice, asked.ID, func(*payment.PaymentRequired) {})
		if _, err := alice.Pay(t.Context(), asked.ID, Consent{Max: 5}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		mallory.say(alice, asked.ID, task.StatusMsg{State: task.InputRequired, Metadata: []byte(`{"x402.payment.status":"payment-failed"}`)})
		mallory.charge(alice, asked.ID, func(q *payment.PaymentRequired) { q.Accepts[0].Amount = "7" })
		if p := w.task(alice, asked.ID).Payment; p.Status != PayRequired || p.Amount != "7" || p.Transaction == "" {
			t.Errorf("after a payment of 5 that failed: %+v, want the 7 that are asked for now", p)
		}
	})
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
