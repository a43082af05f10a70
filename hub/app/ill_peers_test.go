package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/shared/wire"
)

// The answer of the other hub is lost when it has the message already: the sender
// is told to come again, and when it does there is one message still.
func TestALostAnswerDoublesNothing(t *testing.T) {
	a, b := newTown(t), newTown(t)
	way := newLink(t, b.base)
	a.befriend(way.URL, b.self())
	b.befriend(a.base, a.self())
	alice, bob := a.joined("alice"), b.joined("bob")
	body := letter(bob, bob, 10)
	way.lose.Store(2) // a request that may be repeated is, once
	refused := a.call("502 peers_failed", alice, "/relay/send", body)
	if refused.header.Get("Retry-After") == "" {
		t.Error("nobody says when to come again")
	}
	b.has(bob, body)
	a.forwards(alice, body, b.hub)
	b.has(bob, body)
}

// A hub that rotates its key is followed by its peer at once, unless that looked
// within a minute.
func TestPeersFollowARotation(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), b.joined("bob")
	a.forwards(alice, letter(bob, bob, 10), b.hub)
	if _, err := a.desk().Rotate(t.Context(), audit.By{Who: "tester"}); err != nil {
		t.Fatal(err)
	}
	a.ready() // reads the key
	b.exec(`UPDATE peer SET tried_at = tried_at - interval '1 minute'`)
	a.delivers(alice, letter(bob, bob, 20), b.hub)
	if got := len(b.polls(bob)); got != 2 {
		t.Errorf("%d messages", got)
	}
}

// ill are peers with something wrong with each: they answer who they are, and
// then not as they should.
func ill(t *testing.T, a *town, how http.HandlerFunc) {
	t.Helper()
	n := a.agent()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hub/identity", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, text(wire.Identity{AID: n.AID(), KEL: n.Key.KEL()}))
	})
	mux.HandleFunc("/", how)
	srv := httptest.NewUnstartedServer(mux)
	srv.Start()
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	a.befriend(srv.URL, n)
}

// hanging is a peer that takes everything and never answers.
type hanging struct{ came, gone atomic.Int64 }

func (p *hanging) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a server sees who hangs up only after the body
	p.came.Add(1)
	<-r.Context().Done()
	p.gone.Add(1)
}

// call is the number of the call that hangs there now, or 0.
func (p *hanging) call() int64 {
	if n := p.came.Load(); n > p.gone.Load() {
		return n
	}
	return 0
}

// drip answers one byte a second.
func drip(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Length", "1000")
	for r.Context().Err() == nil {
		_, _ = w.Write([]byte(" "))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
		}
	}
}

// One hub with peers that hang, drip, refuse and fail, before one that is well: no
// message is lost for it, and local mail does not wait for them. How soon they are
// given up is told in the packages forward and peers.
func TestIllPeers(t *testing.T) {
	a, b, hangs := newTown(t), newTown(t), &hanging{}
	ill(t, a, hangs.ServeHTTP)
	ill(t, a, drip)
	ill(t, a, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	ill(t, a, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }) // a proxy without its hub
	ill(t, a, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome</html>") })
	a.befriend(fmt.Sprint("http://127.0.0.1:", nobody), a.agent()) // refuses; was never proven
	a.befriend(b.base, b.self())
	b.befriend(a.base, a.self())
	alice, carol, bob := a.joined("alice"), a.joined("carol"), b.joined("bob")
	beside, sent, passes := townBeside(a), 0, false
	for ; sent < 4 || !passes && sent < 1000; sent++ {
		done := make(chan struct{})
		go func() {
			defer close(done)
			beside.delivers(alice, letter(bob, bob, 10+sent), b.hub)
		}()
		passes = a.passes(carol, hangs, done) || passes
	}
	if !passes {
		t.Error("no local message was taken while a peer did not answer")
	}
	if got := query[int](t, b.url, `SELECT count FROM mailbox WHERE aid = '`+bob.AID()+`'`); got != sent {
		t.Errorf("%d messages, want %d", got, sent)
	}
	stranger := a.agent()
	a.call("502 peers_failed", alice, "/relay/send", letter(stranger, stranger, 1))
}

// passes sends local mail until a message to elsewhere is done, and reports whether
// any of it was taken while a peer kept that waiting.
func (h *town) passes(local *directorytest.Node, p *hanging, done chan struct{}) (passed bool) {
	h.t.Helper()
	for {
		call := p.call()
		h.call("200", local, "/relay/send", letter(local, local, 1))
		passed = passed || call > 0 && p.call() == call
		time.Sleep(50 * time.Millisecond) // within the rate of sends
		select {
		case <-done:
			return passed
		default:
		}
	}
}
