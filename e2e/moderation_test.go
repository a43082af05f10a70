package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	nodeapp "github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/wire"
)

// An agent falls silent: processes that share a database take it out of the index
// once, and one poll at any of them puts it back.
func TestASilentAgentLeavesTheListsAndIsBackWithOnePoll(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	const hidden = 30 * time.Second // and as long after a poll both lists can be looked at
	hasty := func(c *app.Config) { c.DatabaseURL, c.QuietAfter, c.HiddenAfter = database, time.Second, hidden }
	a, b := stage.HubInside(t, hasty), stage.HubInside(t, hasty)
	agent := stage.NewAgent(t, &a.Hub)
	agent.Register("x.silent")
	at := func(hub *stage.InnerHub) []wire.Agent {
		var found wire.Agents
		hub.Get(t, "/agents?cap=x.silent").Ask(t, &found)
		return found.Agents
	}
	rows := func() (n int) {
		conn, err := pgx.Connect(t.Context(), database)
		stage.Must(t, err)
		defer conn.Close(t.Context())
		stage.Must(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM agent_cap WHERE aid = $1`, agent.AID()).Scan(&n))
		return n
	}
	for range 2 {
		stage.Until(t, stage.Patience, "it is in no index", func() bool {
			silence(t, database, agent.AID(), hidden+time.Second) // again: a sign of life may still be on its way
			return rows() == 0
		})
		if len(at(a))+len(at(b)) != 0 {
			t.Fatal("it is listed, and in no index")
		}
		agent.At(&b.Hub).Poll(wire.Poll{})
		stage.Until(t, stage.Patience, "both list it again", func() bool { return len(at(a)) == 1 && len(at(b)) == 1 })
	}
}

// What an operator decides about a node, as the node and those who look for it
// see it.
func TestANodeIsToldWhatKeepsItFromBeingListed(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	program := stage.StartProgram(t, nil)
	node := stage.StartNode(t, &hub.Hub, stage.NodeConfig{
		Name: "node", Public: []any{"p.open"}, Programs: map[string]string{"p.open": program.URL},
	})
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	operate := func(args ...string) {
		t.Helper()
		if out := hub.Operate(t, args...); out.Code != 0 {
			t.Fatalf("anet-hub %s: %s", strings.Join(args, " "), out)
		}
	}
	listed := func() int {
		var found wire.Agents
		hub.Get(t, "/agents?cap=p.open").Ask(t, &found)
		return len(found.Agents)
	}
	tells := func(what string) {
		t.Helper()
		var s nodeapp.Status
		if code := node.JSON(&s, "status"); code != 3 || !strings.Contains(s.Unlisted, what) {
			t.Errorf("status: exit %d, unlisted %q, want 3 and %q", code, s.Unlisted, what)
		}
		if out := node.Run("doctor"); out.Code != 3 || !strings.Contains(out.Out, what) {
			t.Errorf("doctor: %s, want a finding with %q", out, what)
		}
	}

	operate("agent", "hide", node.AID, "--reason", "under review")
	if listed() != 0 {
		t.Error("hidden, and listed")
	}
	tells("hidden by the hub's operator")
	if task, code := caller.Call(node.AID, "p.open", `{}`); code != 0 {
		t.Errorf("hidden, a call of who knows it: exit %d, %s", code, stage.Outcome(task))
	}
	operate("agent", "unhide", node.AID)
	if listed() != 1 {
		t.Error("shown again, and not listed")
	}

	operate("agent", "block", node.AID, "--reason", "sends junk")
	if listed() != 0 {
		t.Error("blocked, and listed")
	}
	tells("blocked by the hub's operator")
	if task, code := caller.Call(node.AID, "p.open", `{}`); code != 4 {
		t.Errorf("blocked, a call: exit %d, %s, want 4", code, stage.Outcome(task))
	}
	operate("agent", "unblock", node.AID)
	if task, code := caller.Call(node.AID, "p.open", `{}`); code != 0 || listed() != 1 {
		t.Errorf("afterwards, a call: exit %d, %s; %d listed", code, stage.Outcome(task), listed())
	}
	var s nodeapp.Status
	if code := node.JSON(&s, "status"); code != 0 || s.Unlisted != "" {
		t.Errorf("afterwards status ends with %d and tells %q", code, s.Unlisted)
	}
}

// Leaving is done once, by who leaves: its request repeated after it came back
// does nothing, nor does another's.
func TestALeaveIsGoodOnce(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	agent, other := stage.NewAgent(t, &hub.Hub), stage.NewAgent(t, &hub.Hub)
	agent.Register("x.y")
	other.Register()
	path := "/agents/" + agent.AID() + "/deregister"
	leave := agent.Request(wire.ActionDeregister, path, []byte(`{}`))
	for i, want := range []string{"200", "401 replayed"} {
		again := leave.Clone(t.Context())
		again.Body, _ = leave.GetBody()
		answer, err := stage.Send(agent.HTTP, again)
		stage.Must(t, err)
		if got := strings.TrimSpace(answer.Code()); got != want && i == 1 || answer.Status != 200 && i == 0 {
			t.Errorf("leaving for the time %d: %s, want %s", i+1, answer, want)
		}
		if got := other.Send(agent.AID(), stage.Sealed(agent.AID(), 100)); i == 0 && got.Code() != "404 unknown_recipient" {
			t.Errorf("mail for who has left: %s, want 404 unknown_recipient", got)
		}
		agent.Register("x.y")
	}
	if got := other.Do(wire.ActionDeregister, path, struct{}{}); got.Code() != "401 not_the_owner" {
		t.Errorf("another's leave: %s, want 401 not_the_owner", got)
	}
	var found wire.Agents
	hub.Get(t, "/agents?cap=x.y").Ask(t, &found)
	if len(found.Agents) != 1 {
		t.Errorf("afterwards %d agents are listed, want the one", len(found.Agents))
	}
}
