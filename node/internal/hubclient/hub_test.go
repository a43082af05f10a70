package hubclient

import (
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/relayauth"
	"github.com/anet-hub/anet/shared/wire"
)

// seen is one request as it reached the hub.
type seen struct {
	method, target, body string
	claim                relayauth.Claim
	header               http.Header
}

// fakeHub says who it is, checks no rule and answers as it is told.
type fakeHub struct {
	*httptest.Server
	key *identity.Controller

	mu       sync.Mutex
	requests []seen
	conns    int
	answer   http.HandlerFunc // of every route but the identity's
	wire     string
}

func newHub(t *testing.T, answer http.HandlerFunc) *fakeHub {
	t.Helper()
	h := &fakeHub{key: controller(t), answer: answer, wire: "2"}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ConnState = h.count
	h.Start()
	t.Cleanup(h.Close)
	return h
}

func (h *fakeHub) count(_ net.Conn, s http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s == http.StateNew {
		h.conns++
	}
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hub/identity" {
		io.WriteString(w, `{"aid":"`+h.key.AID()+`","kel":"`+codec.EncodeB64(h.key.KEL())+`"}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	claim, _ := relayauth.ParseHeaders(r.Header)
	h.mu.Lock()
	h.requests = append(h.requests, seen{r.Method, r.URL.RequestURI(), string(body), claim, r.Header})
	h.mu.Unlock()
	if h.wire != "" {
		w.Header().Set(wire.HeaderVersion, h.wire)
	}
	h.answer(w, r)
}

func (h *fakeHub) last(t *testing.T) seen {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.requests) == 0 {
		t.Fatal("nothing reached the hub")
	}
	return h.requests[len(h.requests)-1]
}

// says answers everything with one JSON text.
func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func controller(t *testing.T) *identity.Controller {
	t.Helper()
	c, err := identity.NewController(rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// joined is a client of the hub with an identity.
func joined(t *testing.T, h *fakeHub, node *identity.Controller) *Client {
	t.Helper()
	c, err := New(Options{
		Hub:    Pin{URL: h.URL, AID: h.key.AID(), KEL: h.key.KEL()},
		Signer: func() *identity.Controller { return node },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
