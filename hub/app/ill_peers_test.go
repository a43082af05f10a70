package app

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/audit"
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
	a.get("200", "/readyz") // reads the key
	b.exec(`UPDATE peer SET tried_at = tried_at - interval '1 minute'`)
	a.forwards(alice, letter(bob, bob, 20), b.hub)
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

// One hub with peers that hang, drip, refuse and fail, before one that is well: no
// message is lost for it, the ill ones are given up, and local mail never waits.
func TestIllPeers(t *testing.T) {
	a, b := newTown(t), newTown(t)
	stop := make(chan struct{})
	defer close(stop)
	ill(t, a, func(w http.ResponseWriter, r *http.Request) { // accepts and never answers
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	ill(t, a, func(w http.ResponseWriter, r *http.Request) { // one byte a second
		w.Header().Set("Content-Length", "1000")
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
			}
		}
	})
	ill(t, a, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	ill(t, a, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }) // a proxy without its hub
	ill(t, a, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome</html>") })
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	a.befriend("http://"+gone.Addr().String(), a.agent()) // refuses; was never proven
	a.befriend(b.base, b.self())
	b.befriend(a.base, a.self())
	alice, carol, bob := a.joined("alice"), a.joined("carol"), b.joined("bob")
	beside := townBeside(a)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 3 {
			began := time.Now()
			beside.forwards(alice, letter(bob, bob, 10+i), b.hub)
			t.Logf("message %d took %s", i, time.Since(began))
		}
	}()
	slowest, waiting := time.Duration(0), true
	for waiting {
		select {
		case <-done:
			waiting = false
		case <-time.After(50 * time.Millisecond):
		}
		began := time.Now()
		a.call("200", carol, "/relay/send", letter(carol, carol, 1))
		slowest = max(slowest, time.Since(began))
	}
	if slowest > 2*time.Second {
		t.Errorf("a local message took %s", slowest)
	}
	began := time.Now()
	a.forwards(alice, letter(bob, bob, 100), b.hub)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("with all of them known a message took %s", took)
	}
	if got := len(b.polls(bob)); got != 4 {
		t.Errorf("%d messages", got)
	}
	stranger := a.agent()
	a.call("502 peers_failed", alice, "/relay/send", letter(stranger, stranger, 1))
}
