package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/payment"
)

// The same where the ledger is of a hub that does not say whom it credited.
func TestAPayeeOfBothHubsIsPaidOnceWhateverIsSaid(t *testing.T) {
	a, b := newTown(t), newTown(t)
	between := httptest.NewServer(saysLess(a.base))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)
	if s := w.settle(w.pays(25)); s["success"] != true || w.b.credits(w.bob) != 125 {
		t.Fatalf("an agent of b alone: %v, bob has %v", s, w.b.credits(w.bob))
	}
	w.a.call("200", w.bob, "/register", w.bob.Register("bob"))
	w.a.granted(w.bob)
	if s := w.settle(w.pays(25)); s["success"] != true {
		t.Fatalf("%v", s)
	}
	if a, b := w.a.credits(w.bob), w.b.credits(w.bob); a != 125 || b != 125 {
		t.Errorf("bob has %v at a and %v at b, want 125 and 125", a, b)
	}
	w.even(25)
}

// saysLess leaves out of settlements what other hubs do not say.
func saysLess(target string) http.Handler {
	u, _ := url.Parse(target)
	proxy := httputil.NewSingleHostReverseProxy(u)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/x402/settle" {
			proxy.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		var s payment.SettlementResponse
		_ = json.Unmarshal(rec.Body.Bytes(), &s) // what is none passes as none
		delete(s.Extensions, "anet.payee")
		w.WriteHeader(rec.Code)
		_, _ = w.Write([]byte(text(s)))
	})
}

// wire between two hubs that loses answers.
type lossy struct{ cut atomic.Bool }

func (l *lossy) before(target string) http.Handler {
	u, _ := url.Parse(target)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ModifyResponse = func(r *http.Response) error {
		if l.cut.Load() && strings.HasPrefix(r.Request.URL.Path, "/x402/settle") {
			panic(http.ErrAbortHandler) // it arrived, and nobody hears of it
		}
		return nil
	}
	return proxy
}

// Number 56: an answer that was lost leaves the outcome open, and the same payment
// finds it out; nobody is paid twice or not at all.
func TestALostAnswerIsPending(t *testing.T) {
	a, b, line := newTown(t), newTown(t), &lossy{}
	between := httptest.NewServer(line.before(a.base))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)
	line.cut.Store(true)
	p := w.pays(25)
	for range 2 {
		if s := w.settle(p); s["errorReason"] != payment.SettlementPending || s["transaction"] != p.ID(t) {
			t.Errorf("%v", s)
		}
	}
	if w.a.credits(w.alice) != 75 || w.b.credits(w.bob) != 100 {
		t.Errorf("alice has %v, bob %v", w.a.credits(w.alice), w.b.credits(w.bob))
	}
	w.deaf(p)
	line.cut.Store(false)
	if s := w.settle(p); s["success"] != true {
		t.Errorf("afterwards: %v", s)
	}
	if w.a.credits(w.alice) != 75 || w.b.credits(w.bob) != 125 {
		t.Errorf("alice has %v, bob %v, want 75 and 125", w.a.credits(w.alice), w.b.credits(w.bob))
	}
	w.even(25)
}

// liar is a hub whose receipts are not what they should be.
type liar struct {
	answer atomic.Pointer[payment.SettlementResponse]
}

func (l *liar) before(target string) http.Handler {
	u, _ := url.Parse(target)
	proxy := httputil.NewSingleHostReverseProxy(u)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := l.answer.Load(); s != nil && r.URL.Path == "/x402/settle" {
			_, _ = w.Write([]byte(text(s)))
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// Numbers 55 and 56: only a receipt by that hub for this payment is worth credits.
func TestReceiptsOfPeersAreHeldToThePayment(t *testing.T) {
	a, b, says := newTown(t), newTown(t), &liar{}
	between := httptest.NewServer(says.before(a.base))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)
	p := w.pays(25)
	good := payment.Receipt{AuthID: p.ID(t), Payer: w.alice.AID(), PayTo: w.bob.AID(), Amount: 25, Network: payment.Network(a.hub), SettleAt: uint64(time.Now().UnixMilli())}
	for _, c := range []struct {
		why    string
		by     *directorytest.Node
		change func(*payment.Receipt)
	}{
		{"signed by somebody else", w.alice, func(*payment.Receipt) {}},
		{"of another payment", a.self(), func(r *payment.Receipt) { r.AuthID = "bafyrei" }},
		{"of another amount", a.self(), func(r *payment.Receipt) { r.Amount = 26 }},
		{"of another payer", a.self(), func(r *payment.Receipt) { r.Payer = w.bob.AID() }},
		{"of another payee", a.self(), func(r *payment.Receipt) { r.PayTo = b.hub }},
		{"of another network", a.self(), func(r *payment.Receipt) { r.Network = payment.Network(b.hub) }},
	} {
		r := good
		c.change(&r)
		signed, _, err := payment.SignReceipt(c.by.Key, r)
		if err != nil {
			t.Fatal(err)
		}
		says.answer.Store(&payment.SettlementResponse{Success: true, Transaction: r.AuthID, Network: good.Network,
			Extensions: payment.Extensions{payment.ExtReceipt: []byte(text(signed))}})
		if s := w.settle(p); s["errorReason"] != payment.SettlementPending {
			t.Errorf("%s: %v", c.why, s)
		}
	}
	says.answer.Store(&payment.SettlementResponse{Success: true, Transaction: good.AuthID, Network: good.Network})
	if s := w.settle(p); s["errorReason"] != payment.SettlementPending {
		t.Errorf("without a receipt: %v", s)
	}
	if w.b.credits(w.bob) != 100 {
		t.Errorf("bob has %v", w.b.credits(w.bob))
	}
	says.answer.Store(nil)
	if s := w.settle(p); s["success"] != true || w.b.credits(w.bob) != 125 {
		t.Errorf("the truth: %v, bob has %v", s, w.b.credits(w.bob))
	}
	w.even(25)
}
