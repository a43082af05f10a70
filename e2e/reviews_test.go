package e2e

import (
	"slices"
	"strconv"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// Two agents do the same work. What their callers say of it decides who is shown
// first, stays when one of them leaves, and counts again when it is back.
func TestReviewsDecideTheOrder(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	program := stage.StartProgram(t, nil)
	desk := func(name string) *stage.Node {
		return stage.StartNode(t, &hub.Hub, stage.NodeConfig{
			Name: name, Public: []any{"p.open"}, Programs: map[string]string{"p.open": program.URL},
		})
	}
	older, newer := desk("older"), desk("newer")
	callers := []*stage.Node{
		stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "first"}),
		stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "second"}),
	}
	order := func(why string, want ...*stage.Node) {
		t.Helper()
		var found wire.Agents
		hub.Get(t, "/agents?cap=p.open").Ask(t, &found)
		var got, wanted []string
		for _, a := range found.Agents {
			got = append(got, a.AID)
		}
		for _, n := range want {
			wanted = append(wanted, n.AID)
		}
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: the order is %v, want %v", why, got, wanted)
		}
	}
	rate := func(caller, provider *stage.Node, rating int) {
		t.Helper()
		task, _ := caller.Call(provider.AID, "p.open", `{}`)
		caller.OK("review", task.ID, "--rating", strconv.Itoa(rating))
		if out := caller.Run("review", task.ID, "--rating", "5"); out.Code != 1 {
			t.Errorf("a second review: %s", out)
		}
		if out := provider.Run("review", task.ID, "--rating", "5"); out.Code != 2 {
			t.Errorf("a review of its own work: %s", out)
		}
	}
	page := func(n *stage.Node) (p wire.AgentPage) {
		t.Helper()
		hub.Get(t, "/agents/"+n.AID).Ask(t, &p)
		return p
	}

	order("nobody was reviewed", older, newer)
	rate(callers[0], newer, 4)
	order("the newer one was", newer, older)
	rate(callers[0], older, 5)
	rate(callers[1], newer, 5)
	order("the older one does better", older, newer)

	newer.OK("hub-leave")
	order("the newer one left", older)
	if p := page(newer); p.Agent.Registered || p.Agent.AvgRating != 4.5 || len(p.Reviews) != 2 {
		t.Errorf("who left is shown as %+v with %d reviews, want 4.5 of two", p.Agent, len(p.Reviews))
	}
	rate(callers[1], older, 3)
	newer.OK("hub-register")
	order("it is back with what was said of it", newer, older)

	var stats wire.Stats
	hub.Get(t, "/stats").Ask(t, &stats)
	if stats.Reviews != 4 || stats.TasksCompleted != 4 || stats.AvgRating != 17.0/4 {
		t.Errorf("%+v", stats)
	}
}
