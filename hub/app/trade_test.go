package app

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/ledger"
	"github.com/anet-hub/anet/hub/internal/ledger/ledgertest"
	"github.com/anet-hub/anet/shared/card/adp"
	"github.com/anet-hub/anet/shared/evidence"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// trade pays, buys, redeems, and looks at the books.
func trade(v *visitor) {
	buyer, seller := v.joined("alice"), v.seller()
	v.granted(buyer)
	own := "/agents/" + buyer.AID()
	pay := func() *ledgertest.Payment { return v.pays(buyer, seller.AID(), 25) }
	v.post("200", "/x402/verify", pay().Request(v.t))
	v.post("200", "/x402/settle", pay().Request(v.t))
	for _, route := range []string{"/x402/verify", "/x402/settle"} {
		v.post("400 malformed_payment", route, "x")
		v.post("400 malformed_payment", route, map[string]any{"x402Version": 2, "paymentRequirements": pay().Wanted})
		v.post("400 invalid_payment_requirements", route, "{}")
		v.post("413 body_too_large", route, strings.Repeat(" ", 65<<10))
	}
	v.buy(buyer, seller)
	v.redeem(buyer, seller)
	for _, target := range []string{own + "/balance", own + "/ledger", own + "/ledger?limit=1", own + "/redemptions"} {
		v.call("200", buyer, target, "")
		v.call("401 not_the_owner", buyer, strings.Replace(target, buyer.AID(), seller.AID(), 1), "")
		v.call("413 body_too_large", buyer, target, strings.Repeat(" ", 2<<20))
	}
	for _, target := range []string{"/x402/supported", "/x402/supply", "/x402/issuance", "/x402/issuance?from=2", "/x402/issuance?from=99999999999999999999",
		"/x402/issuance/head", "/x402/witnesses", "/discovery/resources", "/x402/discovery/resources", "/discovery/resources?type=http&limit=1&offset=0"} {
		v.get("200", target)
	}
	for _, bad := range []struct{ want, target string }{
		{"400 from_invalid", "/x402/issuance?from=x"}, {"400 query_malformed", "/x402/issuance?from=%zz"},
		{"400 query_malformed", "/discovery/resources?limit=%zz"}, {"400 limit_invalid", "/discovery/resources?limit=0"},
		{"400 offset_invalid", "/discovery/resources?offset=-1"}, {"400 offset_invalid", "/x402/discovery/resources?offset=-1"},
	} {
		v.get(bad.want, bad.target)
	}
	v.witness()
	v.get("200", "/x402/witnesses")
	v.restored(pay, buyer)
}

func (v *visitor) pays(from *directorytest.Node, to string, amount uint64) *ledgertest.Payment {
	return ledgertest.Pay(from.Key, to, v.hub, amount, time.Now())
}

// seller is registered with the card of one that sells at the gateway.
func (v *visitor) seller() *directorytest.Node {
	v.t.Helper()
	n := v.agent()
	body := n.Register("bob", "text.digest")
	v.sells(n, &body, "https://bob.example/redeem")
	return n
}

func (v *visitor) sells(n *directorytest.Node, body *wire.Register, at string) {
	v.t.Helper()
	card, err := adp.Offer{Name: "bob", RedeemAt: at, Prices: map[string]uint64{"text.digest": 25}}.Sign(n.Key, uint64(time.Now().Unix())+uint64(200-len(at)), time.Now())
	if err != nil {
		v.t.Fatal(err)
	}
	body.Card = card
	v.call("200", n, "/register", *body)
}

// granted waits for the registration grant.
func (v *visitor) granted(n *directorytest.Node) {
	v.t.Helper()
	testkit.Until(v.t, "the registration grant is booked", func() bool {
		return v.call("200", n, "/agents/"+n.AID()+"/balance", "").body["credits"] == 100.0
	})
}

