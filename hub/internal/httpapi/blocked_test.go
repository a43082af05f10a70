package httpapi

import (
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/anet-hub/anet/hub/internal/audit"
	"github.com/anet-hub/anet/hub/internal/moderation"
	"github.com/anet-hub/anet/hub/internal/postgres"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func (w *town) block(target moderation.Target) (lift func()) {
	w.t.Helper()
	store := postgres.NewModeration(w.pool)
	if err := store.Block(w.t.Context(), moderation.Block{Target: target, Why: "private words", At: w.clock()}, audit.Act{At: w.clock()}); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		w.t.Helper()
		if err := store.Unblock(w.t.Context(), target, audit.Act{At: w.clock()}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func host(s string) moderation.Target { return moderation.Target{Host: netip.MustParsePrefix(s)} }

// A block counts from its commit on, also where the signer is remembered from the
// request before. It tells that it is one, and not why.
func TestABlockedAgentIsRefusedEverything(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	profile := func() answer { return w.call(n, wire.ActionProfile, "/profile", wire.Profile{Summary: "s"}) }
	for what, target := range map[string]moderation.Target{
		"its AID": {AID: n.AID()}, "its address": host("192.0.2.1/32"), "a range": host("192.0.0.0/16"),
	} {
		if a := profile(); a.StatusCode != 200 {
			t.Fatalf("before: %d %s", a.StatusCode, a.raw)
		}
		lift := w.block(target)
		for range 2 {
			for asked, a := range map[string]answer{
				"a profile": profile(), "the same registration": w.register(n, n.Register("alice", "x")),
				"another": w.register(n, n.Register("alice", "y")), "leaving": w.call(n, wire.ActionDeregister, "/agents/"+n.AID()+"/deregister", struct{}{}),
			} {
				if a.StatusCode != 403 || a.code() != "blocked" || strings.Contains(string(a.raw), "private") {
					t.Errorf("%s is blocked, %s: %d %s, want 403 blocked", what, asked, a.StatusCode, a.raw)
				}
			}
			w.api.Replays = identity.NewCache(1 << 20) // a process that remembers nothing says the same
		}
		lift()
	}
	if a := profile(); a.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", a.StatusCode, a.raw)
	}
}

// An address is blocked in whatever form it comes, from a proxy's header as from
// a connection; and what a client writes into a header does not free it.
func TestEverySpellingOfAnAddressIsBlocked(t *testing.T) {
	w := newTown(t)
	w.api.Proxies.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	n := w.node("alice")
	w.mustRegister(n, n.Register("alice", "x"))
	ask := func(peer, header string) answer {
		r := w.signed(n, wire.ActionProfile, "/profile", wire.Profile{Summary: "s"})
		if r.RemoteAddr = peer; header != "" {
			r.Header.Set("X-Real-Ip", header)
		}
		return w.do(r)
	}
	w.block(host("203.0.113.0/24"))
	w.block(host("2001:db8::/64"))
	for _, c := range []struct {
		peer, header string
		status       int
	}{
		{"203.0.113.9:1", "", 403},
		{"[::ffff:203.0.113.9]:1", "", 403},
		{"[2001:db8::abcd]:1", "", 403},
		{"[2001:db8:0:0:ffff::1%eth0]:1", "", 403},
		{"127.0.0.1:1", "203.0.113.9", 403},
		{"127.0.0.1:1", "::ffff:203.0.113.9", 403},
		{"127.0.0.1:1", "2001:DB8:0:0::1", 403},
		{"203.0.113.9:1", "198.51.100.1", 403},
		{"127.0.0.1:1", "198.51.100.1", 200},
		{"198.51.100.1:1", "203.0.113.9", 200},
		{"[2001:db8:0:1::1]:1", "", 200},
		{"203.0.112.255:1", "", 200},
		{"@", "", 200}, // a Unix socket has no address
	} {
		if a := ask(c.peer, c.header); a.StatusCode != c.status {
			t.Errorf("from %s, as told %q: %d %s, want %d", c.peer, c.header, a.StatusCode, a.raw, c.status)
		}
	}
}

// A blocked stranger is refused before its body is read, and leaves nothing.
func TestABlockedStrangerCostsNoBody(t *testing.T) {
	w := newTown(t)
	n := w.node("alice")
	w.block(moderation.Target{AID: n.AID()})
	r := w.signed(n, wire.ActionRegister, "/register", n.Register("alice", "x"))
	r.Body = io.NopCloser(unreadable{t})
	if a := w.do(r); a.StatusCode != 403 || a.code() != "blocked" {
		t.Errorf("%d %s, want 403 blocked", a.StatusCode, a.raw)
	}
	if a := w.get("/agents/" + n.AID()); a.StatusCode != 404 {
		t.Errorf("it is known: %d", a.StatusCode)
	}
}

// An agent that was remembered from before is told so once with its body read;
// from then on it costs the hub none, and an agent that was removed neither.
func TestWhoIsRememberedAndShutOutCostsNoBody(t *testing.T) {
	w := newTown(t)
	for _, c := range []struct {
		why, code string
		status    int
		shut      func(aid string)
	}{
		{"blocked", "blocked", 403, func(aid string) { w.block(moderation.Target{AID: aid}) }},
		{"removed", "unknown_signer", 401, func(aid string) {
			if _, err := postgres.NewModeration(w.pool).Remove(t.Context(), audit.Act{Target: aid, At: w.clock()}); err != nil {
				t.Fatal(err)
			}
		}},
		{"from a blocked address", "blocked", 403, func(string) { w.block(host("192.0.2.1/32")) }},
	} {
		n := w.node(c.why)
		w.mustRegister(n, n.Register("n", "x"))
		if a := w.call(n, wire.ActionProfile, "/profile", wire.Profile{Summary: "s"}); a.StatusCode != 200 {
			t.Fatalf("%s, before: %d %s", c.why, a.StatusCode, a.raw)
		}
		w.mustRegister(n, n.Register("n", "x"))
		c.shut(n.AID())
		profile := func(body io.ReadCloser) answer {
			r := w.signed(n, wire.ActionProfile, "/profile", wire.Profile{Summary: "s"})
			if body != nil {
				r.Body = body
			}
			return w.do(r)
		}
		for i, body := range []io.ReadCloser{nil, io.NopCloser(unreadable{t})} {
			if a := profile(body); a.StatusCode != c.status || a.code() != c.code {
				t.Errorf("%s, request %d: %d %s, want %d %s", c.why, i+1, a.StatusCode, a.raw, c.status, c.code)
			}
		}
		if c.code != "blocked" {
			continue // who was removed may register
		}
		w.register(n, n.Register("n", "x"))
		r := w.signed(n, wire.ActionRegister, "/register", n.Register("n", "x"))
		r.Body = io.NopCloser(unreadable{t})
		if a := w.do(r); a.StatusCode != 403 || a.code() != "blocked" {
			t.Errorf("%s, registering: %d %s", c.why, a.StatusCode, a.raw)
		}
	}
}
