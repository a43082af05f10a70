package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
)

// The steps of a payment at which something is killed.
const (
	quoted  = "quoted"  // the buyer was told the price
	signed  = "signed"  // the buyer has signed; the seller need not know yet
	brought = "brought" // the seller asks the hub to settle, which has not heard it
	settled = "settled" // the hub has settled, and the seller has not heard it
	working = "working" // the seller works
)

// trade is a sale through a gate before the hub and a program behind the seller, at
// which each step is noticed while it happens.
type trade struct {
	hub           *stage.HubProcess
	seller, buyer *stage.Node
	program       *stage.Program

	mu     sync.Mutex
	step   string
	strike func()
	struck chan struct{}
}

func newTrade(t *testing.T) *trade {
	t.Helper()
	tr := &trade{hub: stage.StartHub(t, stage.HubConfig{})}
	to, err := url.Parse(tr.hub.URL)
	stage.Must(t, err)
	gate := httptest.NewServer(tr.gate(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
		ModifyResponse: func(a *http.Response) error {
			if a.Request.URL.Path == "/x402/settle" && tr.at(settled) {
				return http.ErrAbortHandler // the answer is lost with what was killed
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}))
	t.Cleanup(gate.Close)
	tr.program = stage.StartProgram(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		tr.at(working)
		w.Write([]byte(`{"done":1}`))
	})
	through := &stage.Hub{URL: gate.URL, AID: tr.hub.AID}
	busy := shop(tr.program)
	busy.Public = []any{map[string]any{"id": "p.sold", "per_caller_per_min": 1000, "per_caller_per_day": 1000, "global_per_min": 1000}}
	tr.seller = stage.StartNode(t, through, busy)
	tr.buyer = stage.StartNode(t, through, stage.NodeConfig{Name: "buyer", More: map[string]any{"payments": map[string]any{"daily_max": 1000}}})
	credits(t, tr.seller, 100)
	credits(t, tr.buyer, 100)
	return tr
}

func (tr *trade) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/x402/settle" {
			tr.at(brought)
		}
		next.ServeHTTP(w, r)
	})
}

// aim says what is killed at which step, once.
func (tr *trade) aim(step string, kill func()) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.step, tr.strike, tr.struck = step, kill, make(chan struct{})
}

// at kills what is to be killed at a step, and reports whether it did.
func (tr *trade) at(step string) bool {
	tr.mu.Lock()
	if tr.step != step {
		tr.mu.Unlock()
		return false
	}
	tr.step = ""
	tr.mu.Unlock()
	tr.strike()
	close(tr.struck)
	return true
}

// buy asks for a call, pays it, and brings back what was killed meanwhile.
func (tr *trade) buy(t *testing.T, step string, kill, again func()) (id string) {
	t.Helper()
	tr.aim(step, kill)
	var asked app.Task
	tr.buyer.JSON(&asked, "delegate", tr.seller.AID, "--capability", "p.sold")
	id = asked.ID
	stage.Until(t, stage.Patience, "the price is told", func() bool {
		task := tr.buyer.Task(id)
		return task.Payment != nil && task.Payment.Status == "required"
	})
	if tr.at(quoted) {
		again()
	}
	tr.buyer.OK("pay", id, "--yes")
	tr.at(signed)
	select {
	case <-tr.struck:
	case <-time.After(stage.Patience):
		t.Fatalf("nobody ever came to the step %q", step)
	}
	if step != quoted {
		again()
	}
	return id
}

// Whatever is killed, and at whichever step of a payment: it moves once, nobody works
// for nothing, both sides end up with the same receipt, and the books of the hub hold.
func TestKillsAtEveryStepOfAPayment(t *testing.T) {
	t.Parallel()
	tr := newTrade(t)
	victims := []struct {
		name        string
		kill, again func()
	}{
		{"the hub", func() { tr.hub.Kill() }, func() { tr.hub.Again(t) }},
		{"its database", func() { killDatabase(t, tr.hub) }, func() { tr.hub.Ready(t, stage.Patience) }},
		{"the seller", func() { tr.seller.Kill() }, func() { tr.seller.Up() }},
		{"the buyer", func() { tr.buyer.Kill() }, func() { tr.buyer.Up() }},
	}
	paid := uint64(0)
	for _, v := range victims {
		for _, step := range []string{quoted, signed, brought, settled, working} {
			start := time.Now()
			id := tr.buy(t, step, v.kill, v.again)
			tr.ended(t, v.name+" at "+step, id)
			paid += 5
			t.Logf("%s, killed at %q: over after %s", v.name, step, time.Since(start).Round(time.Millisecond))
		}
	}
	credits(t, tr.buyer, 100-paid)
	credits(t, tr.seller, 100+paid)
	audited(t, tr.hub)
}

// ended compares what both sides hold of a call, and what was done for it.
func (tr *trade) ended(t *testing.T, when, id string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	bought, sold := tr.buyer.EndedBefore(deadline, id), tr.seller.EndedBefore(deadline, id)
	if bought.Payment == nil || bought.Payment.Status != "paid" || sold.Payment == nil || sold.Payment.Status != "paid" ||
		len(bought.Payment.Receipt) == 0 || !slices.Equal(bought.Payment.Receipt, sold.Payment.Receipt) {
		t.Errorf("%s: payments %+v and %+v, want one receipt with both", when, bought.Payment, sold.Payment)
	}
	switch outcome := stage.Outcome(bought); {
	case outcome == "completed OK verified" && tr.program.Effects(id) == 1:
	case outcome == "completed UNVERIFIED interrupted verified" && tr.program.Effects(id) <= 1: // nobody knows what became of the work
	default:
		t.Errorf("%s: %s after %d effects", when, outcome, tr.program.Effects(id))
	}
}
