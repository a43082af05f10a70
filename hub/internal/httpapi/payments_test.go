package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/admission"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Where the outcome is not known, nobody is asked to pay again: the same payment
// is to be sent again, and buys what it bought.
func TestAnUnknownOutcomeIsNoRefusal(t *testing.T) {
	m := newMarket(t)
	p := m.pays(25)
	if _, err := m.pool.Exec(t.Context(), `UPDATE ledger SET read_only_since = now()`); err != nil {
		t.Fatal(err)
	}
	a := m.buy("text.digest", p)
	s := header[payment.SettlementResponse](t, a, payment.HeaderResponse)
	if a.StatusCode != 503 || a.code() != payment.SettlementPending || a.Header.Get("Retry-After") == "" || a.body["transaction"] != p.ID(t) ||
		a.Header.Get(payment.HeaderRequired) != "" || s.ErrorReason != payment.SettlementPending || s.Transaction != p.ID(t) {
		t.Errorf("%d %s %v", a.StatusCode, a.raw, a.Header)
	}
	if a := m.settle(p); a.StatusCode != 200 || a.body["errorReason"] != payment.SettlementPending || a.body["transaction"] != p.ID(t) {
		t.Errorf("settle: %d %s", a.StatusCode, a.raw)
	}
	request, err := json.Marshal(p.Request(t))
	if err != nil {
		t.Fatal(err)
	}
	if a := m.post("/x402/verify", string(request)); a.StatusCode != 200 || a.body["isValid"] != false || a.body["invalidReason"] != payment.SettlementPending ||
		a.body["payer"] != m.alice.AID() || a.Header.Get("Retry-After") == "" {
		t.Errorf("verify: %d %s %v", a.StatusCode, a.raw, a.Header)
	}
	if _, err := m.pool.Exec(t.Context(), `UPDATE ledger SET read_only_since = NULL`); err != nil {
		t.Fatal(err)
	}
	if a := m.buy("text.digest", p); a.StatusCode != 200 || m.balance(m.alice) != 75 {
		t.Errorf("afterwards: %d %s, balance %d", a.StatusCode, a.raw, m.balance(m.alice))
	}
	m.pool.Close()
	a = m.buy("text.digest", p)
	if a.StatusCode != 503 || a.code() != payment.SettlementPending || a.body["transaction"] != p.ID(t) {
		t.Errorf("without a database: %d %s", a.StatusCode, a.raw)
	}
	if a := m.settle(p); a.StatusCode != 200 || a.body["errorReason"] != payment.SettlementPending {
		t.Errorf("settle without a database: %d %s", a.StatusCode, a.raw)
	}
}

// Beyond the rate of an address nothing is looked at, and nothing is refused for it: the
// facilitator keeps to its 200 (K.2), the gateway to what it says of an open outcome.
func TestBeyondTheRateOfAnAddressPaymentsArePending(t *testing.T) {
	m := newMarket(t)
	p := m.pays(25)
	request, err := json.Marshal(p.Request(t))
	if err != nil {
		t.Fatal(err)
	}
	m.credits.Bearers = admission.NewLimiter(6, 1, "payment_rate", m.clock)
	if a := m.post("/x402/verify", string(request)); a.StatusCode != 200 || a.body["isValid"] != true {
		t.Fatalf("within the rate: %d %s", a.StatusCode, a.raw)
	}
	for _, c := range []struct {
		door   string
		ask    func() answer
		status int
		member string
		said   any
	}{
		{"verify", func() answer { return m.post("/x402/verify", string(request)) }, 200, "invalidReason", payment.SettlementPending},
		{"settle", func() answer { return m.settle(p) }, 200, "errorReason", payment.SettlementPending},
		{"gateway", func() answer { return m.buy("text.digest", p) }, 503, "code", payment.SettlementPending},
	} {
		a := c.ask()
		if a.StatusCode != c.status || a.body[c.member] != c.said || a.Header.Get("Retry-After") != "10" ||
			a.Header.Get("RateLimit") != `"payment_rate";r=0;t=10` {
			t.Errorf("%s: %d %s, %v", c.door, a.StatusCode, a.raw, a.Header)
		}
	}
	m.advance(10 * time.Second)
	if a := m.buy("text.digest", p); a.StatusCode != 200 {
		t.Errorf("ten seconds later: %d %s", a.StatusCode, a.raw)
	}
}