// wrong are payments that are refused, each with its constant.
func (v *visitor) wrong(from *directorytest.Node, to string, amount uint64) map[string]*ledgertest.Payment {
	p := func(change func(*ledgertest.Payment)) *ledgertest.Payment {
		return v.pays(from, to, amount).With(change)
	}
	late := uint64(time.Now().Add(-time.Hour).UnixMilli())
	return map[string]*ledgertest.Payment{
		payment.MalformedPayment:  p(func(p *ledgertest.Payment) { p.Raw = "AA==" }),
		payment.UnsupportedScheme: p(func(p *ledgertest.Payment) { p.Accepted.Scheme = "exact" }),
		payment.NetworkMismatch:   p(func(p *ledgertest.Payment) { p.Accepted.Network = "hub:" + from.AID() }),
		payment.PayeeMismatch:     p(func(p *ledgertest.Payment) { p.Auth.PayTo = from.AID() }),
		payment.InvalidAmount:     p(func(p *ledgertest.Payment) { p.Accepted.Amount = "3" }),
		payment.InvalidSignature:  p(func(p *ledgertest.Payment) { p.Forged = true }),
		payment.ExpiredPayment:    p(func(p *ledgertest.Payment) { p.Auth.IssuedAt, p.Auth.NotAfter = late, late+1 }),
		payment.UnknownPayer:      v.pays(v.agent(), to, amount),
	}
}

func (v *visitor) buy(buyer, seller *directorytest.Node) {
	v.t.Helper()
	target := "/x402/resource/" + seller.AID() + "/text.digest"
	with := func(want string, p *ledgertest.Payment) reply {
		r := v.opened(http.MethodGet, target, "")
		header, err := payment.EncodeHeader(p.Payload(v.t))
		if err != nil {
			v.t.Fatal(err)
		}
		r.Header.Set(payment.HeaderSignature, header)
		return v.expect(want, r)
	}
	v.get("402 payment_required", target)
	for reason, p := range v.wrong(buyer, seller.AID(), 25) {
		want := "402 " + reason
		if reason == payment.MalformedPayment {
			want = "400 " + reason
		}
		with(want, p)
	}
	with("402 invalid_payment_requirements", v.pays(buyer, seller.AID(), 25).With(func(p *ledgertest.Payment) { p.Accepted.Asset = "gold" }))
	good := v.pays(buyer, seller.AID(), 25).For("one thing")
	with("200", good)
	with("200", good)
	with("402 duplicate_binding", v.pays(buyer, seller.AID(), 25).For("one thing"))
	with("402 insufficient_funds", v.pays(seller, seller.AID(), 25).With(func(*ledgertest.Payment) { v.spend(seller) }))
	spent := v.pays(buyer, seller.AID(), 25)
	v.post("200", "/x402/settle", spent.Request(v.t))
	with("409 payment_spent", spent)
	v.get("400 aid_malformed", "/x402/resource/bob/text.digest")
	v.get("404 agent_unknown", "/x402/resource/"+v.agent().AID()+"/text.digest")
	v.get("404 not_sold_here", "/x402/resource/"+seller.AID()+"/text.other")
	body := seller.Register("bob", "text.digest")
	v.sells(seller, &body, "")
	v.get("409 seller_unreachable", target)
}

// spend leaves an agent with nothing.
func (v *visitor) spend(n *directorytest.Node) {
	v.t.Helper()
	credits := v.call("200", n, "/agents/"+n.AID()+"/balance", "").body["credits"].(float64)
	if credits > 0 {
		v.post("200", "/x402/redeem", v.redemption(v.pays(n, v.hub, uint64(credits)), "all of it"))
	}
}

func (v *visitor) redemption(p *ledgertest.Payment, reference string) wire.Redeem {
	payload := p.Payload(v.t)
	return wire.Redeem{X402Version: 2, PaymentPayload: &payload, Reference: reference}
}

