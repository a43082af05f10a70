package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

var byTester = audit.By{Who: "tester", How: "test"}

// branches are two hubs that clear with each other: alice has her credits at a, and
// bob sells at b.
type branches struct {
	a, b       *town
	alice, bob *directorytest.Node
}

func newBranches(t *testing.T, limit uint64) *branches {
	a, b := friends(t)
	return clearing(t, a, b, limit)
}

func clearing(t *testing.T, a, b *town, limit uint64) *branches {
	t.Helper()
	for from, to := range map[*town]*town{a: b, b: a} {
		if err := from.desk().Credits.Allow(t.Context(), to.hub, true, limit, byTester); err != nil {
			t.Fatal(err)
		}
	}
	w := &branches{a: a, b: b, alice: a.joined("alice"), bob: b.joined("bob")}
	a.granted(w.alice)
	b.granted(w.bob)
	return w
}

// pays is a payment on the ledger of a.
func (w *branches) pays(amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(w.alice.Key, w.bob.AID(), w.a.hub, amount, time.Now())
}

// settle brings a payment to b, where its payee is.
func (w *branches) settle(p *ledgertest.Payment) map[string]any {
	w.b.t.Helper()
	return w.b.post("200", "/x402/settle", p.Request(w.b.t)).body
}

func (v *visitor) credits(n *directorytest.Node) float64 {
	v.t.Helper()
	return v.call("200", n, "/agents/"+n.AID()+"/balance", "").body["credits"].(float64)
}

