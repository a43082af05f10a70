package voucher

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// in is a payment header with a message in it.
func in(t *testing.T, name string, v any) http.Header {
	t.Helper()
	value, err := payment.EncodeHeader(v)
	must(t, err)
	return http.Header{http.CanonicalHeaderKey(name): {value}}
}

// ask has turns answered as a gateway's.
func ask(turns ...turn) (*Line, *seller) {
	s := &seller{turns: turns}
	l := NewLine()
	l.http.Transport = s
	return l, s
}

// A quote is for the call that was asked for and pays who does it; anything else is
// not signed.
func TestQuote(t *testing.T) {
	shop, other := testkit.Agent(t, 3).AID(), testkit.Agent(t, 4).AID()
	quote := func(edit func(*payment.PaymentRequired)) turn {
		q := payment.NewQuote("text.digest@"+shop, "", shop, 5, []string{"hub:x"})
		edit(&q)
		return turn{402, "{}", in(t, payment.HeaderRequired, q), 0}
	}
	asked := "https://hub.example/x402/resource/" + shop + "/text.digest"
	for _, tt := range []struct {
		name, at string
		turn     turn
		want     string
	}{
		{"the one", asked, quote(func(*payment.PaymentRequired) {}), ""},
		{"at another path", "https://hub.example/shop?item=1", quote(func(*payment.PaymentRequired) {}), ""},
		{"for another capability", asked, quote(func(q *payment.PaymentRequired) { q.Resource.URL = "anet:capability/other@" + shop }), "quote_invalid"},
		{"of another agent", asked, quote(func(q *payment.PaymentRequired) { q.Resource.URL = "anet:capability/text.digest@" + other }), "quote_invalid"},
		{"paying somebody else", asked, quote(func(q *payment.PaymentRequired) { q.Accepts[0].PayTo = other }), "quote_invalid"},
		{"for something else", asked, quote(func(q *payment.PaymentRequired) { q.Resource.URL = "https://hub.example/film" }), "quote_invalid"},
		{"for nothing", asked, quote(func(q *payment.PaymentRequired) { q.Resource = nil }), "quote_invalid"},
		{"of another version", asked, quote(func(q *payment.PaymentRequired) { q.X402Version = 1 }), "quote_invalid"},
		{"without a header", asked, turn{402, "{}", nil, 0}, "quote_invalid"},
		{"garbage", asked, turn{402, "", http.Header{"Payment-Required": {"garbage"}}, 0}, "quote_invalid"},
		{"free", asked, turn{200, "{}", nil, 0}, "nothing_to_pay"},
		{"elsewhere", asked, turn{302, "", http.Header{"Location": {"https://elsewhere.example"}}, 0}, "gateway_redirects"},
		{"not sold", asked, turn{404, `{"error":"no","code":"not_for_sale"}`, nil, 0}, "not_for_sale"},
		{"a word of this program's", asked, turn{403, `{"error":"no","code":"purchase_pending"}`, nil, 0}, "gateway_refused"},
		{"broken", asked, turn{500, "<html>", nil, 0}, "gateway_refused"},
		{"nobody", asked, turn{nobody, "", nil, 0}, GatewayUnreachable},
	} {
		at, err := url.Parse(tt.at)
		must(t, err)
		l, _ := ask(tt.turn)
		d, _, err := l.Quote(t.Context(), DealOf(at))
		if testkit.Reason(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err == nil && (d.Seller != shop || d.Capability != "text.digest") {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
}

// An address of a gateway says what is bought there, and is made of it.
func TestDeals(t *testing.T) {
	shop := testkit.Agent(t, 3).AID()
	for _, capID := range []string{"text.digest", "ptz.absolute@onvif/camera-006", "ü?#%2F"} {
		d, err := DealAt("https://hub.example/below", shop, capID)
		must(t, err)
		at, err := url.Parse(d.At.String())
		must(t, err)
		if got := DealOf(at); got.Seller != shop || got.Capability != capID {
			t.Errorf("%s says %+v", at, got)
		}
	}
	for _, other := range []string{"https://hub.example/", "https://hub.example/x402/resource/bafy/a", "https://hub.example/x402/resource/" + shop} {
		at, err := url.Parse(other)
		must(t, err)
		if got := DealOf(at); got.Seller != "" || got.Capability != "" {
			t.Errorf("%s says %+v", other, got)
		}
	}
}

// One payment is brought until it is known what it bought, and never another.
func TestPay(t *testing.T) {
	body, err := json.Marshal(wire.Sold{Voucher: []byte("voucher")})
	must(t, err)
	sold := turn{200, string(body), in(t, payment.HeaderResponse, payment.SettlementResponse{Success: true}), 0}
	unknown := turn{503, `{"error":"not known","code":"settlement_pending"}`, after("5"), 0}
	poor := turn{402, `{"error":"poor","code":"insufficient_funds"}`, nil, 0}
	gone := turn{404, `{"error":"no","code":"not_for_sale"}`, nil, 0}
	for _, tt := range []struct {
		name  string
		turns []turn
		want  string
		kind  errs.Kind
		asked int
	}{
		{"sold", []turn{sold}, "", 0, 1},
		{"not known at first", []turn{unknown, unknown, sold}, "", 0, 3},
		{"a lost answer", []turn{{lose, "", nil, 0}, sold}, "", 0, 2},
		{"the hub is started anew", []turn{{lose, "", nil, 0}, {nobody, "", nil, 0}, {502, "", nil, 0}, {429, "", nil, 0}, sold}, "", 0, 5},
		{"poor", []turn{poor}, "insufficient_funds", errs.PaymentRequired, 1},
		{"poor, after a lost answer", []turn{{lose, "", nil, 0}, poor}, "insufficient_funds", errs.PaymentRequired, 2},
		{"bought something else", []turn{{409, `{"error":"no","code":"payment_spent"}`, nil, 0}}, "payment_spent", errs.Forbidden, 1},
		{"not sold any more", []turn{gone}, "not_for_sale", errs.Forbidden, 1},
		{"never known", []turn{unknown}, Pending, errs.Unavailable, 7},
		{"lost, and not sold any more", []turn{{lose, "", nil, 0}, gone}, Pending, errs.Unavailable, 9},
		{"no voucher", []turn{{200, "{}", nil, 0}}, Pending, errs.Unavailable, 1},
		{"garbage", []turn{{200, "<html>", nil, 0}}, Pending, errs.Unavailable, 1},
		{"no end", []turn{{200, strings.Repeat(" ", maxAnswer+1), nil, 0}}, Pending, errs.Unavailable, 9},
		{"no answer", []turn{{200, "", nil, time.Hour}}, Pending, errs.Unavailable, 1},
		{"nobody", []turn{{nobody, "", nil, 0}}, GatewayUnreachable, errs.Unavailable, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			l, s := ask(tt.turns...)
			got, err := l.Pay(ctx, &Kept{URL: "https://hub.example/", Payment: "signed"})
			if testkit.Reason(err) != tt.want || s.asked != tt.asked || err != nil && errs.KindOf(err) != tt.kind {
				t.Errorf("%s: %v after %d times, want %q after %d", tt.name, err, s.asked, tt.want, tt.asked)
			}
			if err == nil && (string(got.Voucher) != "voucher" || !got.Settlement.Success) {
				t.Errorf("%s: %+v", tt.name, got)
			}
			for _, signed := range s.signed {
				if signed != "signed" {
					t.Errorf("%s: brought %q", tt.name, signed)
				}
			}
		})
	}
}

// What is sold is the voucher for this payment and this call.
func TestCheck(t *testing.T) {
	hub, buyer, shop := testkit.Agent(t, 1), testkit.Agent(t, 2), testkit.Agent(t, 3)
	a := payment.Authorization{
		Payer: buyer.AID(), PayTo: shop.AID(), Amount: 5, Network: payment.Network(hub.AID()), Nonce: "n",
		IssuedAt: uint64(time.Now().UnixMilli()), NotAfter: uint64(time.Now().Add(time.Minute).UnixMilli()),
	}
	signed, id, err := payment.SignAuthorization(buyer, a)
	must(t, err)
	header, err := payment.EncodeHeader(payment.NewPayload(payment.Requirements{}, signed))
	must(t, err)
	kept := &Kept{Payment: header, Seller: shop.AID(), Capability: "text.digest"}
	receipt := func(edit func(*payment.Receipt)) payment.SettlementResponse {
		r := payment.Receipt{AuthID: id, Payer: a.Payer, PayTo: a.PayTo, Amount: 5, Network: a.Network, SettleAt: a.IssuedAt}
		edit(&r)
		raw, _, err := payment.SignReceipt(hub, r)
		must(t, err)
		shown, err := json.Marshal(codec.EncodeB64(raw))
		must(t, err)
		return payment.SettlementResponse{Extensions: payment.Extensions{payment.ExtReceipt: shown}}
	}
	h := Hub{Now: time.Now}
	h.Pin.AID, h.Pin.KEL = hub.AID(), hub.KEL()
	for _, tt := range []struct {
		name       string
		edit       func(*payment.Voucher)
		settlement payment.SettlementResponse
		want       string
	}{
		{"as it was paid", nil, receipt(func(*payment.Receipt) {}), "verified"},
		{"without a receipt", nil, payment.SettlementResponse{}, "unknown"},
		{"with a receipt for less", nil, receipt(func(r *payment.Receipt) { r.Amount = 1 }), "unverified"},
		{"for another payment", func(v *payment.Voucher) { v.AuthID = "other" }, payment.SettlementResponse{}, Mismatch},
		{"for another capability", func(v *payment.Voucher) { v.Capability = "other" }, payment.SettlementResponse{}, Mismatch},
		{"at another seller", func(v *payment.Voucher) { v.PayTo = buyer.AID() }, payment.SettlementResponse{}, Mismatch},
		{"of less", func(v *payment.Voucher) { v.Amount = 1 }, payment.SettlementResponse{}, Mismatch},
	} {
		raw := bought(t, func(v *payment.Voucher) {
			v.AuthID = id
			if tt.edit != nil {
				tt.edit(v)
			}
		}).Raw
		_, got, err := h.Check(t.Context(), kept, Sold{Sold: wire.Sold{Voucher: raw}, Settlement: tt.settlement})
		if err != nil {
			got = testkit.Reason(err)
		}
		if got != tt.want {
			t.Errorf("a voucher %s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}