// K.2 and K.3: what is missing is a 400, anything else that was asked a 200, and the
// reason is one of the constants in every case.
func TestTheFacilitatorSpeaksInConstants(t *testing.T) {
	m := newMarket(t)
	whole, err := json.Marshal(m.pays(25).With(func(p *ledgertest.Payment) { p.Version = 1 }).Request(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, body string
		status    int
		want      string
	}{
		{"nothing", "", 400, payment.MalformedPayment},
		{"no JSON", "x", 400, payment.MalformedPayment},
		{"no requirements", `{"x402Version":2,"paymentPayload":{}}`, 400, payment.InvalidRequirements},
		{"no payload", `{"x402Version":2,"paymentRequirements":{}}`, 400, payment.MalformedPayment},
		{"too much", strings.Repeat(" ", 65<<10), 413, payment.MalformedPayment},
		{"another version", string(whole), 200, payment.MalformedPayment},
		{"empty ones", `{"x402Version":2,"paymentPayload":{},"paymentRequirements":{}}`, 200, payment.UnsupportedScheme},
	} {
		if a := m.post("/x402/settle", c.body); a.StatusCode != c.status || a.body["success"] != false || a.body["errorReason"] != c.want {
			t.Errorf("settle %s: %d %.300s, want %d %s", c.why, a.StatusCode, a.raw, c.status, c.want)
		}
		if a := m.post("/x402/verify", c.body); a.StatusCode != c.status || a.body["isValid"] != false || a.body["invalidReason"] != c.want {
			t.Errorf("verify %s: %d %.300s, want %d %s", c.why, a.StatusCode, a.raw, c.status, c.want)
		}
	}
	m.untouched("what is no payment")
}

// Number 44: an account is its owner's to see.
func TestAccountsAreTheirOwners(t *testing.T) {
	m := newMarket(t)
	own := "/agents/" + m.alice.AID()
	m.settle(m.pays(25).For("a task"))
	redemption := ledgertest.Pay(m.alice.Key, m.hub.AID(), m.hub.AID(), 5, m.clock())
	payload := redemption.Payload(t)
	body, _ := json.Marshal(wire.Redeem{X402Version: 2, PaymentPayload: &payload, Reference: "inv-1"})
	if a := m.post("/x402/redeem", string(body)); a.StatusCode != 200 || a.body["amount"] != 5.0 || a.body["reference"] != "inv-1" || a.body["receipt"] == nil {
		t.Fatalf("%d %s", a.StatusCode, a.raw)
	}
	look := func(n *directorytest.Node, what, query string) answer {
		return m.do(m.reads(n, what, own+"/"+what+query))
	}
	if a := look(m.alice, wire.ActionBalance, ""); a.StatusCode != 200 || a.body["credits"] != 70.0 {
		t.Errorf("balance: %d %s", a.StatusCode, a.raw)
	}
	a := look(m.alice, wire.ActionLedger, "?limit=2")
	entries := a.body["entries"].([]any)
	if len(entries) != 2 || a.body["total"] != 3.0 || a.body["sum"] != 70.0 || a.body["returned"] != 2.0 || a.body["truncated"] != true ||
		entries[1].(map[string]any)["delta"] != -5.0 || entries[0].(map[string]any)["delta"] != -25.0 {
		t.Errorf("ledger: %s", a.raw)
	}
	for _, lenient := range []string{"", "?limit=0", "?limit=x", "?limit=501"} {
		if a := look(m.alice, wire.ActionLedger, lenient); a.StatusCode != 200 || a.body["returned"] != 3.0 || a.body["truncated"] != nil {
			t.Errorf("%s: %s", lenient, a.raw)
		}
	}
	if a := look(m.alice, wire.ActionRedemptions, ""); a.body["total"] != 1.0 || a.body["sum"] != 5.0 || len(a.body["redemptions"].([]any)) != 1 {
		t.Errorf("redemptions: %s", a.raw)
	}
	for _, what := range []string{wire.ActionBalance, wire.ActionLedger, wire.ActionRedemptions} {
		if a := look(m.bob, what, ""); a.StatusCode != 401 || a.code() != "not_the_owner" {
			t.Errorf("%s by somebody else: %d %s", what, a.StatusCode, a.raw)
		}
		if a := m.do(m.reads(m.alice, wire.ActionWhy, own+"/"+what)); a.StatusCode != 401 || a.code() != "bad_signature" {
			t.Errorf("%s signed for something else: %d %s", what, a.StatusCode, a.raw)
		}
		if a := m.get(own + "/" + what); a.StatusCode != 401 {
			t.Errorf("%s without a signature: %d %s", what, a.StatusCode, a.raw)
		}
		r := m.reads(m.alice, what, own+"/"+what)
		again := r.Clone(t.Context())
		if a := m.do(r); a.StatusCode != 200 {
			t.Errorf("%s: %d %s", what, a.StatusCode, a.raw)
		}
		if a := m.do(again); a.code() != "replayed" {
			t.Errorf("%s again: %d %s", what, a.StatusCode, a.raw)
		}
	}
	for _, what := range []string{wire.ActionLedger, wire.ActionRedemptions} {
		r, enough := m.reads(m.alice, what, own+"/"+what), m.api.Budget
		r.Body = http.NoBody // which takes up nothing: the page does
		m.api.Budget = usedUp()
		m.refused(r, 503, "hub_busy")
		m.api.Budget = enough
	}
}

// I.2: a page of an account has 100 entries unless 1 to 500 are asked for.
func TestPagesOfAnAccount(t *testing.T) {
	m := newMarket(t)
	if _, err := m.pool.Exec(t.Context(), `INSERT INTO account_entry (aid, n, delta, reason, at)
		SELECT aid, i, 1, 'x', now() FROM account, generate_series(2, 600) AS i WHERE aid = $1`, m.alice.AID()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.pool.Exec(t.Context(), `UPDATE account SET entries = 600 WHERE aid = $1`, m.alice.AID()); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]float64{"": 100, "?limit=1": 1, "?limit=500": 500, "?limit=501": 100} {
		a := m.do(m.reads(m.alice, wire.ActionLedger, "/agents/"+m.alice.AID()+"/ledger"+query))
		if a.body["returned"] != want || a.body["total"] != 600.0 || a.body["truncated"] != true {
			t.Errorf("%s: %v returned of %v, want %v of 600", query, a.body["returned"], a.body["total"], want)
		}
	}
}

// K.2: a redemption that is refused is a 400 that names it.
func TestRefusedRedemptions(t *testing.T) {
	m := newMarket(t)
	p := ledgertest.Pay(m.alice.Key, m.hub.AID(), m.hub.AID(), 101, m.clock())
	payload := p.Payload(t)
	redeem := func(version int) answer {
		body, err := json.Marshal(wire.Redeem{X402Version: version, PaymentPayload: &payload, Reference: "inv-1"})
		if err != nil {
			t.Fatal(err)
		}
		return m.post("/x402/redeem", string(body))
	}
	a := redeem(payment.X402Version)
	named, _ := a.body["redemption"].(map[string]any)
	if a.StatusCode != 400 || a.code() != payment.InsufficientFunds || named["auth_id"] != p.ID(t) || named["amount"] != 101.0 || named["reference"] != "inv-1" {
		t.Errorf("more than there is: %d %s", a.StatusCode, a.raw)
	}
	if a := redeem(1); a.StatusCode != 400 || a.code() != payment.MalformedPayment {
		t.Errorf("another version of x402: %d %s", a.StatusCode, a.raw)
	}
}

// K.8: how long nobody has looked, and what nobody has seen.
func TestHealthOfAChain(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	h := health(ledger.Witnessed{HeadSeq: 7, Witnesses: ledger.Witnesses{AIDs: []string{"w"}, Count: 3, LatestAt: now.Add(-90 * time.Second), LatestSeq: 5}}, now)
	if h.Witnesses != 1 || h.Attestations != 3 || h.LatestSeq != 5 || h.UnwitnessedRecords != 2 || h.StaleSeconds != 90 || !h.LatestAt.Equal(now.Add(-90*time.Second)) {
		t.Errorf("%+v", h)
	}
	if h := health(ledger.Witnessed{HeadSeq: 7}, now); h.LatestAt != nil || h.StaleSeconds != 0 || h.UnwitnessedRecords != 7 {
		t.Errorf("that nobody ever saw: %+v", h)
	}
}

// The hub's own ledger comes first, and its key history can be found.
func TestSupported(t *testing.T) {
	m := newMarket(t)
	a := m.get("/x402/supported")
	var s payment.Supported
	if err := json.Unmarshal(a.raw, &s); err != nil {
		t.Fatal(err)
	}
	network := payment.Network(m.hub.AID())
	if len(s.Kinds) != 1 || s.Kinds[0] != (payment.Kind{X402Version: 2, Scheme: "anet-credit", Network: network}) ||
		s.Signers[network][0] != m.hub.AID() || s.SignerKEL[m.hub.AID()] != "https://hub.example.org/agents/"+m.hub.AID()+"/kel" {
		t.Errorf("%s", a.raw)
	}
}
