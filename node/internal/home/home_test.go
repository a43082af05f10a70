package home

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/anet-hub/anet/shared/payment"
	"github.com/anet-hub/anet/shared/wire"
)

// hub lists one node.
type hub struct {
	mu     sync.Mutex
	fails  error
	bodies []wire.Register
	gone   bool
	why    wire.Why
	told   []string // visibilities

	visibility string
	mute       bool          // it says of nobody who may learn of him
	deaf       error         // what it answers to a visibility
	slow       time.Duration // which it takes for that
	parted     func()        // runs while the node is being let go
	meet       func()        // runs while the node is being met

	supports payment.Supported
}

func (h *hub) set(f func()) { h.mu.Lock(); defer h.mu.Unlock(); f() }

func (h *hub) Hub() string { return "https://hub.example.org" }

func (h *hub) Meet(_ context.Context, p hubclient.Pin) (hubclient.Pin, error) {
	h.mu.Lock()
	meet := h.meet
	h.mu.Unlock()
	if meet != nil {
		meet()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return p, h.fails
}

func (h *hub) Register(_ context.Context, body wire.Register) (wire.Registered, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.bodies) == 0 || h.gone {
		h.visibility = "hub-local"
	}
	h.bodies, h.gone = append(h.bodies, body), false
	return wire.Registered{AID: body.AID, Status: "registered", KeysStatus: "ok", CardStatus: "absent"}, nil
}

func (h *hub) Deregister(context.Context) (wire.Deregistered, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
	if h.parted != nil {
		h.parted()
	}
	return wire.Deregistered{Undelivered: 3}, h.fails
}

func (h *hub) Agent(_ context.Context, aid string) (wire.AgentPage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.fails != nil:
		return wire.AgentPage{}, h.fails
	case len(h.bodies) == 0 || h.gone:
		return wire.AgentPage{}, errs.New(errs.NotFound, "agent_unknown", "no such agent")
	}
	last := h.bodies[len(h.bodies)-1]
	shown := wire.Agent{AID: aid, Caps: last.Caps, Registered: true, Listed: h.why.Gate == ""}
	if !h.mute {
		shown.Visibility = h.visibility
	}
	return wire.AgentPage{Agent: shown}, nil
}

func (h *hub) SetVisibility(_ context.Context, v string) error {
	h.mu.Lock()
	slow := h.slow
	h.mu.Unlock()
	time.Sleep(slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.deaf != nil:
		return h.deaf
	case len(h.bodies) == 0 || h.gone:
		return errs.New(errs.NotFound, "agent_unknown", "no such agent")
	}
	h.told, h.visibility = append(h.told, v), v
	return nil
}

func (h *hub) Supported(context.Context) (payment.Supported, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.supports, h.fails
}

func (h *hub) Balance(context.Context) (wire.Balance, error) {
	return wire.Balance{Credits: 7}, h.fails
}

func (h *hub) Ledger(context.Context, int) (wire.LedgerPage, error) {
	return wire.LedgerPage{Entries: []wire.LedgerEntry{{Delta: 7, Reason: "granted"}}, Total: 1, Sum: 7}, h.fails
}

func (h *hub) words() string { h.mu.Lock(); defer h.mu.Unlock(); return strings.Join(h.told, " ") }

func (h *hub) Why(_ context.Context, capID string) (wire.Why, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why.Gate == "" {
		return h.why, errs.New(errs.NotFound, "no_such_route", "there is nothing here")
	}
	why := h.why
	why.Cap, why.Reason = capID, strings.TrimSpace(why.Reason+" "+capID)
	return why, h.fails
}

func (h *hub) body(i int) wire.Register { h.mu.Lock(); defer h.mu.Unlock(); return h.bodies[i] }

func (h *hub) count() int { h.mu.Lock(); defer h.mu.Unlock(); return len(h.bodies) }

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

func TestRegistersAtStartAndWhenPoked(t *testing.T) {
	settle(t, `{"tags":["go"]}`, func(t *testing.T, h *Home, hub *hub) {
		if hub.count() != 1 || strings.Join(hub.body(0).Caps, " ") != "go" {
			t.Fatalf("at the start %d registrations, want one with the tag", hub.count())
		}
		h.Poke()
		synctest.Wait()
		if hub.count() != 2 {
			t.Errorf("after a poke %d registrations, want 2", hub.count())
		}
	})
}

// D.4: new encryption keys are published when they are due.
func TestRegistersWithNewKeys(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		time.Sleep(8 * 24 * time.Hour)
		if n := hub.count(); n != 2 || string(hub.body(0).EncKeys) == string(hub.body(1).EncKeys) {
			t.Errorf("%d registrations in eight days, want a second one with new keys", n)
		}
	})
}

// A clock that is set while the node sleeps does not let its keys run out.
func TestRegistersAfterTheClockWasSet(t *testing.T) {
	dir, err := datadir.Open(t.TempDir() + "/anet")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		hub := &hub{}
		h := at(t, dir, "", hub)
		h.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		time.Sleep(time.Minute)
		ahead.Store(int64(30 * 24 * time.Hour))
		time.Sleep(time.Hour)
		if n := hub.count(); n != 2 {
			t.Errorf("%d registrations, want one at the start and one soon after the clock was set", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestTriesAgainAndIsNotHurried(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		hub.set(func() { hub.fails = errs.New(errs.TooMany, "rate_limited", "slow down").After(time.Minute) })
		h.Poke()
		synctest.Wait()
		var s node.Status
		h.Describe(t.Context(), &s)
		if s.Registered || s.RegisterError != "slow down" || s.HubError == "" || s.Listed != nil {
			t.Errorf("status while the hub refuses: %+v; want the reason and no claim about what is listed", s)
		}
		hub.set(func() { hub.fails = nil })
		for range 5 {
			h.Poke()
		}
		time.Sleep(59 * time.Second)
		if hub.count() != 1 {
			t.Error("a hub that asked for a minute was asked sooner")
		}
		time.Sleep(time.Minute)
		if hub.count() != 2 {
			t.Errorf("%d registrations after the minute, want 2", hub.count())
		}
	})
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

func TestRotationIsRegistered(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		before, _ := h.Identity(t.Context())
		after, err := h.RotateIdentity(t.Context())
		synctest.Wait()
		if err != nil || after.AID != before.AID || after.KeySeq != before.KeySeq+1 {
			t.Errorf("RotateIdentity = %+v, %v; want the same agent with its next key", after, err)
		}
		if hub.count() != 2 || string(hub.body(1).KEL) != string(after.KEL) {
			t.Error("the hub was not told of the longer history")
		}
	})
}

// After a rotation the hub hears of the new key before anything signed by it.
func TestARotationIsToldFirst(t *testing.T) {
	settle(t, "{}", func(t *testing.T, h *Home, hub *hub) {
		settled := make(chan int, 1)
		hub.set(func() { hub.meet = func() { time.Sleep(time.Minute) } })
		go func() {
			if _, err := h.RotateIdentity(t.Context()); err != nil {
				t.Error(err)
			}
			if err := h.Settled(t.Context()); err != nil {
				t.Error(err)
			}
			settled <- hub.count()
		}()
		if n := <-settled; n != 2 {
			t.Errorf("%d registrations, want one of each key", n)
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