// balanced audits the books of a hub, and gives what it and its peer owe each other.
func (h *town) balanced(peer string) (owed, due uint64) {
	h.t.Helper()
	op := h.desk()
	r, err := op.Credits.Audit(h.t.Context())
	if err != nil || len(r.Wrong) > 0 {
		h.t.Fatalf("the books: %v, %v", r.Wrong, err)
	}
	debts, err := op.Credits.Debts(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, d := range debts {
		if d.Hub == peer {
			return d.Owed, d.Due
		}
	}
	return 0, 0
}

// even checks that both hubs hold the same debt for one.
func (w *branches) even(want uint64) {
	w.a.t.Helper()
	_, due := w.a.balanced(w.b.hub)
	owed, _ := w.b.balanced(w.a.hub)
	if due != want || owed != want {
		w.a.t.Errorf("a owes %d by its own books and %d by those of b, want %d", due, owed, want)
	}
}

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
	supply := w.b.get("200", "/x402/supply").body["supply"].(map[string]any)
	if supply["owed_by_peers"] != 25.0 || supply["chain_agrees"] != true || supply["balances"] != 125.0 {
		t.Errorf("%v", supply)
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

func (h *town) setLimit(peer string, most uint64) {
	h.t.Helper()
	if err := h.desk().Credits.Allow(h.t.Context(), peer, true, most, byTester); err != nil {
		h.t.Fatal(err)
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

// The same where the ledger is of a hub that does not say whom it credited.
func TestAPayeeOfBothHubsIsPaidOnceWhateverIsSaid(t *testing.T) {
	a, b := newTown(t), newTown(t)
	between := httptest.NewServer(saysLess(a.base))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)
	if s := w.settle(w.pays(25)); s["success"] != true || w.b.credits(w.bob) != 125 {
		t.Fatalf("an agent of b alone: %v, bob has %v", s, w.b.credits(w.bob))
	}
	w.a.call("200", w.bob, "/register", w.bob.Register("bob"))
	w.a.granted(w.bob)
	if s := w.settle(w.pays(25)); s["success"] != true {
		t.Fatalf("%v", s)
	}
	if a, b := w.a.credits(w.bob), w.b.credits(w.bob); a != 125 || b != 125 {
		t.Errorf("bob has %v at a and %v at b, want 125 and 125", a, b)
	}
	w.even(25)
}

// saysLess leaves out of settlements what other hubs do not say.
func saysLess(target string) http.Handler {
	u, _ := url.Parse(target)
	proxy := httputil.NewSingleHostReverseProxy(u)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/x402/settle" {
			proxy.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		var s payment.SettlementResponse
		_ = json.Unmarshal(rec.Body.Bytes(), &s) // what is none passes as none
		delete(s.Extensions, "anet.payee")
		w.WriteHeader(rec.Code)
		_, _ = w.Write([]byte(text(s)))
	})
}

// wire between two hubs that loses answers.
type lossy struct{ cut atomic.Bool }

func (l *lossy) before(target string) http.Handler {
	u, _ := url.Parse(target)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ModifyResponse = func(r *http.Response) error {
		if l.cut.Load() && strings.HasPrefix(r.Request.URL.Path, "/x402/settle") {
			panic(http.ErrAbortHandler) // it arrived, and nobody hears of it
		}
		return nil
	}
	return proxy
}

// Number 56: an answer that was lost leaves the outcome open, and the same payment
// finds it out; nobody is paid twice or not at all.
func TestALostAnswerIsPending(t *testing.T) {
	a, b, line := newTown(t), newTown(t), &lossy{}
	between := httptest.NewServer(line.before(a.base))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)
	line.cut.Store(true)
	p := w.pays(25)
	for range 2 {
		if s := w.settle(p); s["errorReason"] != payment.SettlementPending || s["transaction"] != p.ID(t) {
			t.Errorf("%v", s)
		}
	}
	if w.a.credits(w.alice) != 75 || w.b.credits(w.bob) != 100 {
		t.Errorf("alice has %v, bob %v", w.a.credits(w.alice), w.b.credits(w.bob))
	}
	w.deaf(p)
	line.cut.Store(false)
	if s := w.settle(p); s["success"] != true {
		t.Errorf("afterwards: %v", s)
	}
	if w.a.credits(w.alice) != 75 || w.b.credits(w.bob) != 125 {
		t.Errorf("alice has %v, bob %v, want 75 and 125", w.a.credits(w.alice), w.b.credits(w.bob))
	}
	w.even(25)
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

// liar is a hub whose receipts are not what they should be.
type liar struct {
	answer atomic.Pointer[payment.SettlementResponse]
}

func (l *liar) before(target string) http.Handler {
	u, _ := url.Parse(target)
	proxy := httputil.NewSingleHostReverseProxy(u)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := l.answer.Load(); s != nil && r.URL.Path == "/x402/settle" {
			_, _ = w.Write([]byte(text(s)))
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// Numbers 55 and 56: only a receipt by that hub for this payment is worth credits.
func TestReceiptsOfPeersAreHeldToThePayment(t *testing.T) {
	a, b, says := newTown(t), newTown(t), &liar{}
	between := httptest.NewServer(says.before(a.base))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)
	p := w.pays(25)
	good := payment.Receipt{AuthID: p.ID(t), Payer: w.alice.AID(), PayTo: w.bob.AID(), Amount: 25, Network: payment.Network(a.hub), SettleAt: uint64(time.Now().UnixMilli())}
	for _, c := range []struct {
		why    string
		by     *directorytest.Node
		change func(*payment.Receipt)
	}{
		{"signed by somebody else", w.alice, func(*payment.Receipt) {}},
		{"of another payment", a.self(), func(r *payment.Receipt) { r.AuthID = "bafyrei" }},
		{"of another amount", a.self(), func(r *payment.Receipt) { r.Amount = 26 }},
		{"of another payer", a.self(), func(r *payment.Receipt) { r.Payer = w.bob.AID() }},
		{"of another payee", a.self(), func(r *payment.Receipt) { r.PayTo = b.hub }},
		{"of another network", a.self(), func(r *payment.Receipt) { r.Network = payment.Network(b.hub) }},
	} {
		r := good
		c.change(&r)
		signed, _, err := payment.SignReceipt(c.by.Key, r)
		if err != nil {
			t.Fatal(err)
		}
		says.answer.Store(&payment.SettlementResponse{Success: true, Transaction: r.AuthID, Network: good.Network,
			Extensions: payment.Extensions{payment.ExtReceipt: []byte(text(signed))}})
		if s := w.settle(p); s["errorReason"] != payment.SettlementPending {
			t.Errorf("%s: %v", c.why, s)
		}
	}
	says.answer.Store(&payment.SettlementResponse{Success: true, Transaction: good.AuthID, Network: good.Network})
	if s := w.settle(p); s["errorReason"] != payment.SettlementPending {
		t.Errorf("without a receipt: %v", s)
	}
	if w.b.credits(w.bob) != 100 {
		t.Errorf("bob has %v", w.b.credits(w.bob))
	}
	says.answer.Store(nil)
	if s := w.settle(p); s["success"] != true || w.b.credits(w.bob) != 125 {
		t.Errorf("the truth: %v, bob has %v", s, w.b.credits(w.bob))
	}
	w.even(25)
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
	if due, err := op.Credits.Clear(t.Context(), w.b.hub, 15, "", byTester); err != nil || due != 0 {
		t.Errorf("the rest: due %d, %v", due, err)
	}
	w.even(0)
}

// Number 51, J.5: a hub attests where the chains of its peers end, keeps it, and
// brings it to them; it attests no chain that went back.
func TestChainsAreWitnessed(t *testing.T) {
	w := newBranches(t, 1000)
	look := func() {
		t.Helper()
		w.b.exec(`UPDATE witnessed SET next_at = 'epoch'`)
		if err := w.b.app.hub.credits.WitnessPeers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	look()
	seen := w.a.get("200", "/x402/witnesses").body
	list := seen["attestations"].([]any)
	health := seen["health"].(map[string]any)
	if len(list) != 1 || list[0].(map[string]any)["witness_aid"] != w.b.hub || health["unwitnessed_records"] != 0.0 || health["witnesses"] != 1.0 {
		t.Fatalf("%v", seen)
	}
	if at := seen["witness_endpoints"].(map[string]any)[w.b.hub]; at != w.b.base {
		t.Errorf("the witness is at %v, want %s", at, w.b.base)
	}
	w.a.joined("carol")
	testkit.Until(t, 10*time.Second, "another link of the chain", func() bool {
		return w.a.get("200", "/x402/issuance/head").body["seq"] == 2.0
	})
	look()
	if got := w.a.get("200", "/x402/witnesses").body["health"].(map[string]any); got["attestations"] != 2.0 || got["latest_seq"] != 2.0 {
		t.Errorf("%v", got)
	}
	w.a.exec(`UPDATE ledger SET head_seq = 1, head_id = (SELECT id FROM issuance WHERE seq = 1)`)
	look()
	if got := w.a.get("200", "/x402/witnesses").body["health"].(map[string]any); got["attestations"] != 2.0 {
		t.Errorf("a chain that went back was attested: %v", got)
	}
}

// The chain and the AID of the witness are not one's own, whatever peers say.
func TestAWitnessIsSomebodyElse(t *testing.T) {
	w := newBranches(t, 1000)
	head := w.a.get("200", "/x402/issuance/head").body
	signed, _, err := evidence.Attest(w.b.self().Key, evidence.Attestation{Chain: w.a.hub, Seq: uint64(head["seq"].(float64)),
		HeadID: head["head_id"].(string), ObservedAt: uint64(time.Now().UnixMilli())})
	if err != nil {
		t.Fatal(err)
	}
	w.a.post("200", "/x402/witness", wire.Witness{Attestation: signed})
	w.b.post("403 witness_unknown", "/x402/witness", wire.Witness{Attestation: signed})
}

// Payments that were made up reach a peer at a rate; beyond it they are pending, as
// everything is whose outcome is not known, and say when to come again.
func TestPaymentsMadeUpReachAPeerAtARate(t *testing.T) {
	w := newBranches(t, 1000)
	for i := range 31 {
		p := w.pays(10).With(func(p *ledgertest.Payment) { p.Forged = true })
		r := w.b.opened(http.MethodPost, "/x402/settle", text(p.Request(t)))
		r.Header.Set("X-Real-IP", "203.0.113.3")
		a := w.b.expect("200", r)
		want, wait := payment.InvalidSignature, ""
		if i == 30 {
			want, wait = payment.SettlementPending, "1"
		}
		if a.body["errorReason"] != want || a.header.Get("Retry-After") != wait {
			t.Fatalf("payment %d: %v, %v, want %s", i, a.body, a.header, want)
		}
		if limit := a.header.Get("RateLimit"); i == 30 && limit != `"settle_abroad_rate";r=0;t=1` {
			t.Errorf("RateLimit: %s", limit)
		}
	}
	if s := w.settle(w.pays(10)); s["success"] != true {
		t.Errorf("from elsewhere: %v", s)
	}
}
