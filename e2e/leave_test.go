package e2e

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/wire"
)

// A node that left is found by nobody and gets no mail; a sender is told. It
// comes back as who it was.
func TestLeavingAndComingBack(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &hub.Hub, stage.NodeConfig{
		Name: "provider", Public: []any{"p.open"}, Programs: map[string]string{"p.open": program.URL},
	})
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	if task, _ := caller.Call(provider.AID, "p.open", `{}`); stage.Outcome(task) != "completed OK verified" {
		t.Fatalf("before it leaves: %s", stage.Outcome(task))
	}
	provider.OK("hub-leave")

	t.Run("nobody finds it", func(t *testing.T) {
		var found wire.Agents
		hub.Get(t, "/agents?cap=p.open").Ask(t, &found)
		if len(found.Agents) != 0 {
			t.Errorf("found %+v, want nobody", found.Agents)
		}
		var page wire.AgentPage
		hub.Get(t, "/agents/"+provider.AID).Ask(t, &page)
		if page.Agent.Registered || page.Note == "" {
			t.Errorf("its page says registered %v, note %q, want false and why", page.Agent.Registered, page.Note)
		}
	})
	t.Run("a caller is told that it is gone", func(t *testing.T) {
		task, code := caller.Call(provider.AID, "p.open", `{}`)
		if got := stage.Outcome(task); code != 4 || got != "failed UNAVAILABLE undeliverable unknown" {
			t.Errorf("exit %d, %s, want 4, failed UNAVAILABLE undeliverable unknown", code, got)
		}
	})
	t.Run("it stays away over a restart", func(t *testing.T) {
		provider.OK("down")
		provider.Launch()
		stage.Until(t, stage.Patience, "it is up", func() bool { _, up := provider.Status(); return up })
		if s, _ := provider.Status(); s.Registered {
			t.Error("it registered by itself")
		}
	})
	t.Run("it comes back when told to", func(t *testing.T) {
		provider.OK("hub-register")
		task, code := caller.Call(provider.AID, "p.open", `{}`)
		if got := stage.Outcome(task); code != 0 || got != "completed OK verified" {
			t.Errorf("exit %d, %s, want 0, completed OK verified", code, got)
		}
	})
}

// Another hub needs the word, and the first one is left for it.
func TestMovingToAnotherHub(t *testing.T) {
	t.Parallel()
	first, second := stage.HubInside(t), stage.HubInside(t)
	node := stage.JoinNode(t, &first.Hub, stage.NodeConfig{Name: "mover", Tags: []string{"a.tag"}})
	if out := node.Run("join", second.URL); out.Code == 0 || !strings.Contains(out.Err, "--move") {
		t.Errorf("joining another hub: %s, want it refused with the flag to use", out)
	}
	node.OK("join", second.URL, "--move")
	for _, tt := range []struct {
		hub  *stage.Hub
		want int
	}{{&first.Hub, 0}, {&second.Hub, 1}} {
		var found wire.Agents
		tt.hub.Get(t, "/agents?cap=a.tag").Ask(t, &found)
		if len(found.Agents) != tt.want {
			t.Errorf("found %d agents at %s, want %d", len(found.Agents), tt.hub.URL, tt.want)
		}
	}
	var s app.Status
	if node.JSON(&s, "status"); s.Hub != second.URL {
		t.Errorf("the node says its hub is %s, want %s", s.Hub, second.URL)
	}
}
