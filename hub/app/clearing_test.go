package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// Number 56, K.5: the payer's hub moves the credits, the payee's credits them on the
// strength of its receipt, once, and both write down who owes whom.
func TestAPaymentCrossesHubs(t *testing.T) {
	w := newBranches(t, 1000)
	p := w.pays(25)
	first := w.settle(p)
	if first["success"] != true || first["transaction"] != p.ID(t) || first["network"] != payment.Network(w.a.hub) {
		t.Fatalf("%v", first)
	}
	var wg sync.WaitGroup
	body := text(p.Request(t))
	for range 20 {
		wg.Go(func() {
			resp, err := http.Post(w.b.base+"/x402/settle", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var again payment.SettlementResponse
			if err := json.NewDecoder(resp.Body).Decode(&again); err != nil || !again.Success {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
	wg.Wait()
	if again := w.settle(p)["extensions"].(map[string]any); again[payment.ExtReplayed] != true || again[payment.ExtReceipt] == nil {
		t.Errorf("again: %v", again)
	}
	if a, b := w.a.credits(w.alice), w.b.credits(w.bob); a != 75 || b != 125 {
		t.Errorf("alice has %v and bob %v, want 75 and 125", a, b)
	}
	w.even(25)
	for hub, want := range map[*town]map[string]any{
		w.a: {"balances": 75.0, "due_to_peers": 25.0, "owed_by_peers": 0.0, "outstanding": 100.0, "chain_outstanding": 75.0, "chain_agrees": true},
		w.b: {"balances": 125.0, "due_to_peers": 0.0, "owed_by_peers": 25.0, "outstanding": 100.0, "chain_outstanding": 125.0, "chain_agrees": true},
	} {
		supply := hub.get("200", "/x402/supply").body["supply"].(map[string]any)
		for name, value := range want {
			if supply[name] != value {
				t.Errorf("%s is %v, want %v in %v", name, supply[name], value, supply)
			}
		}
	}
	kinds := w.b.get("200", "/x402/supported").body["kinds"].([]any)
	if len(kinds) != 2 || kinds[1].(map[string]any)["network"] != payment.Network(w.a.hub) {
		t.Errorf("%v", kinds)
	}
}

// What is refused by either hub moves nothing at both.
func TestWhatDoesNotCross(t *testing.T) {
	w := newBranches(t, 50)
	stranger := w.a.agent()
	for _, c := range []struct {
		why, want string
		change    func(*ledgertest.Payment)
	}{
		{"more than she has", payment.InsufficientFunds, func(p *ledgertest.Payment) {
			w.b.setLimit(w.a.hub, 1000)
			p.Auth.Amount, p.Accepted.Amount, p.Wanted.Amount = 200, "200", "200"
		}},
		{"more than a may owe", payment.SettlementFailed, func(p *ledgertest.Payment) {
			w.b.setLimit(w.a.hub, 50)
			p.Auth.Amount, p.Accepted.Amount, p.Wanted.Amount = 51, "51", "51"
		}},
		{"a payee who is nobody's", payment.PayeeMismatch, func(p *ledgertest.Payment) {
			p.Auth.PayTo, p.Accepted.PayTo, p.Wanted.PayTo = stranger.AID(), stranger.AID(), stranger.AID()
		}},
		{"to the hub", payment.PayeeMismatch, func(p *ledgertest.Payment) {
			p.Auth.PayTo, p.Accepted.PayTo, p.Wanted.PayTo = w.b.hub, w.b.hub, w.b.hub
		}},
		{"another amount than was accepted", payment.InvalidAmount, func(p *ledgertest.Payment) { p.Auth.Amount = 1 }},
		{"a signature that does not verify", payment.InvalidSignature, func(p *ledgertest.Payment) { p.Forged = true }},
		{"the network of no peer", payment.NetworkMismatch, func(p *ledgertest.Payment) { p.Accepted.Network = payment.Network(stranger.AID()) }},
		{"nothing that can be read", payment.MalformedPayment, func(p *ledgertest.Payment) { p.Raw = "AA==" }},
	} {
		if s := w.settle(w.pays(10).With(c.change)); s["success"] != false || s["errorReason"] != c.want {
			t.Errorf("%s: %v, want %s", c.why, s, c.want)
		}
	}
	if v := w.b.post("200", "/x402/verify", w.pays(10).Request(t)); v.body["invalidReason"] != payment.NetworkMismatch {
		t.Errorf("verify: %v", v.body)
	}
	nobody := ledgertest.Pay(w.alice.Key, stranger.AID(), w.a.hub, 10, time.Now())
	if s := w.a.post("200", "/x402/settle", nobody.Request(t)); s.body["errorReason"] != payment.PayeeMismatch {
		t.Errorf("to nobody, at the ledger: %v", s.body)
	}
	if err := w.b.desk().Credits.Allow(t.Context(), w.a.hub, false, 0, byTester); err != nil {
		t.Fatal(err)
	}
	if s := w.settle(w.pays(10)); s["errorReason"] != payment.NetworkMismatch {
		t.Errorf("when nothing is cleared any more: %v", s)
	}
	w.b.setLimit(w.a.hub, 50)
	if err := w.a.desk().Credits.Allow(t.Context(), w.b.hub, false, 0, byTester); err != nil {
		t.Fatal(err)
	}
	if s := w.settle(w.pays(10)); s["errorReason"] != payment.PayeeMismatch {
		t.Errorf("when the payer's hub alone clears no more: %v", s) // bob would have an account at a, and never look there
	}
	w.even(0)
	if w.a.credits(w.alice) != 100 {
		t.Errorf("alice has %v", w.a.credits(w.alice))
	}
}

// An agent that is registered at both hubs is paid at the ledger's own, and nowhere
// else.
func TestAPayeeOfBothHubsIsPaidOnce(t *testing.T) {
	w := newBranches(t, 1000)
	w.a.call("200", w.bob, "/register", w.bob.Register("bob"))
	w.a.granted(w.bob)
	if s := w.settle(w.pays(25)); s["success"] != true {
		t.Fatalf("%v", s)
	}
	if a, b := w.a.credits(w.bob), w.b.credits(w.bob); a != 125 || b != 100 {
		t.Errorf("bob has %v at a and %v at b, want 125 and 100", a, b)
	}
	w.even(0)
}

// deaf has b close to payments of a, in every way there is: one that moved already is
// open until it is credited, and any other refused.
func (w *branches) deaf(moved *ledgertest.Payment) {
	w.b.t.Helper()
	check := func(why, want string) {
		w.b.t.Helper()
		if s := w.settle(moved); s["errorReason"] != payment.SettlementPending {
			w.b.t.Errorf("%s, of a payment that moved: %v", why, s)
		}
		if s := w.settle(w.pays(25)); s["errorReason"] != want {
			w.b.t.Errorf("%s, of another: %v, want %s", why, s, want)
		}
	}
	w.b.setLimit(w.a.hub, 24)
	check("it may owe less", payment.SettlementFailed)
	if err := w.b.desk().Credits.Allow(w.b.t.Context(), w.a.hub, false, 0, byTester); err != nil {
		w.b.t.Fatal(err)
	}
	check("nothing is cleared any more", payment.NetworkMismatch)
	w.b.setLimit(w.a.hub, 1000)
}

// Number 51, J.6: a hub states what it paid off; each statement counts once, and none
// beyond the debt.
func TestDebtsAreCleared(t *testing.T) {
	w := newBranches(t, 1000)
	w.settle(w.pays(25))
	op := w.a.desk()
	if err := op.ReadPeers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if due, err := op.Credits.Clear(t.Context(), w.b.hub, 10, "2026-01", byTester); err != nil || due != 15 {
		t.Errorf("due %d, %v", due, err)
	}
	w.even(15)
	if _, err := op.Credits.Clear(t.Context(), w.b.hub, 16, "", byTester); testkit.Reason(err) != "more_than_due" {
		t.Errorf("more than is due: %v", err)
	}
	w.a.exec(`UPDATE discharge SET done_at = NULL; UPDATE clearing SET due = due + 10`) // as if the answer had been lost
	if due, err := op.Credits.Clear(t.Context(), w.b.hub, 10, "", byTester); err != nil || due != 15 {
		t.Errorf("the same statement again: due %d, %v", due, err)
	}
	w.even(15)
	w.b.exec(`UPDATE clearing SET owed = owed - 5`) // as if a payment were owed at a alone, for now
	if _, err := op.Credits.Clear(t.Context(), w.b.hub, 15, "", byTester); testkit.Reason(err) != wire.MoreThanOwed {
		t.Errorf("more than b is owed: %v", err)
	}
	if due, err := op.Credits.Clear(t.Context(), w.b.hub, 10, "", byTester); err != nil || due != 5 {
		t.Errorf("what b is owed, after a statement that it did not take: due %d, %v", due, err)
	}
	w.b.exec(`UPDATE clearing SET owed = owed + 5`)
	w.even(5)
	if due, err := op.Credits.Clear(t.Context(), w.b.hub, 5, "", byTester); err != nil || due != 0 {
		t.Errorf("the rest: due %d, %v", due, err)
	}
	w.even(0)
}

// Payments that were made up reach a peer at a rate; beyond it they are pending, as
// everything is whose outcome is not known, and say when to come again.
func TestPaymentsMadeUpReachAPeerAtARate(t *testing.T) {
	a, b := newTown(t), townOn(t, pgtest.URL(t), func(c *Config) { c.SettleAbroadRate = 0.01 })
	a.befriend(b.base, b.self())
	b.befriend(a.base, a.self())
	w := clearing(t, a, b, 1000)
	for i := range 31 {
		p := w.pays(10).With(func(p *ledgertest.Payment) { p.Forged = true })
		r := w.b.opened(http.MethodPost, "/x402/settle", text(p.Request(t)))
		r.Header.Set("X-Real-IP", "203.0.113.3")
		a := w.b.expect("200", r)
		want, limit, wait := payment.InvalidSignature, "", a.header.Get("Retry-After")
		if i == 30 {
			want, limit = payment.SettlementPending, `"settle_abroad_rate";r=0;t=`+wait
		}
		if a.body["errorReason"] != want || (wait != "") != (i == 30) || a.header.Get("RateLimit") != limit {
			t.Fatalf("payment %d: %v, %v, want %s", i, a.body, a.header, want)
		}
	}
	if s := w.settle(w.pays(10)); s["success"] != true {
		t.Errorf("from elsewhere: %v", s)
	}
}
