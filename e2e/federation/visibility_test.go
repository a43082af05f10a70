package federation

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// Whoever does not want to be known elsewhere any more, by whichever way, leaves
// the lists of peers with the next round; who comes back is listed again.
func TestWhatIsTakenBackIsGoneAtThePeer(t *testing.T) {
	t.Parallel()
	home := stage.PublicURL("a")
	for _, way := range []struct {
		name string
		take func(*stage.Agent)
		give func(*stage.Agent)
	}{
		{"narrowed", func(a *stage.Agent) { a.Visible("hub-local") }, func(a *stage.Agent) { a.Visible("public") }},
		{"withdrawn", withdraw, func(a *stage.Agent) { a.Offer(home, "federated", "back.work") }},
		{"left", (*stage.Agent).Leave, func(a *stage.Agent) { a.Offer(home, "federated", "back.work") }},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			hubs := federated(t) // whose rounds are short yet
			stays, a := agent(t, hubs.a, "a", "stays.work"), agent(t, hubs.a, "a", "back.work")
			learns(t, &hubs.b.Hub, "stays.work", stays.AID(), home)
			learns(t, &hubs.b.Hub, "back.work", a.AID(), home)
			way.take(a)
			forgets(t, &hubs.b.Hub, "back.work", a.AID())
			if !hubs.b.Lists(t, "stays.work", stays.AID()) {
				t.Error("somebody else is gone, too")
			}
			way.give(a)
			learns(t, &hubs.b.Hub, "back.work", a.AID(), home)
		})
	}
	t.Run("never shown", func(t *testing.T) {
		t.Parallel()
		hubs := federated(t)
		a := stage.NewAgent(t, &hubs.a.Hub)
		a.Offer(home, "hub-local", "hidden.work")
		last := agent(t, hubs.a, "a", "last.work")
		learns(t, &hubs.b.Hub, "last.work", last.AID(), home)
		if page := hubs.b.Page(t, a.AID()); page.Agent.AID != "" || hubs.b.Lists(t, "hidden.work", a.AID()) {
			t.Errorf("the peer knows of it: %+v", page)
		}
	})
}

// withdraw registers without a card.
func withdraw(a *stage.Agent) {
	body := a.Registration("back.work")
	body.A2ACard = wire.RawJSON("null")
	a.Do(wire.ActionRegister, "/register", body)
}

// An operator's hide and block are as good as leaving, and are taken back.
func TestModerationReachesPeers(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	a := agent(t, hubs.a, "a", "hidden.work")
	learns(t, &hubs.b.Hub, "hidden.work", a.AID(), stage.PublicURL("a"))
	operate := func(args ...string) {
		t.Helper()
		if out := hubs.a.Operate(t, args...); out.Code != 0 {
			t.Fatalf("%q: %s", args, out)
		}
	}
	operate("agent", "hide", a.AID())
	forgets(t, &hubs.b.Hub, "hidden.work", a.AID())
	operate("agent", "unhide", a.AID())
	learns(t, &hubs.b.Hub, "hidden.work", a.AID(), stage.PublicURL("a"))
}
