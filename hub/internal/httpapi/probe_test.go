package httpapi

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

func (f *fixture) probe(as *identity.Controller, body string, change func(*http.Request)) map[string]any {
	r := httptest.NewRequest(http.MethodPost, "/hub/probe", strings.NewReader(body))
	relayauth.Sign(as, wire.ActionProbe, f.hub.AID(), r, []byte(body), uint64(testNow.UnixMilli()))
	change(r)
	_, answer := f.do(r)
	return answer
}

// The hub's own operator is told how a request arrives, and nobody else.
func TestProbe(t *testing.T) {
	f := newFixture(t)
	body := f.probe(f.hub, "some bytes", func(r *http.Request) {
		r.RemoteAddr = "127.0.0.1:9"
		r.Header.Set("X-Real-IP", "2001:db8:1:2::3")
	})
	want := map[string]any{"client": "2001:db8:1:2::/64", "peer": "127.0.0.1", "peer_trusted": true, "proxy_header": "X-Real-Ip",
		"bytes": 10.0, "hub_time_ms": float64(testNow.UnixMilli())}
	if !maps.Equal(body, want) {
		t.Errorf("%+v, want %+v", body, want)
	}
	for code, ask := range map[string]func() map[string]any{
		"not_the_owner": func() map[string]any { return f.probe(f.agent, "", func(*http.Request) {}) },
		"bad_signature": func() map[string]any { return f.probe(f.hub, "", func(r *http.Request) { r.RequestURI += "?wait" }) },
		"body_too_large": func() map[string]any {
			return f.probe(f.hub, strings.Repeat(" ", maxSignedBody+1), func(*http.Request) {})
		},
	} {
		if body := ask(); body["code"] != code {
			t.Errorf("%v, want %s", body, code)
		}
	}
}

// A hub that stops does not wait for who waits.
func TestProbesEndWithTheHub(t *testing.T) {
	f := newFixture(t)
	answered := make(chan map[string]any)
	go func() {
		r := httptest.NewRequest(http.MethodPost, "/hub/probe?wait", nil)
		relayauth.Sign(f.hub, wire.ActionProbe, f.hub.AID(), r, nil, uint64(testNow.UnixMilli()))
		_, answer := f.do(r)
		answered <- answer
	}()
	f.api.Close()
	if got := <-answered; got["bytes"] != 0.0 {
		t.Errorf("%v", got)
	}
}
