package stage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/shared/card"
	"github.com/anet-hub/anet/shared/wire"
)

// loopback is where the hubs of stories stand. None calls another there unless
// it is allowed.
const loopback = "127.0.0.0/8"

// PublicURL is what a hub of stories tells as its address. A card never names a
// machine's own address, so that without one there are no cards to learn.
func PublicURL(name string) string { return "https://" + name + ".example.org" }

// FederatedHub is a hub inside the test process that may have peers on this
// machine.
func FederatedHub(t testing.TB, name string, change ...func(*app.Config)) *InnerHub {
	t.Helper()
	return HubInside(t, append([]func(*app.Config){func(c *app.Config) {
		c.PublicURL, c.PeerRanges = PublicURL(name), []string{loopback}
	}}, change...)...)
}

// FederatedConfig is the same of a hub that is a process of its own.
func FederatedConfig(name, database string, args ...string) HubConfig {
	return HubConfig{Name: name, Database: database, Args: append([]string{"--public-url", PublicURL(name)}, args...),
		Env: []string{"ANET_HUB_PEER_ALLOW_RANGE=" + loopback}}
}

// Federating is a hub that has an operator and can be asked.
type Federating interface {
	Operator
	Get(t testing.TB, path string) Answer
	HasPeer(t testing.TB, aid string) bool
}

// AddPeer makes whoever answers at url a peer of a hub, as its operator does, and
// returns when the hub that serves goes by it.
func AddPeer(t testing.TB, hub Federating, name, url string, flags ...string) {
	t.Helper()
	args := append([]string{"peer", "add", url, "--yes", "--json", "--name", name, "--peer-allow-range", loopback}, flags...)
	out := hub.Operate(t, args...)
	var added struct{ AID string }
	if err := json.Unmarshal([]byte(out.Out), &added); err != nil || out.Code != 0 {
		t.Fatalf("anet-hub peer add: %v %s", err, out)
	}
	Until(t, Patience, "the hub goes by its new peer", func() bool { return hub.HasPeer(t, added.AID) })
}

// HasPeer reports whether a hub takes mail from a peer: it looks at the origin of
// what is forwarded before it looks at how far that went (wire 2, J.2).
func (h *Hub) HasPeer(t testing.TB, aid string) bool {
	t.Helper()
	body := fmt.Sprintf(`{"v":2,"origin_hub_aid":%q,"dest_aid":%[1]q,"payload":"","payload_cid":"","hop":99,"seen_hubs":[],"ts":0,"key_state_seq":0,"sig":""}`, aid)
	resp, err := patient.Post(h.URL+"/fed/v1/forward", "application/json", strings.NewReader(body))
	Must(t, err)
	defer resp.Body.Close()
	var refused struct{ Error string }
	Must(t, json.NewDecoder(resp.Body).Decode(&refused))
	return refused.Error == "HOP_EXCEEDED"
}

// Federate makes two hubs each other's peers, by the addresses at which each
// sees the other.
func Federate(t testing.TB, a Federating, seesB string, b Federating, seesA string) {
	t.Helper()
	AddPeer(t, a, "to-b", seesB)
	AddPeer(t, b, "to-a", seesA)
}

// Find is what a hub answers to ?cap=.
func (h *Hub) Find(t testing.TB, capability string) []wire.Agent {
	t.Helper()
	var found wire.Agents
	h.Get(t, "/agents?cap="+capability).Ask(t, &found)
	return found.Agents
}

// Lists reports whether a hub's answer to ?cap= has an agent.
func (h *Hub) Lists(t testing.TB, capability, aid string) bool {
	t.Helper()
	return slices.ContainsFunc(h.Find(t, capability), func(a wire.Agent) bool { return a.AID == aid })
}

// Page is what a hub tells of one agent; nothing of one it does not know.
func (h *Hub) Page(t testing.TB, aid string) (page wire.AgentPage) {
	t.Helper()
	if answer := h.Get(t, "/agents/"+aid); answer.Status != http.StatusNotFound {
		answer.Ask(t, &page)
	}
	return page
}

// Peers is what anet-hub peer list says, by the peers' names.
func Peers(t testing.TB, hub Operator) map[string]json.RawMessage {
	t.Helper()
	out := hub.Operate(t, "peer", "list", "--json")
	var list struct{ Peers []json.RawMessage }
	if err := json.Unmarshal([]byte(out.Out), &list); err != nil {
		t.Fatalf("anet-hub peer list: %v: %s", err, out)
	}
	byName := map[string]json.RawMessage{}
	for _, p := range list.Peers {
		var named struct{ Name string }
		Must(t, json.Unmarshal(p, &named))
		byName[named.Name] = p
	}
	return byName
}

// Offer registers the agent with a card for each capability, seen as far as the
// visibility says. home is the hub's address on the card.
func (a *Agent) Offer(home, visibility string, capabilities ...string) {
	a.t.Helper()
	p := card.Profile{AID: a.AID(), HubURL: home, Name: "an agent"}
	for _, id := range capabilities {
		p.Skills = append(p.Skills, card.Skill{ID: id, Name: id, Description: id, Tags: []string{"story"}})
	}
	signed, err := card.Publish(a.Controller, p, a.card, time.Now())
	Must(a.t, err)
	a.card = signed
	body := a.Registration(capabilities...)
	body.A2ACard = signed
	var done wire.Registered
	a.Do(wire.ActionRegister, "/register", body).Ask(a.t, &done)
	if done.CardError != "" {
		a.t.Fatalf("the card was not taken: %s", done.CardError)
	}
	a.Visible(visibility)
}

// Visible says who may learn of the agent.
func (a *Agent) Visible(visibility string) {
	a.t.Helper()
	var set wire.VisibilitySet
	a.Do(wire.ActionVisibility, "/agents/"+a.AID()+"/visibility", wire.Visibility{Visibility: visibility}).Ask(a.t, &set)
}

// Leave deregisters the agent.
func (a *Agent) Leave() {
	a.t.Helper()
	var left wire.Deregistered
	a.Do(wire.ActionDeregister, "/agents/"+a.AID()+"/deregister", struct{}{}).Ask(a.t, &left)
}
