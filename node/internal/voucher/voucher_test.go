package voucher

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// bought is a voucher that a hub sold; edit may spoil it first.
func bought(t *testing.T, edit func(*payment.Voucher)) Voucher {
	t.Helper()
	hub := testkit.Agent(t, 1)
	v := payment.Voucher{
		AuthID: "auth", Payer: testkit.Agent(t, 2).AID(), PayTo: testkit.Agent(t, 3).AID(), Capability: "text.digest", Amount: 5,
		Network: payment.Network(hub.AID()), NotAfter: uint64(time.Now().Add(payment.VoucherWindow).UnixMilli()), Nonce: strings.Repeat("a", 32),
	}
	if edit != nil {
		edit(&v)
	}
	raw, _, err := payment.SignVoucher(hub, v)
	must(t, err)
	out := Voucher{Raw: raw}
	must(t, out.parse())
	return out
}

// Everything that a gateway, or this program, hands out as a voucher is one.
func TestRead(t *testing.T) {
	v := bought(t, nil)
	b64 := codec.EncodeB64(v.Raw)
	sold := func(edit func(*wire.Sold)) string {
		s := wire.Sold{Voucher: v.Raw, RedeemAt: "https://shop.example/redeem", Capability: v.Capability, Provider: v.PayTo}
		edit(&s)
		raw, err := json.Marshal(s)
		must(t, err)
		return string(raw)
	}
	for _, tt := range []struct {
		name, text string
		at         string
		good       bool
	}{
		{"base64", b64, "", true},
		{"base64 in lines", b64[:40] + "\n" + b64[40:] + "\n", "", true},
		{"the answer of a gateway", sold(func(*wire.Sold) {}), "https://shop.example/redeem", true},
		{"only the voucher in it", `{"voucher":"` + b64 + `"}`, "", true},
		{"for another capability than it says", sold(func(s *wire.Sold) { s.Capability = "other" }), "", false},
		{"of another seller than it says", sold(func(s *wire.Sold) { s.Provider = v.Payer }), "", false},
		{"twice in one object", `{"voucher":"` + b64 + `","Voucher":"` + b64 + `"}`, "", false},
		{"an object without one", `{"error":"no","code":"payment_required"}`, "", false},
		{"nothing", " ", "", false},
		{"words", "voucher", "", false},
		{"base64 of something else", codec.EncodeB64([]byte("hello")), "", false},
		{"a list", "[1]", "", false},
	} {
		got, err := Read([]byte(tt.text))
		if (err == nil) != tt.good || err != nil && !errs.Is(err, "voucher_malformed") {
			t.Errorf("%s: %v, want it read: %v", tt.name, err, tt.good)
		}
		if tt.good && (got.ID() != v.ID() || got.RedeemAt != tt.at) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// What cannot be redeemed is told before anybody has it.
func TestWhatCanBeRedeemed(t *testing.T) {
	v := bought(t, func(v *payment.Voucher) { v.ArgsCID = codec.CID([]byte(`{"a":1}`)) })
	if v.Fits([]byte(`{"a":1}`)) != nil || !errs.Is(v.Fits([]byte(`{"a": 1}`)), "voucher_args") {
		t.Error("a voucher is for the very bytes that it was sold for")
	}
	for _, tt := range []struct {
		after time.Duration
		good  bool
	}{{0, true}, {payment.Skew - time.Second, true}, {payment.Skew + time.Second, false}} {
		if err := v.Timely(v.Ends().Add(tt.after)); (err == nil) != tt.good {
			t.Errorf("%s after its end: %v", tt.after, err)
		}
	}
	forever := bought(t, func(v *payment.Voucher) { v.NotAfter = 1<<64 - 1 })
	if forever.Timely(time.Now()) != nil || forever.Ends().Year() < 3000 {
		t.Errorf("one for ever ends at %s", forever.Ends())
	}
	for _, network := range []string{"", "hub:", "hub:me", "eip155:1"} {
		if _, err := bought(t, func(v *payment.Voucher) { v.Network = network }).Hub(); !errs.Is(err, "voucher_malformed") {
			t.Errorf("the network %q: %v", network, err)
		}
	}
}

// Addresses are contacted over https, or on this machine where that was meant.
func TestAddresses(t *testing.T) {
	mine, near, far := Source{Mine: true}, Source{Near: true}, Source{}
	for _, tt := range []struct {
		from Source
		url  string
		want string
	}{
		{far, "https://shop.example/redeem", ""},
		{far, " https://shop.example:8443/redeem?shop=1 ", ""},
		{far, "http://shop.example/redeem", "url_plain_http"},
		{Source{AllowHTTP: true}, "http://shop.example/redeem", ""},
		{far, "http://127.0.0.1:8402/redeem", "url_here"},
		{Source{AllowHTTP: true}, "http://127.0.0.1:8402/redeem", "url_here"},
		{far, "https://localhost/redeem", "url_here"},
		{far, "https://[::1]/redeem", "url_here"},
		{far, "https://[::ffff:127.0.0.1]/redeem", "url_here"},
		{far, "https://0.0.0.0/redeem", "url_here"},
		{near, "http://127.0.0.1:8402/redeem", ""},
		{mine, "http://LOCALHOST:8402/redeem", ""},
		{mine, "http://10.0.0.1/redeem", "url_plain_http"},
		{mine, "https://user@shop.example/", "url_invalid"},
		{mine, "https://shop.example/#part", "url_invalid"},
		{mine, "shop.example/redeem", "url_invalid"},
		{mine, "file:///etc/passwd", "url_invalid"},
		{mine, "unix:///run/x", "url_invalid"},
		{far, "", "url_invalid"},
		{far, "https://%zz/", "url_invalid"},
	} {
		_, err := tt.from.Address(tt.url)
		if got := testkit.Reason(err); got != tt.want {
			t.Errorf("%+v %s: %v, want %q", tt.from, tt.url, err, tt.want)
		}
		if err != nil && (errs.KindOf(err) == errs.Invalid) != tt.from.Mine {
			t.Errorf("%+v %s: %s; only a person's own word is wrong use", tt.from, tt.url, errs.KindOf(err))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
