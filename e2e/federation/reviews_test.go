package federation

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// Work across hubs is reviewed where its requester is, and counts at the hub of
// its provider as what a peer says: once both may be known there.
func TestReviewsCross(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &hubs.b.Hub, stage.NodeConfig{
		Name: "provider", Public: []any{"b.work"}, Programs: map[string]string{"b.work": program.URL},
		More: map[string]any{"visibility": "federated"},
	})
	caller := stage.StartNode(t, &hubs.a.Hub, stage.NodeConfig{Name: "caller", More: map[string]any{"visibility": "federated"}})
	learns(t, &hubs.a.Hub, "b.work", provider.AID, stage.PublicURL("b"))
	task, _ := caller.Call(provider.AID, "b.work", `{}`)
	caller.OK("review", task.ID, "--rating", "4")

	reputation := func(hub *stage.InnerHub) (page wire.ReputationPage) {
		t.Helper()
		hub.Get(t, "/agents/"+provider.AID+"/reputation").Ask(t, &page)
		return page
	}
	stage.Until(t, stage.Patience, "the review is at the hub of its author", func() bool { return reputation(hubs.a).Reputation.Local.Reviews == 1 })
	if found := hubs.a.Find(t, "b.work"); len(found) != 1 || found[0].AvgRating != 4 {
		t.Errorf("its author's hub lists %+v, want it rated 4", found)
	}
	stage.Until(t, round, "the provider's hub has heard of the review", func() bool { return len(reputation(hubs.b).Reputation.Peers) == 1 })
	if got := reputation(hubs.b).Reputation; got.Local.Reviews != 0 || got.Peers[0].Reviews != 1 || got.Peers[0].AvgRating != 4 {
		t.Errorf("at the provider's hub: %+v, want one review of a peer, rated 4", got)
	}
}
