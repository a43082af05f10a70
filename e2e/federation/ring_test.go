package federation

import (
	"slices"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

var ringNames = []string{"a", "b", "c"}

// ring are three hubs with an agent each. All of them deliver to one another;
// the flags of a step say how far a hub learns from the next one and the one
// after that.
func ring(t *testing.T, steps ...[]string) (hubs []*stage.InnerHub, agents []*stage.Agent) {
	t.Helper()
	for _, name := range ringNames {
		hubs = append(hubs, stage.FederatedHub(t, name))
	}
	for i, hub := range hubs {
		for step, flags := range steps {
			there := (i + step + 1) % len(hubs)
			stage.AddPeer(t, hub, ringNames[there], hubs[there].URL, flags...)
		}
		agents = append(agents, agent(t, hub, ringNames[i], "ring.work"))
	}
	return hubs, agents
}

// Each hub learns from the next alone: nobody is passed on by who was only told
// of him.
func TestARingPassesNobodyOn(t *testing.T) {
	t.Parallel()
	hubs, agents := ring(t, nil, []string{"--discovery", "off"})
	for i, hub := range hubs {
		next := (i + 1) % len(hubs)
		learns(t, &hub.Hub, "ring.work", agents[next].AID(), stage.PublicURL(ringNames[next]))
	}
	for i, hub := range hubs {
		found := hub.Find(t, "ring.work")
		if len(found) != 2 || found[0].AID != agents[i].AID() {
			t.Errorf("hub %s lists %+v, want its own agent and then that of its neighbour", ringNames[i], found)
		}
		var page struct{ Cards []struct{} }
		hub.Get(t, "/fed/v2/cards?cursor=0").Ask(t, &page)
		if len(page.Cards) != 1 {
			t.Errorf("hub %s tells of %d agents, want its own", ringNames[i], len(page.Cards))
		}
	}
}

// Where all learn from all, everybody is listed once.
func TestEverybodyIsListedOnce(t *testing.T) {
	t.Parallel()
	hubs, agents := ring(t, nil, nil)
	for i, hub := range hubs {
		for _, there := range []int{(i + 1) % 3, (i + 2) % 3} {
			learns(t, &hub.Hub, "ring.work", agents[there].AID(), stage.PublicURL(ringNames[there]))
		}
		if found := hub.Find(t, "ring.work"); len(found) != 3 || found[0].AID != agents[i].AID() {
			t.Errorf("hub %s lists %+v, want its own agent first and each once", ringNames[i], found)
		}
	}
}

// received is how many messages a hub was offered, whatever it said to them.
func received(t *testing.T, hub *stage.InnerHub) (n int) {
	t.Helper()
	for name, v := range stage.Series(t, &hub.Hub) {
		if strings.HasPrefix(name, "anet_hub_forward_received_total{") {
			n += int(v)
		}
	}
	return n
}

// A message is offered to each peer once and carried no further: what is for
// nobody does not go round.
func TestNoMessageGoesRound(t *testing.T) {
	t.Parallel()
	hubs, agents := ring(t, nil, nil)
	offers := func() (n []int) {
		for _, hub := range hubs {
			n = append(n, received(t, hub))
		}
		return n
	}
	before := offers() // those that asked whether a peer is known
	want := []int{before[0], before[1] + 1, before[2] + 1}
	nobody := stage.NewAgent(t, &hubs[0].Hub).AID()
	if answer := agents[0].Send(nobody, stage.Sealed(nobody, 100)); answer.Code() != "404 unknown_recipient" {
		t.Errorf("mail for nobody: %s, want 404 unknown_recipient", answer)
	}
	if n := offers(); !slices.Equal(n, want) {
		t.Errorf("with it the three hubs were offered %v messages, want %v: one more each but the first", n, want)
	}
	for i := 1; i < len(hubs); i++ {
		var sent wire.Sent
		agents[0].Send(agents[i].AID(), stage.Sealed(agents[i].AID(), 100)).Ask(t, &sent)
		if got := agents[i].Poll(wire.Poll{}); len(got.Messages) != 1 || sent.ViaHub != hubs[i].AID {
			t.Errorf("to hub %s: %+v, %d messages there, want one", ringNames[i], sent, len(got.Messages))
		}
	}
}
