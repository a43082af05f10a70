package federation

import (
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// An agent at two hubs is at home at each of them: each shows its own and delivers
// it itself. What the peer says of it waits, and holds nobody else up; when the
// agent leaves, it counts.
func TestAnAgentAtBothHubs(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	both := agent(t, hubs.a, "a", "both.work")
	there := both.At(&hubs.b.Hub)
	there.Offer(stage.PublicURL("b"), "federated", "both.work")
	other := agent(t, hubs.b, "b", "other.work")
	learns(t, &hubs.a.Hub, "other.work", other.AID(), stage.PublicURL("b"))
	for name, hub := range map[string]*stage.InnerHub{"a": hubs.a, "b": hubs.b} {
		if found := hub.Find(t, "both.work"); len(found) != 1 || found[0].HomeHub != "" || !found[0].Registered {
			t.Errorf("hub %s lists %+v, want its own agent alone", name, found)
		}
	}
	sender := stage.NewAgent(t, &hubs.a.Hub)
	sender.Register()
	var sent wire.Sent
	if sender.Send(both.AID(), stage.Sealed(both.AID(), 100)).Ask(t, &sent); sent.Status != "queued" {
		t.Errorf("mail for an agent of the own hub: %+v, want it queued", sent)
	}
	both.Leave()
	learns(t, &hubs.a.Hub, "both.work", both.AID(), stage.PublicURL("b"))
}

// What crosses may be as large as what stays.
func TestALargeMessageCrosses(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	sender, to := stage.NewAgent(t, &hubs.a.Hub), stage.NewAgent(t, &hubs.b.Hub)
	sender.Register()
	to.Register()
	env := stage.Sealed(to.AID(), 12<<20)
	var sent wire.Sent
	sender.Send(to.AID(), env).Ask(t, &sent)
	if got := to.Poll(wire.Poll{}); sent.Status != "forwarded" || len(got.Messages) != 1 || string(got.Messages[0].Envelope) != string(env) {
		t.Errorf("sent %+v, and %d messages came, want the same bytes", sent, len(got.Messages))
	}
}