func (v *visitor) redeem(from, other *directorytest.Node) {
	v.t.Helper()
	v.post("200", "/x402/redeem", v.redemption(v.pays(from, v.hub, 1).For("redeem:a"), "a"))
	v.post("400 duplicate_binding", "/x402/redeem", v.redemption(v.pays(from, v.hub, 1).For("redeem:a"), "a"))
	v.post("400 insufficient_funds", "/x402/redeem", v.redemption(v.pays(from, v.hub, 1000), "b"))
	for reason, p := range v.wrong(from, v.hub, 1) {
		v.post("400 "+reason, "/x402/redeem", v.redemption(p, "c"))
	}
	v.post("400 invalid_payment_requirements", "/x402/redeem", v.redemption(v.pays(from, v.hub, 1).With(func(p *ledgertest.Payment) { p.Accepted.PayTo = "" }), "d"))
	v.post("400 malformed_json", "/x402/redeem", "x")
	v.post("413 body_too_large", "/x402/redeem", strings.Repeat(" ", 65<<10))
}

// witnesses are peers that are known by their keys alone.
type witnesses struct {
	ledgertest.Alone
	keys map[string]*identity.Controller
}

func (w witnesses) History(aid string) (*identity.History, bool) {
	if c := w.keys[aid]; c != nil {
		return c.History(), true
	}
	return nil, false
}
func (w witnesses) Endpoint(string) string { return "https://peer.example.org" }

// clear brings statements of a peer that owes this hub.
func (v *visitor) clear(peer *identity.Controller) {
	v.t.Helper()
	if err := v.app.hub.credits.Allow(v.t.Context(), peer.AID(), true, 100, audit.By{Who: "visitor"}); err != nil {
		v.t.Fatal(err)
	}
	statement := func(of, by *identity.Controller, amount uint64, network string) wire.Clear {
		r := payment.Receipt{AuthID: fmt.Sprint("clear:", amount), Payer: of.AID(), PayTo: v.hub, Amount: amount, Network: network,
			SettleAt: uint64(time.Now().UnixMilli())}
		signed, _, err := identity.SignObject(by, r)
		if err != nil {
			v.t.Fatal(err)
		}
		return wire.Clear{PeerAID: of.AID(), Receipt: signed}
	}
	state := func(by *identity.Controller, amount uint64, network string) wire.Clear {
		return statement(peer, by, amount, network)
	}
	v.owes(peer, 10)
	own := payment.Network(peer.AID())
	v.post("200", "/federation/clear", state(peer, 4, own))
	if a := v.post("200", "/federation/clear", state(peer, 4, own)); a.body["owed"] != 6.0 {
		v.t.Errorf("the same statement twice: %v", a.body)
	}
	v.post("400 more_than_owed", "/federation/clear", state(peer, 7, own))
	v.post("400 receipt_invalid", "/federation/clear", state(peer, 1, payment.Network(v.hub)))
	v.post("400 receipt_invalid", "/federation/clear", state(v.agent().Key, 1, own))
	v.post("400 malformed_json", "/federation/clear", "x")
	v.post("403 peer_unknown", "/federation/clear", wire.Clear{PeerAID: v.hub})
	stranger := v.agent().Key
	v.app.hub.credits.Peers = witnesses{keys: map[string]*identity.Controller{stranger.AID(): stranger}}
	v.post("400 more_than_owed", "/federation/clear", statement(stranger, stranger, 1, payment.Network(stranger.AID())))
	v.post("413 body_too_large", "/federation/clear", strings.Repeat(" ", 65<<10))
}

