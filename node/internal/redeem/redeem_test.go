package redeem

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

// taker answers as it is told.
type taker struct{ err error }

func (t taker) TakeVoucher(_ context.Context, o node.VoucherOrder) (node.Redeemed, error) {
	return node.Redeemed{Capability: o.Capability, VoucherID: string(o.Voucher), Status: "OK"}, t.err
}

// Whatever is brought has an answer, with a status that says whose fault it is.
func TestHandler(t *testing.T) {
	const good = `{"voucher":"dg==","capability":"job","args":{"a":1}}`
	for _, tt := range []struct {
		name, method, body string
		err                error
		status             int
		says               string
	}{
		{"done", "POST", good, nil, 200, `"voucher_id":"v"`},
		{"looked at", "GET", "", nil, 405, "method_not_allowed"},
		{"nothing", "POST", "", nil, 400, "order_malformed"},
		{"no JSON", "POST", "voucher", nil, 400, "order_malformed"},
		{"a list", "POST", "[]", nil, 400, "order_malformed"},
		{"two of one name", "POST", `{"voucher":"dg==","Voucher":"dg==","capability":"job"}`, nil, 400, "order_malformed"},
		{"a voucher that is no base64", "POST", `{"voucher":"!","capability":"job"}`, nil, 400, "order_malformed"},
		{"too much", "POST", `{"capability":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "body_too_large"},
		{"a bad voucher", "POST", good, errs.New(errs.PaymentRequired, "voucher_invalid", "no"), 402, "voucher_invalid"},
		{"spent", "POST", good, errs.New(errs.Conflict, "voucher_spent", "no").With("result", map[string]string{"status": "OK"}), 409, `"status":"OK"`},
		{"not served", "POST", good, errs.New(errs.NotFound, "capability_not_served", "no"), 404, "capability_not_served"},
		{"busy", "POST", good, errs.New(errs.TooMany, "max_inflight", "no").After(1500 * time.Millisecond), 429, "max_inflight"},
		{"a broken disk", "POST", good, io.ErrUnexpectedEOF, 500, "internal error"},
	} {
		w := httptest.NewRecorder()
		Handler(taker{tt.err}, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(tt.method, "/redeem", strings.NewReader(tt.body)))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, w.Code, w.Body, tt.status, tt.says)
		}
		if tt.status == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "2" {
			t.Errorf("%s: Retry-After %q, want 2", tt.name, w.Header().Get("Retry-After"))
		}
		if strings.Contains(w.Body.String(), "EOF") {
			t.Errorf("%s shows the cause: %s", tt.name, w.Body)
		}
	}
}

// Who sends an order byte by byte, or announces one and never ends it, keeps out nobody
// who has paid: vouchers are good for ten minutes.
func TestSlowOrdersKeepNobodyOut(t *testing.T) {
	h := Handler(taker{}, slog.New(slog.DiscardHandler))
	var slow sync.WaitGroup
	defer slow.Wait()
	for range 8 * atOnce {
		r, w := io.Pipe()
		defer w.Close()
		slow.Go(func() {
			defer r.Close()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/redeem", r))
		})
		if _, err := io.WriteString(w, "{"); err != nil { // it is read, and waited for more of it
			t.Fatal(err)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/redeem", strings.NewReader(`{"voucher":"dg==","capability":"job"}`)))
	if w.Code != http.StatusOK {
		t.Errorf("beside slow orders: %d %s, want 200", w.Code, w.Body)
	}
}

// What arrives has a bound for all together, and its room is free again afterwards.
func TestRoomForOrders(t *testing.T) {
	space := semaphore.NewWeighted(64 << 10)
	first, second := order{room: space}, order{room: space}
	if err := first.read(strings.NewReader(strings.Repeat("x", 20<<10))); err != nil {
		t.Fatal(err)
	}
	if err := second.read(strings.NewReader(strings.Repeat("x", 20<<10))); !errs.Is(err, "busy") {
		t.Errorf("beyond the room: %v, want busy", err)
	}
	second.release()
	first.release()
	if !space.TryAcquire(64 << 10) {
		t.Error("room was not given back")
	}
}
