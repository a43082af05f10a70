package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// Case D23, and K.7: each form of the header has its answer, and none of the wrong
// ones looks like no payment, like a fault of the server, or moves anything.
func TestPaymentHeaders(t *testing.T) {
	m := newMarket(t)
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	good, _ := payment.EncodeHeader(m.pays(25).Payload(t))
	zero, _ := payment.EncodeHeader(m.pays(25).With(func(p *ledgertest.Payment) { p.Forged = true }).Payload(t))
	older := m.pays(25).Payload(t)
	older.X402Version = 1
	version1, _ := payment.EncodeHeader(older)
	for _, c := range []struct {
		why     string
		headers []string
		status  int
		code    string
	}{
		{"none", nil, 402, "payment_required"},
		{"an empty one", []string{""}, 400, "malformed_payment"},
		{"garbage", []string{"garbage"}, 400, "malformed_payment"},
		{"base64 of no JSON", []string{b64("garbage")}, 400, "malformed_payment"},
		{"base64 of an empty object", []string{b64("{}")}, 400, "malformed_payment"},
		{"base64 of null", []string{b64("null")}, 400, "malformed_payment"},
		{"base64 of an array", []string{b64("[]")}, 400, "malformed_payment"},
		{"a name that stands there twice", []string{b64(`{"x402Version":2,"x402Version":2}`)}, 400, "malformed_payment"},
		{"version 1", []string{version1}, 400, "malformed_payment"},
		{"without padding", []string{strings.TrimRight(b64(`{"x402Version":2 }`), "=")}, 400, "malformed_payment"},
		{"no authorization", []string{b64(`{"x402Version":2,"accepted":{},"payload":{}}`)}, 400, "malformed_payment"},
		{"a signature that does not verify", []string{zero}, 402, "invalid_signature"},
		{"a megabyte", []string{strings.Repeat("A", 1<<20)}, 400, "malformed_payment"},
		{"two of them", []string{good, good}, 400, "malformed_payment"},
	} {
		a := m.bring(m.at("text.digest"), c.headers...)
		if a.StatusCode != c.status || a.code() != c.code || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %.200s, %v, want %d %s", c.why, a.StatusCode, a.raw, a.Header, c.status, c.code)
		}
		if c.headers != nil {
			if s := header[payment.SettlementResponse](t, a, payment.HeaderResponse); s.Success || s.ErrorReason != c.code {
				t.Errorf("%s: %s says %+v", c.why, payment.HeaderResponse, s)
			}
		}
	}
	m.untouched("wrong headers")
	plain, _ := json.Marshal(m.pays(25).Payload(t))
	if a := m.bring(m.at("text.digest"), string(plain)); a.StatusCode != 200 {
		t.Errorf("plain JSON: %d %s", a.StatusCode, a.raw)
	}
}

// K.7: the quote is the seller's price, in the header and in the body.
func TestTheQuote(t *testing.T) {
	m := newMarket(t)
	a := m.bring(m.at("text.digest"))
	q := header[payment.PaymentRequired](t, a, payment.HeaderRequired)
	want := payment.Requirements{Scheme: "anet-credit", Network: payment.Network(m.hub.AID()), Amount: "25", Asset: "credit",
		PayTo: m.bob.AID(), MaxTimeoutSeconds: 600}
	if q.X402Version != 2 || len(q.Accepts) != 1 || q.Accepts[0] != want || q.Resource == nil || q.Resource.URL != "anet:capability/text.digest@"+m.bob.AID() {
		t.Errorf("%+v, want %+v", q, want)
	}
	if a.body["redeem_at"] != "https://bob.example/redeem" || a.body["x402Version"] != 2.0 || a.body["resource"] == nil || len(a.body["accepts"].([]any)) != 1 {
		t.Errorf("%s", a.raw)
	}
	for path, code := range map[string]string{"text.unsold": "not_sold_here", "a%00b": "not_sold_here", "text.*": "not_sold_here"} {
		if a := m.bring(m.at(path)); a.StatusCode != 404 || a.code() != code {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.raw)
		}
	}
	if a := m.bring(m.at("ptz@onvif%2F1")); a.StatusCode != 402 {
		t.Errorf("a device: %d %s", a.StatusCode, a.raw)
	}
	if a := m.bring("/x402/resource/" + m.alice.AID() + "/text.digest"); a.code() != "not_sold_here" {
		t.Errorf("somebody who sells nothing: %s", a.raw)
	}
}

