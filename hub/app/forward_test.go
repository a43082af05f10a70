package app

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/api/apitest"
	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/testkit"
	"github.com/anet-hub/anet/shared/wire"
)

// town is a hub with its database, one process of it, and who calls there.
type town struct {
	*visitor
	app *App
}

func abroad(c *Config) { c.PeerRanges = []string{"127.0.0.0/8"} }

func newTown(t *testing.T) *town {
	t.Helper()
	return townOn(t, pgtest.URL(t))
}

// townOn starts one more process on a database.
func townOn(t *testing.T, url string) *town {
	t.Helper()
	a := startWith(t, url, abroad)
	return &town{&visitor{t: t, doc: apitest.Load(t), seen: sightings{}, base: "http://" + a.Addr(), hub: a.AID(), url: url}, a}
}

// operator opens the database beside the hub.
func (h *town) desk() *Operator {
	h.t.Helper()
	cfg := Defaults()
	cfg.DatabaseURL = h.url
	abroad(&cfg)
	op, err := NewOperator(h.t.Context(), cfg, quiet)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = op.Close(context.Background()) })
	return op
}

// befriend enters another hub and waits until this process knows it.
func (h *town) befriend(endpoint string, peer *directorytest.Node) {
	h.t.Helper()
	op := h.desk()
	p, err := op.Peers.Meet(h.t.Context(), h.hub, peers.Offer{Endpoint: endpoint, AID: peer.AID(), Delivery: true})
	if err == nil {
		err = op.Peers.Add(h.t.Context(), p, audit.By{Who: "tester"})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.knows(peer)
}

// knows waits until this process answers a peer.
func (h *town) knows(peer *directorytest.Node) {
	h.t.Helper()
	testkit.Until(h.t, 10*time.Second, "the hub knows its peer", func() bool {
		return h.do(h.signed(peer, "/fed/v2/keys/"+peer.AID(), "")).status != http.StatusForbidden
	})
}

// exec changes what the hub keeps.
func (h *town) exec(sql string) {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.url)
	if err == nil {
		defer conn.Close(h.t.Context())
		_, err = conn.Exec(h.t.Context(), sql)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// self is this hub as a peer of others.
func (h *town) self() *directorytest.Node { return &directorytest.Node{Key: h.app.hub.key.Current()} }

// friends are two hubs that deliver to each other.
func friends(t *testing.T) (a, b *town) {
	t.Helper()
	a, b = newTown(t), newTown(t)
	a.befriend(b.base, b.self())
	b.befriend(a.base, a.self())
	return a, b
}

// polls gives the envelopes that wait for an agent, in base64.
func (h *town) polls(n *directorytest.Node) (all []string) {
	h.t.Helper()
	list, _ := h.call("200", n, "/relay/poll", "").body["messages"].([]any)
	for _, m := range list {
		all = append(all, m.(map[string]any)["envelope"].(string))
	}
	return all
}

// has expects exactly these messages in a mailbox.
func (h *town) has(n *directorytest.Node, want ...wire.Send) {
	h.t.Helper()
	got := h.polls(n)
	if len(got) != len(want) {
		h.t.Errorf("%d messages wait, want %d", len(got), len(want))
		return
	}
	for i, w := range want {
		if got[i] != base64.StdEncoding.EncodeToString(w.Envelope) {
			h.t.Errorf("message %d is another", i)
		}
	}
}

// forwards expects that a message is taken by another hub.
func (h *town) forwards(n *directorytest.Node, body wire.Send, via string) {
	h.t.Helper()
	if a := h.call("200", n, "/relay/send", body); a.body["status"] != "forwarded" || a.body["via_hub"] != via || a.body["id"] != nil {
		h.t.Errorf("%v, want forwarded by %s", a.body, via)
	}
}

// A message crosses hubs and takes effect once however often it is sent; keys are
// found at the hub that has them; who has left is delivered to nowhere.
func TestMailCrossesHubs(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), b.joined("bob")
	first, second := letter(bob, bob, 10), letter(bob, bob, 20)
	a.forwards(alice, first, b.hub)
	a.forwards(alice, first, b.hub)
	a.forwards(alice, second, b.hub)
	b.has(bob, first, second)
	reply := letter(alice, alice, 30)
	b.forwards(bob, reply, a.hub)
	a.has(alice, reply)

	keys := "/agents/" + bob.AID() + "/keys"
	a.get("404 keys_unknown", keys)
	set := bob.Keyset(time.Now(), false)
	b.call("200", bob, keys, wire.Keyset{Keyset: set})
	found := a.get("200", keys)
	if found.body["keyset"] != base64.StdEncoding.EncodeToString(set) || found.body["kel"] != base64.StdEncoding.EncodeToString(bob.Key.KEL()) {
		t.Errorf("keys: %v", found.body)
	}
	a.post("200", "/agents/keys:lookup", wire.Lookup{AID: bob.AID()})

	stranger := a.agent()
	a.call("404 unknown_recipient", alice, "/relay/send", letter(stranger, stranger, 10))
	b.call("200", bob, "/agents/"+bob.AID()+"/deregister", "{}")
	a.call("404 unknown_recipient", alice, "/relay/send", letter(bob, bob, 40))
}

// An agent that leaves one hub for another gets its mail there, and nothing is put
// into the box that nobody reads any more (D13).
func TestMailFollowsAnAgentThatMoves(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), a.joined("bob")
	before, after := letter(bob, bob, 10), letter(bob, bob, 20)
	a.call("200", alice, "/relay/send", before)
	b.call("200", bob, "/register", bob.Register("bob"))
	leave := a.signed(bob, "/agents/"+bob.AID()+"/deregister", "{}")
	again := a.opened(leave.Method, leave.URL.RequestURI(), "{}")
	again.Header = leave.Header.Clone()
	a.expect("200", leave)
	a.forwards(alice, after, b.hub)
	b.has(bob, after)
	a.call("200", bob, "/register", bob.Register("bob"))
	a.expect("401 replayed", again)
	a.call("200", alice, "/relay/send", before)
	a.has(bob, before)
}

