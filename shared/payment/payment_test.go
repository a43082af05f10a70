package payment_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	. "github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/testkit/vectors"
)

const ms = uint64(testkit.NowMS)

// An edited signing time is still before the key was ever retired.
func TestVectorsPayment(t *testing.T) {
	vectors.Test(t, "testdata/payment.json", "verify_at")
}

// A millisecond more leaves most cases on their side of the window.
func TestVectorsWindow(t *testing.T) {
	vectors.Test(t, "testdata/payment-window.json", "now", "not_after", "issued_at")
}

func TestVectorsBinding(t *testing.T) { vectors.Test(t, "testdata/paybind.json") }

func TestVectorsVoucher(t *testing.T) { vectors.Test(t, "testdata/payment-voucher.json") }

func TestParseAmount(t *testing.T) {
	for _, tt := range []struct {
		name, s string
		want    uint64
	}{
		{"one", "1", 1},
		{"the most", "9223372036854775807", math.MaxInt64},
		{"one more", "9223372036854775808", 0},
		{"more than 64 bits", "18446744073709551617", 0},
		{"zero", "0", 0},
		{"negative", "-1", 0},
		{"sign", "+1", 0},
		{"leading zero", "01", 0},
		{"fraction", "1.0", 0},
		{"exponent", "1e3", 0},
		{"blank", " 1", 0},
		{"empty", "", 0},
	} {
		got, err := ParseAmount(tt.s)
		if ok := err == nil; ok != (tt.want != 0) || ok && got != tt.want || !ok && testkit.Reason(err) != InvalidAmount {
			t.Errorf("%s: ParseAmount(%q) = %d, %v, want %d", tt.name, tt.s, got, err, tt.want)
		}
	}
}

