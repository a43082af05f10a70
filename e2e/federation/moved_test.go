package federation

import (
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/wire"
)

// A node leaves one hub for another. From then on everybody reaches it there,
// also those who are still where it was, and what waited there is answered.
func TestANodeMovesToAnotherHub(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	program := stage.StartProgram(t, nil)
	mover := stage.StartNode(t, &hubs.a.Hub, stage.NodeConfig{
		Name: "mover", Public: []any{"m.work"}, Programs: map[string]string{"m.work": program.URL},
		More: map[string]any{"visibility": "federated"},
	})
	stays := stage.StartNode(t, &hubs.a.Hub, stage.NodeConfig{Name: "stays"})
	there := stage.StartNode(t, &hubs.b.Hub, stage.NodeConfig{Name: "there"})
	reached := func(when string) {
		t.Helper()
		for _, n := range []*stage.Node{stays, there} {
			if task, code := n.Call(mover.AID, "m.work", `{}`); code != 0 || stage.Outcome(task) != "completed OK verified" {
				t.Errorf("%s, %s calls: exit %d, %s, want 0, completed OK verified", when, n.Name, code, stage.Outcome(task))
			}
		}
	}
	learns(t, &hubs.b.Hub, "m.work", mover.AID, stage.PublicURL("a"))
	reached("before it moves")

	mover.OK("down")
	var waits app.Task
	if code := stays.JSON(&waits, "delegate", mover.AID, "--capability", "m.work", "--args", "{}"); code != 8 && code != 0 {
		t.Fatalf("a call while it is down: exit %d", code)
	}
	stage.Until(t, stage.Patience, "the call waits at the old hub", func() bool {
		s, up := stays.Status()
		return up && s.Outbox == 0
	})
	if out := mover.OK("join", hubs.b.URL, "--move"); !strings.Contains(out.Err, "fetched from "+hubs.a.URL) {
		t.Errorf("of the mail at the old hub it says %s", out)
	}
	mover.Up()
	stage.Until(t, stage.Patience, "what waited at the old hub is answered", func() bool {
		return stage.Outcome(stays.Task(waits.ID)) == "completed OK verified"
	})
	reached("after it moved")
	if page := hubs.b.Page(t, mover.AID); !page.Agent.Registered || page.Agent.HomeHub != "" {
		t.Errorf("its new hub shows it as %+v, want one of its own", page.Agent)
	}
	learns(t, &hubs.a.Hub, "m.work", mover.AID, stage.PublicURL("b"))
	if page := hubs.a.Page(t, mover.AID); page.Agent.Registered {
		t.Errorf("its old hub shows it as registered: %+v", page.Agent)
	}
}

// The hub that an agent left never takes its mail again: it carries it to the
// other or refuses it. A leave that is shown twice, and that of somebody else, do
// nothing.
func TestMailFollowsWhoLeft(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	mover, sender := stage.NewAgent(t, &hubs.a.Hub), stage.NewAgent(t, &hubs.a.Hub)
	mover.Register()
	sender.Register()
	moved := mover.At(&hubs.b.Hub)
	path := "/agents/" + mover.AID() + "/deregister"

	sent := func() wire.Sent {
		t.Helper()
		var s wire.Sent
		sender.Send(mover.AID(), stage.Sealed(mover.AID(), 200)).Ask(t, &s)
		return s
	}
	if got := sent(); got.Status != "queued" {
		t.Fatalf("before: %+v, want it queued", got)
	}
	moved.Register()
	leave := mover.Request(wire.ActionDeregister, path, []byte(`{}`))
	show := func(want string) {
		t.Helper()
		again := leave.Clone(t.Context())
		again.Body, _ = leave.GetBody()
		answer, err := stage.Send(mover.HTTP, again)
		stage.Must(t, err)
		if answer.Code() != want {
			t.Errorf("the leave: %s, want %s", answer, want)
		}
	}
	show("200")

	for range 3 {
		if got := sent(); got.Status != "forwarded" || got.ViaHub != hubs.b.AID {
			t.Errorf("after it left: %+v, want it forwarded to the other hub", got)
		}
	}
	if got := moved.Poll(wire.Poll{}); len(got.Messages) != 3 {
		t.Errorf("%d messages at the new hub, want three", len(got.Messages))
	}
	if answer := mover.Do(wire.ActionPoll, "/relay/poll", wire.Poll{}); answer.Status != 401 {
		t.Errorf("its mail at the hub it left: %s, want 401", answer)
	}

	// Back at the first hub as well, the old leave is no leave any more.
	mover.Register()
	show("401 replayed")
	if answer := sender.Do(wire.ActionDeregister, path, struct{}{}); answer.Code() != "401 not_the_owner" {
		t.Errorf("the leave of somebody else: %s, want 401 not_the_owner", answer)
	}
	if got := sent(); got.Status != "queued" {
		t.Errorf("back again: %+v, want it queued", got)
	}
	moved.Leave()
	if answer := sender.At(&hubs.b.Hub).Do(wire.ActionSend, "/relay/send", wire.Send{ToAID: mover.AID()}); answer.Status != 401 {
		t.Errorf("who is not at a hub sends there: %s, want 401", answer)
	}
}

// An agent that nobody has is refused at once, whichever hub is asked.
func TestMailForNobodyIsRefused(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	sender, gone := stage.NewAgent(t, &hubs.a.Hub), stage.NewAgent(t, &hubs.b.Hub)
	sender.Register()
	gone.Register()
	gone.Leave()
	if answer := sender.Send(gone.AID(), stage.Sealed(gone.AID(), 200)); answer.Code() != "404 unknown_recipient" {
		t.Errorf("%s, want 404 unknown_recipient", answer)
	}
}
