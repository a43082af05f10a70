package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/relayauth"
)

// market is a town in which bob sells text.digest and text.other for 25 credits
// each, and alice has 100.
type market struct {
	*town
	alice, bob *directorytest.Node
}

func newMarket(t *testing.T) *market {
	m := &market{town: newTown(t)}
	m.alice, m.bob = m.member("alice"), m.node("bob")
	m.sell(adp.Offer{RedeemAt: "https://bob.example/redeem", Prices: map[string]uint64{"text.digest": 25, "text.other": 25, "ptz@onvif/1": 25}})
	m.grants()
	return m
}

func (m *market) grants() {
	m.t.Helper()
	if err := m.credits.BookGrants(context.Background()); err != nil {
		m.t.Fatal(err)
	}
}

// sell registers bob with the card of an offer, newer than the last.
func (m *market) sell(o adp.Offer) {
	m.t.Helper()
	m.advance(time.Second)
	card, err := o.Sign(m.bob.Key, 0, m.clock())
	if err != nil {
		m.t.Fatal(err)
	}
	body := m.bob.Register("bob", "text.digest")
	body.Card = card
	m.mustRegister(m.bob, body)
}

func (m *market) pays(amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(m.alice.Key, m.bob.AID(), m.hub.AID(), amount, m.clock())
}

func (m *market) at(capID string) string { return "/x402/resource/" + m.bob.AID() + "/" + capID }

// bring asks the gateway with payment headers as they are.
func (m *market) bring(target string, headers ...string) answer {
	m.t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, h := range headers {
		r.Header.Add(payment.HeaderSignature, h)
	}
	return m.do(r)
}

func (m *market) buy(capID string, p *ledgertest.Payment) answer {
	m.t.Helper()
	header, err := payment.EncodeHeader(p.Payload(m.t))
	if err != nil {
		m.t.Fatal(err)
	}
	return m.bring(m.at(capID), header)
}

func (m *market) balance(n *directorytest.Node) uint64 {
	m.t.Helper()
	a, _, err := m.credits.Show(context.Background(), n.AID(), 1)
	if err != nil {
		m.t.Fatal(err)
	}
	return a.Balance
}

// untouched checks that nothing was booked, and that the books hold.
func (m *market) untouched(why string) {
	m.t.Helper()
	r, err := m.credits.Audit(context.Background())
	if err != nil || len(r.Wrong) > 0 || r.Settlements != 0 || m.balance(m.alice) != 100 {
		m.t.Errorf("%s: %d settlements, balance %d, %v %v", why, r.Settlements, m.balance(m.alice), r.Wrong, err)
	}
}

// header reads an x402 message out of a header.
func header[T any](t testing.TB, a answer, name string) (v T) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(a.Header.Get(name))
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		t.Errorf("%s: %q: %v", name, a.Header.Get(name), err)
	}
	return v
}

func (m *market) nobody() *directorytest.Node { return m.node("nobody") }

func mustHeader(t *testing.T, p *ledgertest.Payment) string {
	t.Helper()
	h, err := payment.EncodeHeader(p.Payload(t))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// holds verifies what the seller will verify.
func (m *market) holds(a answer, id string) {
	m.t.Helper()
	raw, _ := base64.StdEncoding.DecodeString(a.body["voucher"].(string))
	v, err := payment.ParseVoucher(raw)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := v.Verify(m.hub.History()); err != nil || v.AuthID != id || v.Payer != m.alice.AID() || v.PayTo != m.bob.AID() ||
		v.Capability != "text.digest" || v.Amount != 25 || v.Network != payment.Network(m.hub.AID()) || len(v.Nonce) != 32 {
		m.t.Errorf("%+v, %v", v.Voucher, err)
	}
	s := header[payment.SettlementResponse](m.t, a, payment.HeaderResponse)
	if a.body["transaction"] != id || s.Transaction != id || !s.Success || a.body["provider"] != m.bob.AID() || a.body["expires_at"] != float64(v.NotAfter) {
		m.t.Errorf("%s, %+v", a.raw, s)
	}
}

func (m *market) settle(p *ledgertest.Payment) answer {
	m.t.Helper()
	body, err := json.Marshal(p.Request(m.t))
	if err != nil {
		m.t.Fatal(err)
	}
	return m.post("/x402/settle", string(body))
}

// reads is a signed GET, each a millisecond later than the last.
func (m *market) reads(n *directorytest.Node, action, target string) *http.Request {
	m.advance(time.Millisecond)
	r := httptest.NewRequest(http.MethodGet, target, nil)
	relayauth.Sign(n.Key, action, m.hub.AID(), r, nil, uint64(m.clock().UnixMilli()))
	return r
}
