package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Number 56: what a payee's hub brings to the payer's is what it was brought, with
// members that it does not read.
func TestAPaymentGoesOnUnchanged(t *testing.T) {
	a, b := newTown(t), newTown(t)
	seen := make(chan []byte, 1)
	u, err := url.Parse(a.base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/x402/settle" {
			body, _ := io.ReadAll(r.Body)
			seen <- body
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(w, r)
	}))
	defer between.Close()
	a.befriend(b.base, b.self())
	b.befriend(between.URL, a.self())
	w := clearing(t, a, b, 1000)

	want := anything(t, []byte(text(w.pays(25).Request(t))))
	payload, extra := want["paymentPayload"].(map[string]any), map[string]any{"name": "credits"}
	payload["resource"] = map[string]any{"url": "https://shop.example/report"}
	payload["accepted"].(map[string]any)["extra"] = extra
	want["paymentRequirements"].(map[string]any)["extra"] = extra
	if s := w.b.post("200", "/x402/settle", want); s.body["success"] != true {
		t.Fatalf("%v", s.body)
	}
	if got := text(anything(t, <-seen)); got != text(want) {
		t.Errorf("it was brought\n%s\nand brings\n%s", text(want), got)
	}
}

func anything(t *testing.T, raw []byte) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