func blockOf(aid string) moderation.Block {
	return moderation.Block{Target: moderation.Target{AID: aid}, At: time.Now()}
}

// Who is blocked here is not delivered to by way of another hub, and reads as
// unknown to peers.
func TestBlockedAgentsGetNothingFromElsewhere(t *testing.T) {
	a, b := friends(t)
	alice, bob := a.joined("alice"), b.joined("bob")
	h := a.desk()
	block := blockOf(bob.AID())
	if err := h.Moderation.Block(t.Context(), block, audit.By{Who: "tester"}.Did("block.add", bob.AID(), block.At)); err != nil {
		t.Fatal(err)
	}
	a.call("404 unknown_recipient", alice, "/relay/send", letter(bob, bob, 10))
	a.get("404 keys_unknown", "/agents/"+bob.AID()+"/keys")
	block = blockOf(alice.AID())
	if err := h.Moderation.Block(t.Context(), block, audit.By{Who: "tester"}.Did("block.add", alice.AID(), block.At)); err != nil {
		t.Fatal(err)
	}
	b.call("404 unknown_recipient", bob, "/relay/send", letter(alice, alice, 10))
	b.has(bob)
}

// Two hundred sends of one message at once, through two processes of either hub,
// are one message.
func TestOneMessageThroughManyProcesses(t *testing.T) {
	a, b := newTown(t), newTown(t)
	a2, b2 := townOn(t, a.url), townOn(t, b.url)
	front := httptest.NewServer(inTurn(b.base, b2.base))
	defer front.Close()
	a.befriend(front.URL, b.self())
	b.befriend(a.base, a.self())
	a2.knows(b.self())
	b2.knows(a.self())
	alice, bob := a.joined("alice"), b.joined("bob")
	body := letter(bob, bob, 10)
	var taken, later atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		r := a.signed(alice, "/relay/send", body)
		r.URL.Host = []*town{a, a2}[i%2].app.Addr()
		wg.Go(func() {
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			switch resp.StatusCode {
			case http.StatusOK:
				taken.Add(1)
			case http.StatusBadGateway: // enough are under way to the peer
				later.Add(1)
			default:
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	if t.Logf("%d taken, %d may come again", taken.Load(), later.Load()); taken.Load() < 16 {
		t.Errorf("only %d were taken", taken.Load())
	}
	b.has(bob, body)
}

// inTurn passes requests on to one hub process after the other.
func inTurn(bases ...string) http.Handler {
	var n atomic.Int64
	var to []http.Handler
	for _, base := range bases {
		u, _ := url.Parse(base)
		to = append(to, httputil.NewSingleHostReverseProxy(u))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to[int(n.Add(1))%len(to)].ServeHTTP(w, r)
	})
}

// link is the way to a hub, which may lose answers.
type link struct {
	*httptest.Server
	lose atomic.Int64 // answers of forwards still to be lost
}

func newLink(t *testing.T, base string) *link {
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ModifyResponse = func(r *http.Response) error {
		if strings.HasPrefix(r.Request.URL.Path, "/fed/v1/") && l.lose.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	l.Server = httptest.NewServer(proxy)
	t.Cleanup(l.Close)
	return l
}

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

// townBeside calls the same process beside who calls it already.
func townBeside(h *town) *town {
	v := *h.visitor
	v.seen = sightings{}
	return &town{&v, h.app}
}
