package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit"
)

// sold is a voucher of the hub for a call at another agent.
func (h *hub) sold(t *testing.T, edit func(*payment.Voucher)) string {
	t.Helper()
	v := payment.Voucher{
		AuthID: "auth", Payer: somebody, PayTo: testkit.Agent(t, 3).AID(), Capability: "text.digest", Amount: 5,
		Network: payment.Network(h.key.AID()), NotAfter: uint64(time.Now().Add(payment.VoucherWindow).UnixMilli()), Nonce: strings.Repeat("a", 32),
	}
	if edit != nil {
		edit(&v)
	}
	raw, _, err := payment.SignVoucher(h.key, v)
	must(t, err)
	return codec.EncodeB64(raw)
}

// shop answers every order with a status and a body.
func shop(t *testing.T, status int, body string) (url string, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		var order struct{ Voucher, Capability string }
		must(t, json.NewDecoder(r.Body).Decode(&order))
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// The exit code of a redemption is that of any call, and its words say what it is
// worth.
func TestVoucherRedeem(t *testing.T) {
	h := newHub(t, 7)
	p := newPerson(t)
	p.wants(exitDone, "join", h.URL)
	for _, tt := range []struct {
		status int
		body   string
		code   int
		says   string
	}{
		{200, `{"status":"OK","digest":"2cf2\u001b[31m"}`, exitDone, "receipt   none"},
		{200, `{"status":"UNVERIFIED","reason":"timeout"}`, exitUnverified, "check before you buy it again"},
		{200, `{"status":"FAILED","reason":"refused_by_service","message":"no\u001b[31m"}`, exitFailed, "refused_by_service"},
		{200, `{"status":"UNAVAILABLE"}`, exitRefused, "UNAVAILABLE"},
		{200, `hello`, exitUnverified, "may have been done"},
		{409, `{"code":"voucher_spent","result":{"status":"OK"}}`, exitDone, "spent before; this is what came of it"},
		{409, `{"error":"spent"}`, exitUnverified, "spent before"},
		{402, `{"error":"the voucher does not do\u001b[31m","code":"voucher_invalid"}`, exitRefused, "does not do"},
		{302, ``, exitRefused, "--at URL"},
		{500, ``, exitUnverified, "may have been done"},
	} {
		at, asked := shop(t, tt.status, tt.body)
		out, says := p.wants(tt.code, "voucher", "redeem", h.sold(t, nil), "--at", at, "--args", `{"text":"hello"}`)
		if all := out + says; !strings.Contains(all, tt.says) || strings.Contains(all, "\x1b") || *asked != 1 {
			t.Errorf("%d %s: %s, asked %d times; want %q", tt.status, tt.body, all, *asked, tt.says)
		}
	}
	at, _ := shop(t, 200, `{"status":"OK","n":1}`)
	out, _ := p.wants(exitDone, "voucher", "redeem", h.sold(t, nil), "--at", at, "--json")
	got := decoded[redemption](t, out)
	if got.Effect != "OK" || got.Capability != "text.digest" || got.Amount != "5" || got.Receipt != "unknown" || !strings.Contains(string(got.Deliverable), `"n": 1`) {
		t.Errorf("%s", out)
	}
}

// Nobody has a voucher that this program would not redeem.
func TestVoucherIsCheckedFirst(t *testing.T) {
	h, other := newHub(t, 7), newHub(t, 8)
	p := newPerson(t)
	p.wants(exitDone, "join", h.URL)
	at, asked := shop(t, 200, `{"status":"OK"}`)
	good := h.sold(t, nil)
	late := h.sold(t, func(v *payment.Voucher) { v.NotAfter -= uint64((15 * time.Minute).Milliseconds()) })
	file := filepath.Join(t.TempDir(), "v.json")
	must(t, os.WriteFile(file, []byte(`{"voucher":"`+good+`","redeem_at":"http://shop.example/"}`), 0o600))
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"", exitUse, "a voucher is missing"},
		{good + " --file " + file, exitUse, "once"},
		{"- --args-file -", exitUse, "both come from stdin"},
		{good + " --args [1]", exitUse, "one JSON object"},
		{good + " --wait 0s", exitUse, "such as 30s"},
		{"hello", exitUse, "this is no voucher"},
		{late + " --at " + at, exitRefused, "could be redeemed until"},
		{other.sold(t, nil) + " --at " + at, exitRefused, "nothing of it can be verified"},
		{other.sold(t, func(v *payment.Voucher) { v.Network = payment.Network(h.key.AID()) }) + " --at " + at, exitRefused, "did not sign this voucher"},
		{good + " --at ftp://x", exitUse, "no address"},
		{good + " --at http://shop.example", exitUse, "not encrypted"},
		{"--file " + file, exitRefused, "not encrypted"},
		{good, exitRefused, "say it: --at URL"},
	} {
		_, says := p.wants(tt.code, append([]string{"voucher", "redeem"}, strings.Fields(tt.args)...)...)
		if !strings.Contains(says, tt.says) {
			t.Errorf("%s: says %q, want %q", tt.args, says, tt.says)
		}
	}
	if *asked != 0 {
		t.Errorf("the seller was asked %d times", *asked)
	}
	if p.wants(exitDone, "voucher", "redeem", late, "--late", "--at", at); *asked != 1 {
		t.Error("a late one was not brought where that was wanted")
	}
	stranger := newPerson(t)
	stranger.wants(exitDone, "init")
	if _, says := stranger.wants(exitRefused, "voucher", "redeem", good, "--at", at); !strings.Contains(says, "anet join URL") {
		t.Errorf("without a hub it says %q", says)
	}
}

// What cannot be bought is told before anybody is asked for anything.
func TestVoucherBuyIsCheckedFirst(t *testing.T) {
	h := newHub(t, 7)
	p := newPerson(t)
	p.wants(exitDone, "join", h.URL)
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"", exitUse, "is missing"},
		{somebody, exitUse, "an AID and a capability"},
		{"bafy text.digest", exitUse, "no full AID"},
		{somebody + " text.digest --yes --agent", exitUse, "give one"},
		{somebody + " text.digest --max 0", exitUse, "from 1 on"},
		{somebody + " text.digest --wait 0s", exitUse, "such as 30s"},
		{"http://hub.example/x402/resource/" + somebody + "/text.digest", exitUse, "not encrypted"},
		{"ftp://hub.example/", exitUse, "no address"},
		{h.URL + "/healthz", exitRefused, "costs nothing"},
		{somebody + " text.digest --yes", exitRefused, "the gateway refused (404)"},
	} {
		if _, says := p.wants(tt.code, append([]string{"voucher", "buy"}, strings.Fields(tt.args)...)...); !strings.Contains(says, tt.says) {
			t.Errorf("%s: says %q, want %q", tt.args, says, tt.says)
		}
	}
}

// Clearing between hubs is of no help at a gateway, so that is not what is said there.
func TestWhatNoGatewaySellsIsCalledInstead(t *testing.T) {
	for _, reason := range []string{"rail_not_payable", "agent_unknown"} {
		err := ofAnotherHub(errs.New(errs.Forbidden, reason, "why"))
		if !errs.Is(err, reason) || errs.KindOf(err) != errs.Forbidden || !strings.Contains(err.Error(), "anet delegate AID") {
			t.Errorf("%s becomes %v", reason, err)
		}
	}
	if err := ofAnotherHub(errs.New(errs.Forbidden, "not_sold_here", "why")); err.Error() != "why" {
		t.Errorf("a call that nobody sells becomes %v", err)
	}
}