func (v *visitor) witness() {
	v.t.Helper()
	peer := v.agent().Key
	v.app.hub.credits.Peers = witnesses{keys: map[string]*identity.Controller{peer.AID(): peer}}
	seq, id, err := v.app.hub.credits.Head(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	seen := evidence.Attestation{Chain: v.hub, Seq: seq, HeadID: id, ObservedAt: uint64(time.Now().UnixMilli())}
	sign := func(by *identity.Controller, change func(*evidence.Attestation)) wire.Witness {
		a := seen
		change(&a)
		signed, _, err := identity.SignObject(by, a)
		if err != nil {
			v.t.Fatal(err)
		}
		return wire.Witness{Attestation: signed}
	}
	same := func(*evidence.Attestation) {}
	forged := sign(peer, same)
	forged.Attestation[len(forged.Attestation)-1] ^= 1
	for _, c := range []struct {
		want string
		body any
	}{
		{"200", sign(peer, same)}, {"200", sign(peer, same)},
		{"400 malformed_json", "x"}, {"400 attestation_malformed", wire.Witness{Attestation: []byte("x")}},
		{"403 witness_unknown", sign(v.agent().Key, same)}, {"400 attestation_bad_signature", forged},
		{"400 attestation_other_chain", sign(peer, func(a *evidence.Attestation) { a.Chain = peer.AID() })},
		{"400 attestation_empty_chain", sign(peer, func(a *evidence.Attestation) { a.Seq = 0 })},
		{"400 attestation_time", sign(peer, func(a *evidence.Attestation) { a.ObservedAt += 2 * 3600 * 1000 })},
		{"400 attestation_time", sign(peer, func(a *evidence.Attestation) { a.ObservedAt = 1 << 63 })},
		{"409 attestation_other_head", sign(peer, func(a *evidence.Attestation) { a.HeadID = "x" })},
		{"409 attestation_other_head", sign(peer, func(a *evidence.Attestation) { a.Seq = 1 << 63 })},
		{"413 body_too_large", strings.Repeat(" ", 65<<10)},
	} {
		v.post(c.want, "/x402/witness", c.body)
	}
	v.clear(peer)
}

// owes books that a peer owes the hub, as a payment on its ledger would.
func (v *visitor) owes(peer *identity.Controller, amount uint64) {
	v.t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL = v.url
	op, err := NewOperator(v.t.Context(), cfg, quiet)
	if err != nil {
		v.t.Fatal(err)
	}
	defer op.Close(v.t.Context())
	payer, payee, at := v.agent(), v.joined("carol"), time.Now().UTC().Truncate(time.Millisecond)
	pay := ledgertest.Pay(payer.Key, payee.AID(), peer.AID(), amount, at)
	signed, id, err := identity.SignObject(payer.Key, pay.Auth)
	if err != nil {
		v.t.Fatal(err)
	}
	receipt, _, err := payment.SignReceipt(peer, payment.Receipt{AuthID: id, Payer: payer.AID(), PayTo: payee.AID(), Amount: amount,
		Network: pay.Auth.Network, SettleAt: pay.Auth.IssuedAt})
	if err != nil {
		v.t.Fatal(err)
	}
	p := ledger.PeerPayment{AuthID: id, Hub: peer.AID(), Payer: payer.AID(), PayTo: payee.AID(), Amount: amount, At: at,
		Signed: signed, Receipt: receipt, Answer: []byte("{}")}
	if err := op.Credits.TakePeerPayment(v.t.Context(), p); err != nil {
		v.t.Fatal(err)
	}
}

// restored asks a ledger that waits to be audited.
func (v *visitor) restored(pay func() *ledgertest.Payment, buyer *directorytest.Node) {
	v.t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL = v.url
	op, err := NewOperator(v.t.Context(), cfg, quiet)
	if err != nil {
		v.t.Fatal(err)
	}
	defer op.Close(v.t.Context())
	if _, err := op.data.DB.Pool.Exec(v.t.Context(), `UPDATE ledger SET read_only_since = now()`); err != nil {
		v.t.Fatal(err)
	}
	if a := v.post("200", "/x402/verify", pay().Request(v.t)); a.body["isValid"] != false || a.body["invalidReason"] != payment.SettlementPending {
		v.t.Errorf("verify: %v", a.body)
	}
	v.post("503 ledger_read_only", "/x402/redeem", v.redemption(v.pays(buyer, v.hub, 1), "x"))
	if a := v.post("200", "/x402/settle", pay().Request(v.t)); a.body["errorReason"] != payment.SettlementPending {
		v.t.Errorf("settle: %v", a.body)
	}
	report, err := op.Credits.Audit(v.t.Context())
	if err != nil || len(report.Wrong) > 0 {
		v.t.Errorf("the books: %v, %v", report.Wrong, err)
	}
	if err := op.Credits.Reopen(v.t.Context(), audit.By{Who: "visitor"}); err != nil {
		v.t.Fatal(err)
	}
	v.post("200", "/x402/verify", pay().Request(v.t))
}
