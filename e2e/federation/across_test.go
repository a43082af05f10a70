package federation

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
)

// Agents of one hub are found at the other by what they can do, and called as if
// they were at home: both ways, with a receipt that holds.
func TestCallsCrossBetweenHubs(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	program := stage.StartProgram(t, nil)
	at := func(hub *stage.InnerHub, name, capability string) *stage.Node {
		return stage.StartNode(t, &hub.Hub, stage.NodeConfig{
			Name: name, Public: []any{capability}, Programs: map[string]string{capability: program.URL},
			More: map[string]any{"visibility": "federated"},
		})
	}
	anna, bert := at(hubs.a, "anna", "a.work"), at(hubs.b, "bert", "b.work")
	for _, way := range []struct {
		from, to   *stage.Node
		at         *stage.InnerHub
		capability string
		home, via  string
	}{
		{anna, bert, hubs.a, "b.work", stage.PublicURL("b"), hubs.b.AID},
		{bert, anna, hubs.b, "a.work", stage.PublicURL("a"), hubs.a.AID},
	} {
		t.Run(way.from.Name+" calls "+way.to.Name, func(t *testing.T) {
			learns(t, &way.at.Hub, way.capability, way.to.AID, way.home)
			var found struct {
				Agents []struct {
					AID     string `json:"aid"`
					HomeHub string `json:"home_hub"`
				}
			}
			for _, question := range [][]string{{"--cap", way.capability}, {way.to.AID}} {
				way.from.JSON(&found, append([]string{"find"}, question...)...)
				if len(found.Agents) != 1 || found.Agents[0].AID != way.to.AID || found.Agents[0].HomeHub != way.home {
					t.Errorf("anet find %q: %+v, want %s at %s", question, found.Agents, way.to.AID, way.home)
				}
			}
			var card struct{ Verified bool }
			if code := way.from.JSON(&card, "card", way.to.AID); code != 0 || !card.Verified {
				t.Errorf("anet card: exit %d, verified %v", code, card.Verified)
			}
			task, code := way.from.Call(way.to.AID, way.capability, `{}`)
			if got := stage.Outcome(task); code != 0 || got != "completed OK verified" {
				t.Fatalf("the call: exit %d, %s, want 0, completed OK verified", code, got)
			}
			if n := program.Effects(task.ID); n != 1 {
				t.Errorf("it had its effect %d times, want once", n)
			}
			if task.ViaHub != way.via {
				t.Errorf("it went via %q, want the other hub, %s", task.ViaHub, way.via)
			}
			theirs := way.to.Task(task.ID)
			if string(theirs.Receipt) != string(task.Receipt) || len(task.Receipt) == 0 {
				t.Error("the two sides hold different receipts")
			}
		})
	}
}

// Who is at no hub is at none of its peers either, and the caller is told.
func TestNobodyHasIt(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	caller := stage.StartNode(t, &hubs.a.Hub, stage.NodeConfig{Name: "caller"})
	nobody := stage.NewAgent(t, &hubs.b.Hub)
	task, code := caller.Call(nobody.AID(), "b.work", `{}`)
	if got := stage.Outcome(task); code != 4 || got != "failed UNAVAILABLE undeliverable unknown" {
		t.Errorf("exit %d, %s, want 4, failed UNAVAILABLE undeliverable unknown", code, got)
	}
}

// A link that is cut keeps a call waiting, and nobody has to do anything about
// it: it is carried when the link is back.
func TestACallOutlivesACutLink(t *testing.T) {
	t.Parallel()
	a, b := stage.FederatedHub(t, "a"), stage.FederatedHub(t, "b")
	link := stage.NewLink(t, b.URL)
	stage.Federate(t, a, link.URL, b, a.URL)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &b.Hub, stage.NodeConfig{
		Name: "provider", Public: []any{"b.work"}, Programs: map[string]string{"b.work": program.URL},
	})
	caller := stage.StartNode(t, &a.Hub, stage.NodeConfig{Name: "caller"})
	// Nobody federated it: its AID is all that it takes.
	if task, _ := caller.Call(provider.AID, "b.work", `{}`); stage.Outcome(task) != "completed OK verified" {
		t.Fatalf("before the cut: %s", stage.Outcome(task))
	}
	link.Cut()
	var task app.Task
	if code := caller.JSON(&task, "delegate", provider.AID, "--capability", "b.work", "--wait", "1s"); code != 8 {
		t.Errorf("a call over a link that is cut: exit %d, %s, want 8, still waiting", code, stage.Outcome(task))
	}
	link.Heal()
	if done := caller.Ended(task.ID); stage.Outcome(done) != "completed OK verified" || program.Effects(task.ID) != 1 {
		t.Errorf("over the healed link: %s after %d effects, want completed OK verified after one",
			stage.Outcome(done), program.Effects(task.ID))
	}
}
