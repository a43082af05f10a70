package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
)

// Both a node and a hub may replace their signing keys: who they are stays, and
// nobody has to do anything about it.
func TestRotations(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, hub.Hub, stage.NodeConfig{
		Name: "provider", Public: []any{"p.open"}, Programs: map[string]string{"p.open": program.URL},
	})
	caller := stage.StartNode(t, hub.Hub, stage.NodeConfig{Name: "caller"})
	works := func(t *testing.T) {
		t.Helper()
		if task, code := caller.Call(provider.AID, "p.open", `{}`); code != 0 || stage.Outcome(task) != "completed OK verified" {
			t.Errorf("a call: exit %d, %s, want 0, completed OK verified", code, stage.Outcome(task))
		}
	}
	works(t)
	type identity struct {
		AID    string `json:"aid"`
		KeySeq int    `json:"key_seq"`
		Seq    int    `json:"seq"`
	}
	for _, n := range []*stage.Node{provider, caller} {
		t.Run("of the "+n.Name, func(t *testing.T) {
			var id identity
			if n.JSON(&id, "identity", "rotate"); id.AID != n.AID || id.KeySeq != 1 {
				t.Errorf("after it: %+v, want the same AID and key state 1", id)
			}
			works(t)
		})
	}
	t.Run("of the hub", func(t *testing.T) {
		var id identity
		out := hub.Operate(t, "identity", "rotate", "--json")
		stage.Must(t, json.Unmarshal([]byte(out.Out), &id))
		if id.AID != hub.AID || id.Seq != 1 {
			t.Errorf("after it: %+v, want the same AID and key state 1", id)
		}
		works(t)
	})
	t.Run("all of them start again", func(t *testing.T) {
		hub.Stop(t)
		hub.Again(t)
		for _, n := range []*stage.Node{provider, caller} {
			n.OK("down")
			n.Up()
		}
		works(t)
	})
}

// A node trusts one hub key. Somebody else at the same address gets nothing.
// A call in the moment of a rotation, of whoever takes part, costs no attempt
// that fails: each message is posted once. A first attempt that the hub refuses,
// because it has not heard of the new key yet, would cost seconds.
func TestCallsInTheMomentOfARotation(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	there, back := stage.NewLine(t, hub.Hub), stage.NewLine(t, hub.Hub)
	program := stage.StartProgram(t, nil)
	caller := stage.StartNode(t, &there.Hub, stage.NodeConfig{Name: "caller"})
	provider := stage.StartNode(t, &back.Hub, serving(program))
	sends := func() int { return len(there.Bodies("/relay/send")) + len(back.Bodies("/relay/send")) }
	call := func(t *testing.T) {
		t.Helper()
		before := sends()
		task, code := caller.Call(provider.AID, "p.work", `{}`)
		if code != 0 || stage.Outcome(task) != "completed OK verified" {
			t.Errorf("a call: exit %d, %s, want 0, completed OK verified", code, stage.Outcome(task))
		}
		if n := sends() - before; n != 2 {
			t.Errorf("%d messages were posted for a call, want the request and the result", n)
		}
	}
	call(t)
	for range 3 {
		for _, n := range []*stage.Node{caller, provider} {
			t.Run("of the "+n.Name, func(t *testing.T) {
				n.OK("identity", "rotate")
				call(t)
			})
		}
	}
	t.Run("of both, before they start", func(t *testing.T) {
		for _, n := range []*stage.Node{caller, provider} {
			n.OK("down")
			n.OK("identity", "rotate")
			n.Launch()
			stage.Until(t, stage.Patience, "it can be asked", func() bool { _, up := n.Status(); return up })
		}
		call(t)
	})
	t.Run("of the hub", func(t *testing.T) {
		hub.Operate(t, "identity", "rotate", "--json")
		call(t)
	})
}

func TestAnotherHubAtTheAddressIsRefused(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	node := stage.StartNode(t, hub.Hub, stage.NodeConfig{Name: "node", Tags: []string{"a.tag"}})
	node.OK("down")
	hub.Stop(t)
	impostor := stage.StartHub(t, stage.HubConfig{Name: "impostor", Port: hub.Config.Port})
	if impostor.AID == hub.AID {
		t.Fatal("another folder, and the same hub")
	}
	t.Run("at join", func(t *testing.T) {
		if out := node.Run("join", impostor.URL); out.Code == 0 || !strings.Contains(out.Err, "hub") {
			t.Errorf("joining: %s, want a refusal", out)
		}
	})
	t.Run("at start", func(t *testing.T) {
		node.Launch()
		stage.Until(t, stage.Patience, "the node says what is wrong", func() bool {
			s, up := node.Status()
			return up && s.RegisterError != "" && !s.Registered
		})
		if got := impostor.Get(t, "/agents?cap=a.tag"); strings.Contains(got.String(), node.AID) {
			t.Error("the impostor lists the node")
		}
	})
	t.Run("the right one is taken again", func(t *testing.T) {
		impostor.Stop(t)
		hub.Again(t)
		node.OK("hub-register")
	})
}
