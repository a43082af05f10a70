package home

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/config"
	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/node/internal/hubclient"
	"github.com/anet-hub/anet/node/internal/keyring"
	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/node/internal/provider"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// settle runs f over a home at work, in virtual time.
func settle(t *testing.T, cfg string, f func(t *testing.T, h *Home, hub *hub)) {
	t.Helper()
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		hub := &hub{}
		h := at(t, dir, cfg, hub)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		synctest.Wait()
		f(t, h, hub)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func at(t *testing.T, dir datadir.Dir, cfg string, hub Hub) *Home {
	t.Helper()
	keys, err := keyring.Open(dir, time.Now())
	if errs.Is(err, "identity_missing") {
		keys, err = keyring.Init(dir, time.Now())
	}
	if err == nil && cfg != "" {
		err = dir.Write(config.FileName, []byte(cfg))
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Parts{
		Dir: dir, Keys: keys, Registry: &provider.Registry{}, Hub: hub, Config: c,
		Pin: hubclient.Pin{URL: "https://hub.example.org", AID: "hub"}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestStatusTellsTheDifference(t *testing.T) {
	settle(t, `{"tags":["go"]}`, func(t *testing.T, h *Home, hub *hub) {
		hub.set(func() { hub.bodies[0].Caps = []string{"old"} })
		var s node.Status
		h.Describe(t.Context(), &s)
		if !s.Differs() || strings.Join(s.Missing, " ") != "go" || strings.Join(s.Surplus, " ") != "old" {
			t.Errorf("missing %v, surplus %v; want go and old", s.Missing, s.Surplus)
		}
	})
}

// What keeps the hub from listing the node is told in the hub's words, and a hub
// that cannot tell is no worse than before.
func TestStatusTellsWhyTheHubListsNothing(t *testing.T) {
	settle(t, `{"tags":["go"]}`, func(t *testing.T, h *Home, hub *hub) {
		for _, c := range []struct {
			why  wire.Why
			caps []string
			want string
		}{
			{wire.Why{}, []string{"go"}, ""},
			{wire.Why{}, nil, ""},
			{wire.Why{Gate: "visible", Reason: "hidden", Hint: "ask the operator"}, []string{"go"}, "hidden go; ask the operator"},
			{wire.Why{Gate: "capability", Reason: "it does not offer"}, nil, "it does not offer go"},
			{wire.Why{Gate: "visible", Reason: "hidden", Listed: true}, []string{"go"}, ""},
		} {
			hub.set(func() { hub.why, hub.bodies[0].Caps = c.why, c.caps })
			var s node.Status
			h.Describe(t.Context(), &s)
			shown := c.why.Gate == "" && c.caps != nil
			if s.Unlisted != c.want || s.Differs() == shown {
				t.Errorf("%+v: unlisted %q, differs %v, want %q", c.why, s.Unlisted, s.Differs(), c.want)
			}
			if shown != (len(s.Listed) == 1) || shown == (len(s.Missing) == 1) {
				t.Errorf("%+v: listed %q, missing %q; an id is one or the other", c.why, s.Listed, s.Missing)
			}
		}
	})
}

// A node that left does not come back by itself, a restart included.
func TestLeaving(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		left, err := h.Leave(t.Context())
		if err != nil || left.Undelivered != 3 {
			t.Fatalf("Leave = %+v, %v", left, err)
		}
		h.Poke()
		time.Sleep(24 * time.Hour)
		if hub.count() != 1 {
			t.Errorf("%d registrations after leaving, want none more", hub.count()-1)
		}
		again := at(t, h.Dir, "", hub)
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if err := again.Member(ctx); err == nil {
			t.Error("after a restart the node is at its hub again")
		}
		if _, err := h.SetProfile(t.Context(), node.Profile{Summary: "hello"}); err != nil || hub.count() != 1 {
			t.Errorf("a new profile: %v, %d registrations; want it kept and nothing sent", err, hub.count()-1)
		}
		if _, err := h.Register(t.Context(), "bob", ""); err != nil || hub.body(1).Name != "bob" {
			t.Errorf("Register: %v, want the node back under its name", err)
		}
		if err := h.Member(t.Context()); err != nil {
			t.Errorf("Member after coming back: %v", err)
		}
	})
}

// A registration that was about to begin does not bring back a node that leaves.
func TestLeavingBeatsARegistration(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		hub.set(func() {
			hub.parted = func() {
				h.Poke()
				for range 1000 {
					runtime.Gosched() // the registration waits for its turn now
				}
			}
		})
		if _, err := h.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if hub.count() != 1 {
			t.Errorf("%d registrations after leaving, want none more", hub.count()-1)
		}
	})
}

func TestANodeThatLeftWaitsForNoRegistration(t *testing.T) {
	settle(t, "{}", func(t *testing.T, h *Home, hub *hub) {
		if _, err := h.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := h.RotateIdentity(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Settled(t.Context()); err != nil || hub.count() != 1 {
			t.Errorf("Settled = %v after %d registrations, want none and 1", err, hub.count())
		}
	})
}
