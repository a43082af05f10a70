package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/testkit/need"
)

// counter is the gateway as somebody meets it who has curl and a node that signs.
type counter struct {
	hub  *stage.InnerHub
	at   string // what is bought
	curl string
}

// ask sends payment headers as they are, from files: a long one fits on no command
// line.
func (c counter) ask(t *testing.T, at string, headers ...string) stage.Answer {
	t.Helper()
	args := []string{"-sS", "-i", at}
	for i, h := range headers {
		line := payment.HeaderSignature + ": " + h
		if h == "" {
			line = payment.HeaderSignature + ";" // how curl sends an empty one
		}
		args = append(args, "-H", "@"+stage.Write(t, filepath.Join(stage.Dir(t), fmt.Sprint(i)), line+"\n"))
	}
	out := stage.Run(t, stage.Patience, stage.Command{Name: "curl", Path: c.curl, Args: args})
	head, body, _ := strings.Cut(out.Out, "\r\n\r\n")
	a := stage.Answer{Header: http.Header{}, Body: []byte(body)}
	for i, line := range strings.Split(head, "\r\n") {
		if i == 0 {
			fmt.Sscanf(line, "HTTP/1.1 %d", &a.Status)
		} else if name, value, ok := strings.Cut(line, ": "); ok {
			a.Header.Add(name, value)
		}
	}
	if out.Code != 0 {
		t.Fatalf("curl: %s", out)
	}
	return a
}

// huge sends more than curl would.
func (c counter) huge(t *testing.T) stage.Answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, c.at, nil)
	stage.Must(t, err)
	r.Header.Set(payment.HeaderSignature, strings.Repeat("A", 1<<20))
	a, err := stage.Send(stage.NewClient(t), r)
	stage.Must(t, err)
	return a
}

// inHeader is what a payment header of an answer holds.
func inHeader[T any](t *testing.T, a stage.Answer, name string) (v T) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(a.Header.Get(name))
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		t.Errorf("%s: %v in %s %v", name, err, a, a.Header)
	}
	return v
}

func newCounter(t *testing.T) (c counter, seller *stage.Agent, n *stage.Node) {
	t.Helper()
	c = counter{hub: stage.HubInside(t), curl: need.Program(t, "curl")}
	seller = stall(t, &c.hub.Hub)
	n = buyer(t, &c.hub.Hub, seller.AID())
	c.at = c.hub.URL + "/x402/resource/" + seller.AID() + "/text.digest"
	return c, seller, n
}

// A payment header that is missing, broken or bad is each told apart, by curl as by
// any program: none looks like a fault of the hub, and nothing is booked.
func TestBrokenPaymentHeaders(t *testing.T) {
	t.Parallel()
	c, _, n := newCounter(t)
	quote := c.ask(t, c.at)
	if quote.Code() != "402 payment_required" || quote.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("without a payment: %s", quote)
	}
	good := strings.TrimSpace(n.OK("authorize", quote.Header.Get(payment.HeaderRequired), "--yes").Out)
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, tt := range []struct {
		why     string
		headers []string
		want    string
	}{
		{"an empty one", []string{""}, "400 malformed_payment"},
		{"garbage", []string{"garbage"}, "400 malformed_payment"},
		{"base64 of no JSON", []string{b64("garbage")}, "400 malformed_payment"},
		{"base64 of an empty object", []string{b64("{}")}, "400 malformed_payment"},
		{"version 1", []string{changed(t, good, func(p *payment.PaymentPayload) { p.X402Version = 1 })}, "400 malformed_payment"},
		{"a signature of zeros", []string{changed(t, good, zeroed(t))}, "402 invalid_signature"},
		{"a smaller amount", []string{changed(t, good, func(p *payment.PaymentPayload) { p.Accepted.Amount = "1" })}, "402 invalid_amount"},
		{"many kilobytes", []string{strings.Repeat("A", 20<<10)}, "400 malformed_payment"},
		{"two of them", []string{good, good}, "400 malformed_payment"},
	} {
		a := c.ask(t, c.at, tt.headers...)
		if a.Code() != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, a, tt.want)
			continue
		}
		if s := inHeader[payment.SettlementResponse](t, a, payment.HeaderResponse); s.Success || !strings.HasSuffix(tt.want, s.ErrorReason) {
			t.Errorf("%s: PAYMENT-RESPONSE says %+v", tt.why, s)
		}
	}
	if a := c.huge(t); a.Status < 400 || a.Status >= 500 {
		t.Errorf("a megabyte: %s", a)
	}
	credits(t, n, 100)
	if a := c.ask(t, c.at, good); a.Status != http.StatusOK {
		t.Errorf("the good one: %s", a)
	}
	credits(t, n, 95)
	audited(t, c.hub)
}

// changed is a payment header with something else in it.
func changed(t *testing.T, header string, change func(*payment.PaymentPayload)) string {
	t.Helper()
	p, err := payment.ParsePayloadHeader(header)
	stage.Must(t, err)
	change(&p)
	out, err := payment.EncodeHeader(p)
	stage.Must(t, err)
	return out
}

// zeroed puts zeros where the signature is: an authorization ends with it.
func zeroed(t *testing.T) func(*payment.PaymentPayload) {
	return func(p *payment.PaymentPayload) {
		raw, err := base64.StdEncoding.DecodeString(p.Payload.Authorization)
		stage.Must(t, err)
		a, err := p.Authorization()
		stage.Must(t, err)
		at := strings.LastIndex(string(raw), string(a.Env.Sig))
		clear(raw[at : at+len(a.Env.Sig)])
		p.Payload.Authorization = base64.StdEncoding.EncodeToString(raw)
	}
}

// One payment in twenty hands at once is one booking and one voucher, which later
// comes again; it buys nothing else from anybody.
func TestParallelUseOfOnePayment(t *testing.T) {
	t.Parallel()
	c, seller, n := newCounter(t)
	other := stall(t, &c.hub.Hub)
	pay := strings.TrimSpace(n.OK("authorize", c.ask(t, c.at).Header.Get(payment.HeaderRequired), "--yes").Out)
	vouchers := map[string]int{}
	var mu sync.Mutex
	bring := func() {
		a := c.ask(t, c.at, pay)
		var sold struct{ Voucher string }
		_ = a.Read(&sold)
		mu.Lock()
		defer mu.Unlock()
		vouchers[fmt.Sprint(a.Status, " ", sold.Voucher)]++
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(bring)
	}
	all.Wait()
	bring()
	if got := slices.Collect(maps.Keys(vouchers)); len(got) != 1 || !strings.HasPrefix(got[0], "200 ") || len(got[0]) < 100 {
		t.Errorf("the answers: %v, want one voucher", vouchers)
	}
	base := c.hub.URL + "/x402/resource/"
	for at, want := range map[string]string{
		base + seller.AID() + "/text.other": "409 payment_spent",
		base + other.AID() + "/text.digest": "402 payee_mismatch",
	} {
		if a := c.ask(t, at, pay); a.Code() != want {
			t.Errorf("the same payment at %s: %s, want %s", at, a, want)
		}
	}
	credits(t, n, 95)
	audited(t, c.hub)
}