// Number 59: both what was accepted and what was signed are the offer, or nothing
// is sold.
func TestTheGatewayChecksBothTerms(t *testing.T) {
	m := newMarket(t)
	for _, c := range []struct {
		why    string
		change func(*ledgertest.Payment)
		want   string
	}{
		{"accepted to another seller", func(p *ledgertest.Payment) { p.Accepted.PayTo = m.alice.AID() }, payment.PayeeMismatch},
		{"signed to the buyer itself", func(p *ledgertest.Payment) { p.Auth.PayTo = m.alice.AID() }, payment.PayeeMismatch},
		{"both to the buyer itself", func(p *ledgertest.Payment) { p.Auth.PayTo, p.Accepted.PayTo = m.alice.AID(), m.alice.AID() }, payment.PayeeMismatch},
		{"accepted for less", func(p *ledgertest.Payment) { p.Accepted.Amount = "1" }, payment.InvalidAmount},
		{"signed for less", func(p *ledgertest.Payment) { p.Auth.Amount = 1 }, payment.InvalidAmount},
		{"both for less", func(p *ledgertest.Payment) { p.Auth.Amount, p.Accepted.Amount = 1, "1" }, payment.InvalidAmount},
		{"both for more", func(p *ledgertest.Payment) { p.Auth.Amount, p.Accepted.Amount = 26, "26" }, payment.InvalidAmount},
		{"another time-out", func(p *ledgertest.Payment) { p.Accepted.MaxTimeoutSeconds = 601 }, payment.InvalidRequirements},
		{"another asset", func(p *ledgertest.Payment) { p.Accepted.Asset = "gold" }, payment.InvalidRequirements},
		{"another network", func(p *ledgertest.Payment) { p.Accepted.Network = payment.Network(m.bob.AID()) }, payment.NetworkMismatch},
		{"signed for another network", func(p *ledgertest.Payment) { p.Auth.Network = payment.Network(m.bob.AID()) }, payment.NetworkMismatch},
		{"another scheme", func(p *ledgertest.Payment) { p.Accepted.Scheme = "exact" }, payment.UnsupportedScheme},
		{"a buyer nobody knows", func(p *ledgertest.Payment) { p.Signer, p.Auth.Payer = m.nobody().Key, m.nobody().AID() }, payment.UnknownPayer},
	} {
		a := m.buy("text.digest", m.pays(25).With(c.change))
		s := header[payment.SettlementResponse](t, a, payment.HeaderResponse)
		if a.StatusCode != 402 || a.code() != c.want || s.Success || s.ErrorReason != c.want || s.Transaction == "" || a.Header.Get(payment.HeaderRequired) == "" {
			t.Errorf("%s: %d %s, %+v, want %s", c.why, a.StatusCode, a.raw, s, c.want)
		}
	}
	m.untouched("wrong terms")
}

// Case D24: parallel use of one payment is one booking and one voucher; it buys
// nothing else.
func TestOnePaymentBuysOneVoucher(t *testing.T) {
	m := newMarket(t)
	p, until := m.pays(25), m.clock().Add(10*time.Minute)
	vouchers := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a := m.buy("text.digest", p)
			mu.Lock()
			defer mu.Unlock()
			vouchers[fmt.Sprint(a.StatusCode, " ", a.body["voucher"])]++
		})
	}
	wg.Wait()
	m.advance(time.Hour) // the payment's window is over, what it bought is not undone
	a := m.buy("text.digest", p)
	vouchers[fmt.Sprint(a.StatusCode, " ", a.body["voucher"])]++
	if len(vouchers) != 1 || a.StatusCode != 200 {
		t.Fatalf("%v", vouchers)
	}
	m.holds(a, p.ID(t))
	if a.body["expires_at"] != float64(until.UnixMilli()) {
		t.Errorf("the voucher ends at %v, want ten minutes after it was bought", a.body["expires_at"])
	}
	if a := m.buy("text.other", p); a.StatusCode != 409 || a.code() != "payment_spent" {
		t.Errorf("another capability: %d %s", a.StatusCode, a.raw)
	}
	carol := m.member("carol")
	if a := m.bring("/x402/resource/"+carol.AID()+"/text.digest", mustHeader(t, p)); a.StatusCode != 404 {
		t.Errorf("another seller: %d %s", a.StatusCode, a.raw)
	}
	m.grants()
	r, err := m.credits.Audit(t.Context())
	if err != nil || len(r.Wrong) > 0 || r.Settlements != 1 || m.balance(m.alice) != 75 || m.balance(m.bob) != 125 || !r.Agrees() {
		t.Errorf("%+v, %v", r, err)
	}
}

