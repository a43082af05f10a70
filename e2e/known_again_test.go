package e2e

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// Whoever was admitted comes back, whatever
// happened to the hub in between, and finds mail and listing as they were.
func TestMembersComeBackAfterTheHubDoes(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	agent, sender := stage.NewAgent(t, hub.Hub), stage.NewAgent(t, hub.Hub)
	agent.Register("text.digest")
	sender.Register()
	id, aid := sender.Mail(agent.AID(), 500), hub.AID

	for _, end := range []struct {
		name string
		how  func()
	}{
		{"a stop", func() { hub.Stop(t) }},
		{"a kill", hub.Kill},
		{"a kill with its database", func() { killDatabase(t, hub); hub.Kill(); stage.StopDatabase(t, hub.Config.DataDir) }},
	} {
		t.Run(end.name, func(t *testing.T) {
			end.how()
			hub.Again(t)
			if hub.AID != aid {
				t.Fatalf("the hub is somebody else: %s, it was %s", hub.AID, aid)
			}
			if done := agent.Register("text.digest"); done.Unchanged != 1 || done.Added+done.Removed != 0 {
				t.Errorf("registering again: %+v, want one id, unchanged", done)
			}
			if got := agent.Poll(wire.Poll{}); len(got.Messages) != 1 || got.Messages[0].ID != id {
				t.Errorf("mail after it: %d messages, want message %d", len(got.Messages), id)
			}
			var found wire.Agents
			hub.Get(t, "/agents?cap=text.digest").Ask(t, &found)
			if len(found.Agents) != 1 {
				t.Errorf("found %d agents, want the one", len(found.Agents))
			}
		})
	}
}
