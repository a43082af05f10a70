package home

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anet-hub/anet/node/internal/node"
	"github.com/anet-hub/anet/shared/errs"
)

// A hub forgets the visibility with the registration, and is told it again. It is
// told nothing that it says it knows.
func TestTheVisibilityFollowsTheRegistration(t *testing.T) {
	settle(t, `{"visibility":"federated"}`, func(t *testing.T, h *Home, hub *hub) {
		says := func(when, want string) {
			t.Helper()
			synctest.Wait()
			if got := hub.words(); got != want {
				t.Errorf("%s the hub was told %q, want %q", when, got, want)
			}
		}
		says("at the start", "federated")
		h.Poke()
		says("registered again", "federated")
		hub.set(func() { hub.gone = true })
		h.Poke()
		says("after the hub dropped the node", "federated federated")
		hub.set(func() { hub.mute = true })
		h.Poke()
		says("where it does not say what it has", "federated federated federated")
	})
}

// Who waits for the registration finds the visibility told.
func TestRegisteredIsSaidLast(t *testing.T) {
	settle(t, `{"visibility":"federated"}`, func(t *testing.T, h *Home, hub *hub) {
		at := func() time.Time {
			var s node.Status
			h.Describe(t.Context(), &s)
			return *s.LastRegistered
		}
		before := at()
		hub.set(func() { hub.gone, hub.slow = true, 5*time.Second })
		time.Sleep(time.Second)
		h.Poke()
		time.Sleep(time.Second)
		if err := h.Settled(t.Context()); err != nil || hub.count() != 2 || !at().Equal(before) {
			t.Errorf("while it is told: settled %v, %d registrations, the last said to be at %s; want mail asked for, and nothing said yet", err, hub.count(), at())
		}
		time.Sleep(10 * time.Second)
		if !at().After(before) || hub.words() != "federated federated" {
			t.Errorf("afterwards the last registration is said to be at %s, and the hub was told %q", at(), hub.words())
		}
	})
}

func TestWhoNeverWidenedTellsNothing(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		if got := hub.words(); got != "" {
			t.Errorf("the hub was told %q, want nothing: it is what a registration begins with", got)
		}
	})
}

// What is set is written down, told at once, and still there after a restart.
func TestSettingTheVisibility(t *testing.T) {
	settle(t, `{"name":"n"}`, func(t *testing.T, h *Home, hub *hub) {
		if err := h.SetVisibility(t.Context(), "public"); err != nil || hub.words() != "public" {
			t.Fatalf("%v, the hub was told %q", err, hub.words())
		}
		if err := h.SetVisibility(t.Context(), "friends"); !errs.Is(err, "visibility_unknown") {
			t.Errorf("an unknown one: %v", err)
		}
		again := at(t, h.Dir, "", hub)
		if v, err := again.Visibility(t.Context()); v != "public" || err != nil {
			t.Errorf("after a restart %q, %v", v, err)
		}
	})
}

// A hub that cannot be told keeps nobody from narrowing, and is told as soon as
// it can be. Meanwhile status shows the difference.
func TestAVisibilityThatCannotBeToldYet(t *testing.T) {
	settle(t, `{"visibility":"federated"}`, func(t *testing.T, h *Home, hub *hub) {
		hub.set(func() { hub.deaf = errs.New(errs.Unavailable, "overloaded", "later") })
		if err := h.SetVisibility(t.Context(), "hub-local"); errs.KindOf(err) != errs.Unavailable {
			t.Errorf("SetVisibility at a deaf hub: %v, want its reason", err)
		}
		var s node.Status
		h.Describe(t.Context(), &s)
		if s.Visibility != "hub-local" || s.HubVisibility != "federated" || !s.Differs() {
			t.Errorf("status %q, the hub's %q, differs %v", s.Visibility, s.HubVisibility, s.Differs())
		}
		r, err := h.Register(t.Context(), "", "")
		if err != nil || r.VisibilityError == "" {
			t.Errorf("Register = %+v, %v; want it done, and why the hub was not told", r, err)
		}
		hub.set(func() { hub.deaf = nil })
		time.Sleep(5 * time.Minute)
		if got := hub.words(); got != "federated hub-local" {
			t.Errorf("in the end the hub was told %q", got)
		}
	})
}

func TestAVisibilityForLater(t *testing.T) {
	settle(t, "", func(t *testing.T, h *Home, hub *hub) {
		if _, err := h.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.SetVisibility(t.Context(), "federated"); err != nil || hub.words() != "" {
			t.Errorf("a node that left: %v, told %q", err, hub.words())
		}
		if _, err := h.Register(t.Context(), "", ""); err != nil || hub.words() != "federated" {
			t.Errorf("back again: %v, told %q", err, hub.words())
		}
	})
	settle(t, "", func(t *testing.T, h *Home, _ *hub) {
		alone := at(t, h.Dir, "", nil)
		alone.Hub = nil
		if err := alone.SetVisibility(context.Background(), "federated"); err != nil {
			t.Errorf("a node that joined no hub: %v", err)
		}
	})
}

// Peers hear of cards alone: who widens and has none is told.
func TestStatusTellsThatThereIsNoCard(t *testing.T) {
	settle(t, `{"visibility":"federated","inbound":{"policy":"open"}}`, func(t *testing.T, h *Home, hub *hub) {
		for public, want := range map[string]bool{"": true, "https://hub.example.org": false} {
			h.Pin.URL, h.Pin.PublicURL = "http://127.0.0.1:8088", public
			h.Poke()
			synctest.Wait()
			var s node.Status
			if h.Describe(t.Context(), &s); (s.CardProblem != "") != want {
				t.Errorf("a hub that others know as %q: card_problem %q", public, s.CardProblem)
			}
		}
	})
}
