package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/payment"
)

// between is a way to a server on which answers get lost: the server has done what it
// was asked, and whoever asked never learns. lose may take its time.
func between(t *testing.T, far string, lose func(*http.Request) bool) string {
	t.Helper()
	to, err := url.Parse(far)
	stage.Must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		if lose(r.Request) {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// beside starts a command of a node that is not waited for.
func beside(t *testing.T, n *stage.Node, args ...string) *stage.Process {
	t.Helper()
	return stage.Start(t, stage.Command{Name: args[1], Path: stage.Binary(t, "anet"), Args: args, Env: []string{"ANET_DATA_DIR=" + n.Dir}})
}

// purchase is what voucher buy prints.
type purchase struct {
	Voucher     []byte `json:"voucher"`
	Transaction string `json:"transaction"`
	RedeemAt    string `json:"redeem_at"`
	Receipt     string `json:"receipt_verified"`
}

// A purchase whose answer is lost, or whose buyer is killed before it, is gone on with
// and paid once; two at the same time are two.
func TestBuyingThroughLosses(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	seller := stall(t, &hub.Hub)
	n := buyer(t, &hub.Hub, seller.AID())
	var losses atomic.Int32
	held, release := make(chan struct{}), make(chan struct{})
	gateway := between(t, hub.URL, func(r *http.Request) bool {
		if r.Header.Get(payment.HeaderSignature) == "" {
			return false
		}
		switch losses.Add(-1) {
		case 10:
			close(held)
			<-release
			return true
		case 0, 1:
			return true
		}
		return false
	})
	at := gateway + "/x402/resource/" + seller.AID() + "/text.digest"
	buy := func(args ...string) (b purchase) {
		t.Helper()
		if code := n.JSON(&b, append([]string{"voucher", "buy", at}, args...)...); code != 0 || len(b.Voucher) == 0 || b.Receipt != "verified" {
			t.Errorf("exit %d, %+v", code, b)
		}
		return b
	}
	losses.Store(2)
	first := buy("--yes")
	credits(t, n, 95)

	losses.Store(11)
	p := beside(t, n, "voucher", "buy", at, "--yes")
	<-held
	p.Kill()
	close(release)
	losses.Store(0)
	if again := buy(); again.Transaction == first.Transaction { // nobody is asked: it was agreed to
		t.Error("what was bought before was sold once more")
	}
	credits(t, n, 90)

	var both sync.WaitGroup
	var two [2]purchase
	for i := range two {
		both.Go(func() { two[i] = buy("--yes") })
	}
	both.Wait()
	if two[0].Transaction == two[1].Transaction {
		t.Error("two purchases at once are one")
	}
	credits(t, n, 80)
	if left, err := os.ReadDir(filepath.Join(n.Dir, "purchases")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	audited(t, hub)
}

// redeemed is what voucher redeem prints.
type redeemed struct {
	Effect      string `json:"effect_status"`
	Reason      string `json:"reason"`
	SpentBefore bool   `json:"spent_before"`
	Code        string `json:"code"`
}

// A call whose answer is lost is done once, and what came of it is told to who asks
// again: after a lost answer, a kill of the buyer, a kill of the seller, and to two at
// the same time.
func TestRedeemingThroughLosses(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	var hold atomic.Pointer[chan struct{}]
	program := stage.StartProgram(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		if wait := hold.Load(); wait != nil {
			<-*wait
		}
		w.Write([]byte(`{"done":1}`))
	})
	config := redeemer(t, program)
	config.Public = []any{map[string]any{"id": "p.sold", "per_caller_inflight": 4}, "p.kept"}
	seller := stage.StartNode(t, &hub.Hub, config)
	n := buyer(t, &hub.Hub, seller.AID)
	buy := func() (file string, b purchase) {
		t.Helper()
		out := n.OK("voucher", "buy", seller.AID, "p.sold", "--yes", "--json").Out
		stage.Must(t, json.Unmarshal([]byte(out), &b))
		return stage.Write(t, filepath.Join(stage.Dir(t), "v.json"), out), b
	}
	want := func(code int, effect string, before bool, args ...string) {
		t.Helper()
		var r redeemed
		if got := n.JSON(&r, append([]string{"voucher", "redeem"}, args...)...); got != code || r.Effect != effect || r.SpentBefore != before {
			t.Errorf("exit %d, %+v; want exit %d, %s, spent before %v", got, r, code, effect, before)
		}
	}
	file, sold := buy()
	var lost atomic.Bool
	door := between(t, sold.RedeemAt, func(*http.Request) bool { return lost.CompareAndSwap(false, true) })
	want(0, "OK", true, "--file", file, "--at", door)

	// The buyer is killed while the call is at work.
	wait := make(chan struct{})
	hold.Store(&wait)
	file, _ = buy()
	p := beside(t, n, "voucher", "redeem", "--file", file)
	stage.Until(t, stage.Patience, "the call is at work", func() bool { return program.Total() == 2 })
	p.Kill()
	want(8, "", false, "--file", file, "--wait", "1500ms")
	close(wait)
	want(0, "OK", true, "--file", file)

	// Two bring it at the same time.
	hold.Store(nil)
	file, _ = buy()
	var both sync.WaitGroup
	var two [2]redeemed
	for i := range two {
		both.Go(func() { n.JSON(&two[i], "voucher", "redeem", "--file", file) })
	}
	both.Wait()
	if two[0].Effect != "OK" || two[1].Effect != "OK" || two[0].SpentBefore == two[1].SpentBefore {
		t.Errorf("two at once: %+v", two)
	}

	// The seller is killed in the middle of the work.
	wait = make(chan struct{})
	hold.Store(&wait)
	file, _ = buy()
	p = beside(t, n, "voucher", "redeem", "--file", file, "--json")
	stage.Until(t, stage.Patience, "the call is at work", func() bool { return program.Total() == 4 })
	seller.Kill()
	close(wait)
	seller.Up()
	if p.Wait(t); p.Code() != 6 {
		t.Errorf("the seller was killed, and redeem ended with %d:\n%s", p.Code(), p.Log())
	}
	want(6, "UNVERIFIED", true, "--file", file)
	if program.Total() != 4 {
		t.Errorf("%d effects of four vouchers", program.Total())
	}
	credits(t, n, 80)
	audited(t, hub)
}