// What was bought stays bought, whatever the seller does once it is paid: a buyer that
// did not hear of it gets the voucher, and is asked for nothing again.
func TestWhatWasBoughtStaysBought(t *testing.T) {
	for _, c := range []struct {
		why, address string
		do           func(*market)
	}{
		{"another price", "https://bob.example/redeem", func(m *market) {
			m.sell(adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": 30}})
		}},
		{"sold no more", "", func(m *market) { m.sell(adp.Offer{RedeemAt: "https://bob.example/redeem"}) }},
		{"no address", "", func(m *market) { m.sell(adp.Offer{Prices: map[string]uint64{"text.digest": 25}}) }},
		{"blocked", "", func(m *market) { m.block(moderation.Target{AID: m.bob.AID()}) }},
		{"gone", "", func(m *market) {
			m.call(m.bob, wire.ActionDeregister, "/agents/"+m.bob.AID()+"/deregister", struct{}{})
		}},
	} {
		m := newMarket(t)
		p := m.pays(25)
		first := m.buy("text.digest", p)
		c.do(m)
		again := m.buy("text.digest", p)
		if again.StatusCode != 200 || again.body["voucher"] != first.body["voucher"] || again.body["redeem_at"] != c.address ||
			again.Header.Get(payment.HeaderRequired) != "" || !header[payment.SettlementResponse](t, again, payment.HeaderResponse).Success {
			t.Errorf("%s: %d %s, want the voucher", c.why, again.StatusCode, again.raw)
		}
		if a := m.buy("text.other", p); a.StatusCode == 200 {
			t.Errorf("%s: the voucher is sold for another capability: %s", c.why, a.raw)
		}
		p.Forged = true
		if a := m.buy("text.digest", p); a.StatusCode == 200 {
			t.Errorf("%s: the voucher goes to somebody who did not sign: %s", c.why, a.raw)
		}
	}
}

// One payment pays for one thing: what was settled for a task buys no voucher.
func TestWhatWasSettledElsewhereBuysNothing(t *testing.T) {
	m := newMarket(t)
	p := m.pays(25).For("a task")
	if a := m.settle(p); a.body["success"] != true {
		t.Fatalf("%s", a.raw)
	}
	if a := m.buy("text.digest", p); a.StatusCode != 409 || a.code() != "payment_spent" ||
		header[payment.SettlementResponse](t, a, payment.HeaderResponse).Success {
		t.Errorf("%d %s", a.StatusCode, a.raw)
	}
}

// The price is what the seller signed and chose to sell here; where its card does
// not hold any more, or names no place to go to, nothing is sold.
func TestTheGatewayReadsTheSellersCard(t *testing.T) {
	m := newMarket(t)
	m.sell(adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": 30}})
	if q := header[payment.PaymentRequired](t, m.bring(m.at("text.digest")), payment.HeaderRequired); q.Accepts[0].Amount != "30" {
		t.Errorf("a new price: %+v", q)
	}
	if a := m.bring(m.at("text.other")); a.code() != "not_sold_here" {
		t.Errorf("what is sold no more: %s", a.raw)
	}
	lift := m.block(moderation.Target{AID: m.bob.AID()})
	if a := m.bring(m.at("text.digest")); a.StatusCode != 409 || a.code() != "seller_blocked" {
		t.Errorf("blocked: %d %s", a.StatusCode, a.raw)
	}
	lift()
	m.sell(adp.Offer{Prices: map[string]uint64{"text.digest": 30}})
	if a := m.bring(m.at("text.digest")); a.StatusCode != 409 || a.code() != "seller_unreachable" {
		t.Errorf("without an address: %d %s", a.StatusCode, a.raw)
	}
	if _, err := m.pool.Exec(t.Context(), `UPDATE agent_adp_card SET card = convert_to(replace(convert_from(card, 'UTF8'), ':30', ':3'), 'UTF8')`); err != nil {
		t.Fatal(err)
	}
	if a := m.bring(m.at("text.digest")); a.StatusCode != 409 || a.code() != "seller_card_invalid" {
		t.Errorf("a price the seller did not sign: %d %s", a.StatusCode, a.raw)
	}
	if a := m.get("/discovery/resources"); a.body["pagination"].(map[string]any)["total"] != 0.0 {
		t.Errorf("what nobody can buy is listed: %s", a.raw)
	}
}

// What is sold is listed in the form x402 clients look for it, and can be bought
// where the list says.
func TestResourcesAreListed(t *testing.T) {
	m := newMarket(t)
	a := m.get("/discovery/resources?limit=2")
	items := a.body["items"].([]any)
	page := a.body["pagination"].(map[string]any)
	if len(items) != 2 || page["total"] != 3.0 || page["limit"] != 2.0 {
		t.Fatalf("%s", a.raw)
	}
	first := items[0].(map[string]any)
	if at := first["resource"].(string); at != "https://hub.example.org"+m.at("ptz@onvif%2F1") || first["type"] != "http" {
		t.Errorf("%v", first)
	}
	if rest := m.get("/discovery/resources?limit=2&offset=2"); len(rest.body["items"].([]any)) != 1 {
		t.Errorf("%s", rest.raw)
	}
	for query, want := range map[string]int{
		"type=mcp": 0, "scheme=exact": 0, "network=eip155:8453": 0, "extensions=bazaar": 0, "payTo=" + m.alice.AID(): 0, "payTo=x": 0, "offset=3": 0,
		"type=http&scheme=anet-credit&payTo=" + m.bob.AID() + "&network=" + payment.Network(m.hub.AID()): 3,
		"payTo=" + m.bob.AID() + "&limit=2": 2, "payTo=" + m.bob.AID() + "&offset=2": 1, "payTo=" + m.bob.AID() + "&offset=4": 0,
	} {
		for _, path := range []string{"/discovery/resources?", "/x402/discovery/resources?"} {
			if found := m.get(path + query); len(found.body["items"].([]any)) != want {
				t.Errorf("%s%s: %s, want %d", path, query, found.raw, want)
			}
		}
	}
	lift := m.block(moderation.Target{AID: m.bob.AID()})
	if none := m.get("/discovery/resources"); len(none.body["items"].([]any)) != 0 {
		t.Errorf("of a blocked seller: %s", none.raw)
	}
	lift()
}

// listed is how many offers lists show, of everybody and of the seller, which have to be
// the same.
func (m *market) listed() int {
	m.t.Helper()
	m.advance(time.Minute) // what was counted before is counted anew
	all, own := m.get("/discovery/resources"), m.get("/discovery/resources?payTo="+m.bob.AID())
	n := len(all.body["items"].([]any))
	if of := len(own.body["items"].([]any)); of != n || all.body["pagination"].(map[string]any)["total"] != float64(n) {
		m.t.Errorf("%s beside %s", all.raw, own.raw)
	}
	return n
}

// A card is good for a week. One that was not renewed goes on selling to who knows it,
// and is listed no more.
func TestOldOffersAreNotListed(t *testing.T) {
	m := newMarket(t)
	m.advance(7*24*time.Hour - 10*time.Minute)
	if n := m.listed(); n != 3 {
		t.Errorf("for a week: %d offers", n)
	}
	m.advance(10 * time.Minute)
	if n := m.listed(); n != 0 {
		t.Errorf("after a week: %d offers", n)
	}
	if a := m.bring(m.at("text.digest")); a.StatusCode != 402 {
		t.Errorf("asked for directly: %d %s", a.StatusCode, a.raw)
	}
	m.sell(adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": 25}})
	if n := m.listed(); n != 1 {
		t.Errorf("renewed: %d offers", n)
	}
	old, err := adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": 26}}.Sign(m.bob.Key, uint64(m.clock().Unix()), m.clock().AddDate(0, 0, -8))
	if err != nil {
		t.Fatal(err)
	}
	body := m.bob.Register("bob", "text.digest")
	body.Card = old
	if m.mustRegister(m.bob, body); m.listed() != 0 {
		t.Errorf("a card that comes old is listed")
	}
}

// A key that was retired as of before it signed a card takes the offers along.
func TestOffersOfARetiredKeyAreNotListed(t *testing.T) {
	for _, c := range []struct {
		why   string
		later time.Duration // than it signed
		n     int
	}{{"as of later", time.Minute, 3}, {"as of before", -time.Minute, 0}} {
		m := newMarket(t)
		signed := m.clock()
		m.advance(time.Hour)
		next, err := m.bob.Key.Rotate(stream("next"), signed.Add(c.later))
		if err != nil {
			t.Fatal(err)
		}
		m.bob.Key = next
		m.mustRegister(m.bob, m.bob.Register("bob", "text.digest"))
		sells := m.bring(m.at("text.digest")).StatusCode == 402
		if n := m.listed(); n != c.n || sells != (c.n > 0) {
			t.Errorf("retired %s: %d offers are listed, for sale %v; want %d", c.why, n, sells, c.n)
		}
		m.sell(adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": 25}})
		if n := m.listed(); n != 1 {
			t.Errorf("signed by the new key: %d offers", n)
		}
	}
}