func TestInWindowNeverOverflows(t *testing.T) {
	const most = math.MaxUint64
	for _, tt := range []struct {
		name                  string
		issued, notAfter, now uint64
		want                  bool
	}{
		{"no end in sight", ms, most, ms, true},
		{"issued at the end of time", most - 1, most, ms, false},
		{"a clock at zero", ms, ms + 1, 0, false},
		{"a clock at the end of time", ms, ms + 1, most, false},
	} {
		if got := InWindow(tt.issued, tt.notAfter, tt.now); got != tt.want {
			t.Errorf("%s: InWindow = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestHubOf(t *testing.T) {
	for _, tt := range []struct {
		network, aid string
		ok           bool
	}{{"hub:x", "x", true}, {"hub:", "", false}, {"x", "x", false}, {"eip155:1", "eip155:1", false}} {
		if aid, ok := HubOf(tt.network); ok != tt.ok || ok && aid != tt.aid {
			t.Errorf("HubOf(%q) = %q, %v, want %q, %v", tt.network, aid, ok, tt.aid, tt.ok)
		}
	}
}

// parse undoes a Sign function.
func parse[T any](t *testing.T, f func([]byte) (T, error)) func([]byte, string, error) T {
	return func(wire []byte, _ string, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		v, err := f(wire)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestAuthorization(t *testing.T) {
	payer, other := testkit.Agent(t, 1), testkit.Agent(t, 2)
	good := Authorization{payer.AID(), other.AID(), 5, Network("bhub"), "n", ms, ms + 1, "ix"}
	with := func(change func(*Authorization)) Authorization { a := good; change(&a); return a }
	for _, tt := range []struct {
		name string
		a    Authorization
		want string
	}{
		{"as it should be", good, ""},
		{"nothing", with(func(a *Authorization) { a.Amount = 0 }), InvalidAmount},
		{"too much", with(func(a *Authorization) { a.Amount = MaxAmount + 1 }), InvalidAmount},
		{"ends when it begins", with(func(a *Authorization) { a.NotAfter = a.IssuedAt }), ExpiredPayment},
		{"undated", with(func(a *Authorization) { a.IssuedAt = 0 }), ExpiredPayment},
		{"somebody else's money", with(func(a *Authorization) { a.Payer = other.AID() }), UnknownPayer},
	} {
		if _, _, err := SignAuthorization(payer, tt.a); testkit.Reason(err) != tt.want {
			t.Errorf("%s: reason = %q, want %q", tt.name, testkit.Reason(err), tt.want)
		}
	}
	a := parse(t, ParseAuthorization)(SignAuthorization(payer, good))
	if err := a.Verify(payer.History()); err != nil || a.Authorization != good {
		t.Errorf("Verify = %v, %+v", err, a.Authorization)
	}
	if testkit.Reason(a.Verify(other.History())) != InvalidSignature {
		t.Error("another agent's history verifies it")
	}
	if stolen := parse(t, ParseAuthorization)(identity.SignObject(other, good)); testkit.Reason(stolen.Verify(other.History())) != InvalidSignature {
		t.Error("an authorization signed by another than the payer verifies")
	}
}

func TestReceipt(t *testing.T) {
	payer, hub, fake := testkit.Agent(t, 1), testkit.Agent(t, 2), testkit.Agent(t, 3)
	a := parse(t, ParseAuthorization)(SignAuthorization(payer,
		Authorization{payer.AID(), "bpayee", 5, Network(hub.AID()), "n", ms, ms + 1, ""}))
	good := Receipt{a.ID(), payer.AID(), "bpayee", 5, Network(hub.AID()), ms}
	with := func(change func(*Receipt)) Receipt { r := good; change(&r); return r }
	for _, tt := range []struct {
		name    string
		r       Receipt
		by      *identity.Controller
		want    string
		settles bool
	}{
		{"as it should be", good, hub, "", true},
		{"signed by another hub", good, fake, InvalidSignature, true},
		{"a network that is no hub", with(func(r *Receipt) { r.Network = "eip155:1" }), hub, NetworkMismatch, false},
		{"of no time", with(func(r *Receipt) { r.SettleAt = 0 }), hub, InvalidSignature, true},
		{"another amount", with(func(r *Receipt) { r.Amount = 4 }), hub, "", false},
		{"another payee", with(func(r *Receipt) { r.PayTo = "bother" }), hub, "", false},
		{"another authorization", with(func(r *Receipt) { r.AuthID = "x" }), hub, "", false},
	} {
		r := parse(t, ParseReceipt)(SignReceipt(tt.by, tt.r))
		if got := testkit.Reason(r.Verify(tt.by.History())); got != tt.want || r.Settles(a) != tt.settles {
			t.Errorf("%s: reason %q, settles %v, want %q, %v", tt.name, got, r.Settles(a), tt.want, tt.settles)
		}
	}
	if _, _, err := SignReceipt(hub, Receipt{}); testkit.Reason(err) != InvalidAmount {
		t.Errorf("a receipt of nothing: %v", err)
	}
}

func TestVoucher(t *testing.T) {
	hub := testkit.Agent(t, 2)
	rotated := testkit.Rotated(t, hub, testkit.Now)
	const window = uint64(VoucherWindow / time.Millisecond)
	for _, tt := range []struct {
		name     string
		notAfter uint64
		want     string
	}{
		{"signed just before the key retired", ms + window - 1, ""},
		{"signed when it was retired", ms + window, InvalidSignature},
		{"ends at the beginning of time", 0, ""},
	} {
		v := parse(t, ParseVoucher)(SignVoucher(hub, Voucher{Amount: 1, Network: Network(hub.AID()), NotAfter: tt.notAfter}))
		if got := testkit.Reason(v.Verify(rotated.History())); got != tt.want {
			t.Errorf("%s: reason = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPayloadHeader(t *testing.T) {
	payer := testkit.Agent(t, 1)
	wire, id, err := SignAuthorization(payer, Authorization{payer.AID(), "b", 1, "hub:b", "n", ms, ms + 1, ""})
	if err != nil {
		t.Fatal(err)
	}
	p := NewPayload(Requirements{Scheme: Scheme, Network: "hub:b", Amount: "1", Asset: Asset, PayTo: "b"}, wire)
	header, err := EncodeHeader(p)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, value string
		ok          bool
	}{
		{"base64 JSON", header, true},
		{"raw JSON", string(raw), true},
		{"nothing", "", false},
		{"garbage", "garbage", false},
		{"base64 of no JSON", codec.EncodeB64([]byte("x")), false},
		{"base64 of an empty object", codec.EncodeB64([]byte("{}")), false},
		{"version 1", codec.EncodeB64([]byte(`{"x402Version":1}`)), false},
		{"twins in case", `{"x402Version":2,"X402VERSION":2}`, false},
	} {
		got, err := ParsePayloadHeader(tt.value)
		if (err == nil) != tt.ok || err != nil && testkit.Reason(err) != MalformedPayment {
			t.Errorf("%s: error = %v, want ok %v", tt.name, err, tt.ok)
		}
		if !tt.ok {
			continue
		}
		if a, err := got.Authorization(); err != nil || a.ID() != id {
			t.Errorf("%s: authorization %s, %v, want %s", tt.name, a.ID(), err, id)
		}
	}
	p.Payload.Authorization = "%"
	if _, err := p.Authorization(); testkit.Reason(err) != MalformedPayment {
		t.Errorf("an authorization that is no base64: %v", err)
	}
}

func TestParseRequired(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"a quote", `{"x402Version":2,"accepts":[{"amount":"5"}],"other":1}`, true},
		{"two amounts", `{"x402Version":2,"accepts":[{"amount":"5","AMOUNT":"6"}]}`, false},
		{"an amount that is a number", `{"x402Version":2,"accepts":[{"amount":5}]}`, false},
		{"another version", `{"x402Version":1,"accepts":[]}`, false},
		{"no object", `[]`, false},
	} {
		if _, err := ParseRequired([]byte(tt.in)); (err == nil) != tt.ok {
			t.Errorf("%s: error = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestSettlementReceipt(t *testing.T) {
	hub := testkit.Agent(t, 2)
	wire, id, err := SignReceipt(hub, Receipt{AuthID: "x", Amount: 1, Network: Network(hub.AID()), SettleAt: ms})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, in string
		has, ok  bool
	}{
		{"a receipt", `{"success":true,"extensions":{"anet.settlement.receipt":"` + codec.EncodeB64(wire) + `"}}`, true, true},
		{"none", `{"success":false,"errorReason":"insufficient_funds","transaction":"","network":""}`, false, true},
		{"no text", `{"extensions":{"anet.settlement.receipt":5}}`, true, false},
		{"no base64", `{"extensions":{"anet.settlement.receipt":"%"}}`, true, false},
		{"no object", `{"extensions":{"anet.settlement.receipt":"AA=="}}`, true, false},
	} {
		s, err := ParseSettlement([]byte(tt.in))
		if err != nil {
			t.Fatal(err)
		}
		r, has, err := s.Receipt()
		if has != tt.has || (err == nil) != tt.ok || has && tt.ok && r.ID() != id {
			t.Errorf("%s: Receipt = %+v, %v, %v", tt.name, r, has, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	c := testkit.Agent(f, 1)
	wire, _, err := SignAuthorization(c, Authorization{c.AID(), "b", 1, "hub:b", "n", ms, ms + 1, "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	vectors.Seeds(f, "testdata/payment.json")
	vectors.Seeds(f, "testdata/payment-voucher.json")
	f.Add([]byte(`{"x402Version":2,"accepted":{"amount":"1"},"payload":{"authorization":"AA=="}}`))
	f.Add([]byte(`{"extensions":{"anet.settlement.receipt":"AA=="}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if a, err := ParseAuthorization(in); err == nil && a.Check() == nil && (a.Amount == 0 || a.Amount > MaxAmount) {
			t.Fatalf("amount %d passes", a.Amount)
		}
		if r, err := ParseReceipt(in); err == nil {
			_ = r.Verify(c.History())
		}
		if v, err := ParseVoucher(in); err == nil {
			_ = v.Verify(c.History())
		}
		_, _ = ParseRequired(in)
		if s, err := ParseSettlement(in); err == nil {
			_, _, _ = s.Receipt()
		}
		if p, err := ParsePayloadHeader(string(in)); err == nil {
			_, _ = p.Authorization()
		}
	})
}
