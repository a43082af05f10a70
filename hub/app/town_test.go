package app

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
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
func townOn(t *testing.T, url string, change ...func(*Config)) *town {
	t.Helper()
	a := startWith(t, url, func(c *Config) {
		abroad(c)
		for _, f := range change {
			f(c)
		}
	})
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
	testkit.Until(h.t, "the hub knows its peer", func() bool {
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

// delivers is forwards for a sender that comes again as it is told to.
func (h *town) delivers(n *directorytest.Node, body wire.Send, via string) {
	h.t.Helper()
	testkit.Until(h.t, "the message is taken by the other hub", func() bool {
		a := h.do(h.signed(n, "/relay/send", body))
		if a.status != http.StatusOK && a.header.Get("Retry-After") == "" {
			h.t.Fatalf("%s %v, and nobody says when to come again", a, a.body)
		}
		return a.status == http.StatusOK && a.body["via_hub"] == via
	})
}

func blockOf(aid string) moderation.Block {
	return moderation.Block{Target: moderation.Target{AID: aid}, At: time.Now()}
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

// townBeside calls the same process beside who calls it already.
func townBeside(h *town) *town {
	v := *h.visitor
	v.seen = sightings{}
	return &town{&v, h.app}
}
