package federation

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
)

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
