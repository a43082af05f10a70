package federation

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// A hub of two processes is one to its peers: both carry mail, what a peer
// publishes is read by one of them, and by the other when that one is killed.
func TestTwoProcessesAreOnePeer(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	one := stage.StartHub(t, stage.FederatedConfig("one", database))
	two := stage.StartHub(t, stage.FederatedConfig("two", database))
	b := stage.FederatedHub(t, "b")
	stage.AddPeer(t, one, "to-b", b.URL)
	stage.Until(t, stage.Patience, "the other process goes by the peer, too", func() bool { return two.HasPeer(t, b.AID) })
	front := stage.NewLink(t, two.URL)
	stage.AddPeer(t, b, "to-a", front.URL)
	bert := agent(t, b, "b", "b.work")
	sender := stage.NewAgent(t, one.Hub)
	sender.Register()
	for _, process := range []*stage.HubProcess{one, two} {
		learns(t, process.Hub, "b.work", bert.AID(), stage.PublicURL("b"))
		carried(t, sender.At(process.Hub), bert, b.AID)
	}
	var sent wire.Sent
	bert.Send(sender.AID(), stage.Sealed(sender.AID(), 100)).Ask(t, &sent)
	if got := sender.Poll(wire.Poll{}); len(got.Messages) != 1 {
		t.Errorf("what came in at one process is not at the other: %d messages", len(got.Messages))
	}

	for i, victim := range []*stage.HubProcess{one, two} {
		left := []*stage.HubProcess{two, one}[i]
		victim.Kill()
		front.Lead(left.URL)
		capability := []string{"b.first", "b.second"}[i]
		late := agent(t, b, "b", capability)
		stage.Until(t, 2*round, "the one that is left reads on", func() bool { return left.Lists(t, capability, late.AID()) })
		carried(t, sender.At(left.Hub), bert, b.AID)
		victim.Again(t)
	}
}
