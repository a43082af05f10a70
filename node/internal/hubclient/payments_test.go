package hubclient

import (
	"io"
	"net/http"
	"testing"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/task"
)

// After a settlement that failed it must be clear whether its outcome is known: an
// answer of the ledger is one, whatever its status, and nothing else is.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		reason string // of the answer
		known  bool
	}{
		{"settled", 200, `{"success":true,"transaction":"t","network":"n"}`, "", true},
		{"refused", 200, `{"success":false,"errorReason":"insufficient_funds","transaction":"t","network":"n"}`, "insufficient_funds", true},
		{"pending", 200, `{"success":false,"errorReason":"settlement_pending","transaction":"t","network":"n"}`, "settlement_pending", true},
		{"a wrong request", 400, `{"error":"no","code":"malformed_payment","success":false,"errorReason":"malformed_payment","transaction":"","network":""}`, "malformed_payment", true},
		{"a wrong request that says it moved", 400, `{"success":true,"errorReason":"malformed_payment","transaction":"","network":""}`, "malformed_payment", true},
		{"400 of a proxy", 400, `<html>bad request</html>`, "", false},
		{"400 with another reason", 400, `{"error":"no","code":"odd","errorReason":"odd"}`, "", false},
		{"no such route", 404, `404 page not found`, "", false},
		{"busy", 503, `{"error":"busy","code":"busy"}`, "", false},
		{"broken", 500, `{"error":"internal error","code":"internal"}`, "", false},
		{"no JSON", 200, `ok`, "", false},
	} {
		h := newHub(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status); io.WriteString(w, tt.body) })
		c := joined(t, h, controller(t))
		got, err := c.Settle(t.Context(), payment.FacilitatorRequest{X402Version: 2})
		if (err == nil) != tt.known || got.ErrorReason != tt.reason && tt.known || got.Success && tt.status != 200 {
			t.Errorf("%s: %+v, %v; want the outcome known: %v", tt.name, got, err, tt.known)
		}
		if e := errs.As(err); e != nil && e.Kind == errs.Invalid && task.Reason(e.Reason).Known() {
			t.Errorf("%s: %v counts as the ledger's refusal", tt.name, err)
		}
	}
}

// A hub without a ledger supports nothing, and says so in any way.
func TestSupported(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kinds  int
		fails  bool
	}{
		{"a ledger", 200, `{"kinds":[{"x402Version":2,"scheme":"anet-credit","network":"hub:h"}],"extensions":[],"signers":{}}`, 1, false},
		{"no such route", 404, `404 page not found`, 0, false},
		{"no such route, as a hub says it", 404, `{"error":"no such route","code":"route_unknown"}`, 0, false},
		{"down", 503, `{"error":"busy"}`, 0, true},
	} {
		h := newHub(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status); io.WriteString(w, tt.body) })
		got, err := joined(t, h, controller(t)).Supported(t.Context())
		if len(got.Kinds) != tt.kinds || (err != nil) != tt.fails {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}

// Accounts are read as their owner, by a signature for exactly that.
func TestAccountsAreReadAsTheirOwner(t *testing.T) {
	h := newHub(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"aid":"a","credits":7,"entries":[]}`)
	})
	c := joined(t, h, controller(t))
	if b, err := c.Balance(t.Context()); err != nil || b.Credits != 7 || h.last(t).claim.Sig == nil {
		t.Errorf("balance %+v, %v", b, err)
	}
	if _, err := c.Ledger(t.Context(), 5); err != nil || h.last(t).claim.Sig == nil || h.last(t).target[len(h.last(t).target)-8:] != "?limit=5" {
		t.Errorf("ledger: %v, asked %s", err, h.last(t).target)
	}
}
