// Package federation tells stories of hubs that find and deliver for each other:
// real hubs and nodes, each hub on a database of its own, what is between them cut
// and healed by a link. They wait more than they work, and run side by side.
package federation

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
)

func TestMain(m *testing.M) { stage.Main(m) }

// round is how long news may take to a peer, whose rounds grow to two minutes. They
// begin with seconds, which is what these stories wait for.
const round = 2*time.Minute + stage.Stall

// pair is two hubs that are each other's peers.
type pair struct{ a, b *stage.InnerHub }

func federated(t *testing.T, change ...func(*app.Config)) pair {
	t.Helper()
	p := pair{stage.FederatedHub(t, "a", change...), stage.FederatedHub(t, "b", change...)}
	stage.Federate(t, p.a, p.b.URL, p.b, p.a.URL)
	return p
}

// agent is one that hubs can learn of, at a hub that is called name.
func agent(t *testing.T, hub *stage.InnerHub, name string, capabilities ...string) *stage.Agent {
	t.Helper()
	a := stage.NewAgent(t, &hub.Hub)
	a.Offer(stage.PublicURL(name), "federated", capabilities...)
	return a
}

// learns waits until a hub lists the agent, at the hub that is called home.
func learns(t *testing.T, hub *stage.Hub, capability, aid, home string) {
	t.Helper()
	stage.Until(t, round, "the agent is listed as one of "+home, func() bool {
		for _, found := range hub.Find(t, capability) {
			if found.AID == aid && found.HomeHub == home {
				return true
			}
		}
		return false
	})
}

// forgets waits until a hub lists the agent no more.
func forgets(t *testing.T, hub *stage.Hub, capability, aid string) {
	t.Helper()
	stage.Until(t, round, "the agent is gone from the lists", func() bool { return !hub.Lists(t, capability, aid) })
}
