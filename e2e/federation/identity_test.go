package federation

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/app"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// carried has one agent send to another and says that it arrived over the peer. A hub
// that finds no time to look at a peer's history refuses for now, and the same message
// is offered again, as a node would.
func carried(t *testing.T, from, to *stage.Agent, via string) {
	t.Helper()
	var sent wire.Sent
	env := stage.Sealed(to.AID(), 100)
	stage.Until(t, round, "the peer takes mail", func() bool {
		answer := from.Send(to.AID(), env)
		return answer.Status == 200 && answer.Read(&sent) == nil
	})
	got := to.Poll(wire.Poll{})
	if sent.Status != "forwarded" || sent.ViaHub != via || len(got.Messages) != 1 {
		t.Errorf("sent %+v, %d messages there, want one forwarded via %s", sent, len(got.Messages), via)
	}
	for _, m := range got.Messages {
		to.Ack(m.ID)
	}
}

// A hub that rotates its key is the hub that it was: peers take its longer
// history by themselves, and mail and news go on both ways.
func TestPeersFollowARotation(t *testing.T) {
	t.Parallel()
	hubs := federated(t)
	anna, bert := agent(t, hubs.a, "a", "a.work"), agent(t, hubs.b, "b", "b.work")
	learns(t, &hubs.a.Hub, "b.work", bert.AID(), stage.PublicURL("b"))
	carried(t, anna, bert, hubs.b.AID)
	for range 2 {
		if out := hubs.a.Operate(t, "identity", "rotate"); out.Code != 0 {
			t.Fatalf("rotate: %s", out)
		}
		// The first message signed by the new key makes the peer look again.
		stage.Until(t, round, "the peer has taken the longer history", func() bool {
			answer := anna.Send(bert.AID(), stage.Sealed(bert.AID(), 100))
			return answer.Status == 200
		})
		for _, m := range bert.Poll(wire.Poll{}).Messages {
			bert.Ack(m.ID)
		}
		carried(t, anna, bert, hubs.b.AID)
		carried(t, bert, anna, hubs.a.AID)
	}
	late := agent(t, hubs.a, "a", "late.work")
	learns(t, &hubs.b.Hub, "late.work", late.AID(), stage.PublicURL("a"))
}

// Somebody else at a peer's address is not the peer. As soon as that is seen it is
// sent nothing by any process, however willing it is; and what it sends itself is
// never taken.
func TestAnotherHubAtAPeersAddress(t *testing.T) {
	t.Parallel()
	a, b := stage.FederatedHub(t, "a"), stage.FederatedHub(t, "b")
	beside := stage.FederatedHub(t, "a", func(c *app.Config) { c.DatabaseURL = a.Database })
	front := stage.NewLink(t, b.URL)
	stage.Federate(t, a, front.URL, b, a.URL)
	bert := agent(t, b, "b", "b.work")
	learns(t, &a.Hub, "b.work", bert.AID(), stage.PublicURL("b"))
	sender := stage.NewAgent(t, &a.Hub)
	sender.Register()

	impostor := stage.FederatedHub(t, "impostor")
	stage.AddPeer(t, impostor, "to-a", a.URL)
	liar := agent(t, impostor, "impostor", "b.lie")
	if answer := liar.Send(sender.AID(), stage.Sealed(sender.AID(), 100)); answer.Status == 200 {
		t.Errorf("mail came from somebody who is no peer: %s", answer)
	}
	front.Cut()
	for range 3 { // so that the peer is looked at again
		sender.Send(bert.AID(), stage.Sealed(bert.AID(), 100))
	}
	front.Lead(impostor.URL)
	front.Heal()
	stage.Until(t, round, "it is seen that the peer is another", func() bool {
		return strings.Contains(string(stage.Peers(t, a)["to-b"]), "peer_aid_differs")
	})
	stage.Until(t, stage.Patience, "the other process knows it, too", func() bool {
		return sender.At(&beside.Hub).Send(bert.AID(), stage.Sealed(bert.AID(), 100)).Status == 502
	})
	for _, process := range []*stage.InnerHub{a, beside} {
		if answer := sender.At(&process.Hub).Send(liar.AID(), stage.Sealed(liar.AID(), 100)); answer.Code() != "502 peers_failed" {
			t.Errorf("mail for somebody at the peer's address: %s, want 502 peers_failed", answer)
		}
	}
	front.Lead(b.URL)
	stage.Until(t, round, "the right one is called again", func() bool {
		return sender.Send(bert.AID(), stage.Sealed(bert.AID(), 100)).Status == 200
	})
}

// A hub that was restored from its backup has forgotten what came after, and
// catches up: it takes and carries mail at once, its news of later reach the
// peer, and what it learns anew is listed once.
func TestARestoredHubIsAPeerAgain(t *testing.T) {
	t.Parallel()
	a := stage.FederatedHub(t, "a")
	b := stage.StartHub(t, stage.FederatedConfig("b", pgtest.URL(t)))
	front := stage.NewLink(t, b.URL)
	stage.Federate(t, a, front.URL, b, a.URL)
	anna := agent(t, a, "a", "a.work")
	bert := stage.NewAgent(t, b.Hub)
	bert.Offer(stage.PublicURL("b"), "federated", "b.work")
	learns(t, &a.Hub, "b.work", bert.AID(), stage.PublicURL("b"))

	file := filepath.Join(t.TempDir(), "b.backup")
	if out := b.Operate(t, "backup", file); out.Code != 0 {
		t.Fatalf("backup: %s", out)
	}
	after := stage.NewAgent(t, b.Hub)
	after.Offer(stage.PublicURL("b"), "federated", "b.after")
	learns(t, &a.Hub, "b.after", after.AID(), stage.PublicURL("b"))
	for range 20 { // so that the stream it had was longer than the one it comes back with
		after.Offer(stage.PublicURL("b"), "federated", "b.after")
		after.Visible("hub-local")
	}
	b.Stop(t)

	c := b.Config
	c.Database, c.Port, c.DataDir = pgtest.Empty(t), 0, ""
	if out := (&stage.HubProcess{Config: c}).Operate(t, "restore", file); out.Code != 0 {
		t.Fatalf("restore: %s", out)
	}
	again := stage.StartHub(t, c)
	if again.AID != b.AID {
		t.Fatalf("the restored hub is %s, want %s", again.AID, b.AID)
	}
	front.Lead(again.URL)
	carriedSoon := func(from, to *stage.Agent) {
		t.Helper()
		stage.Until(t, round, "mail is carried again", func() bool {
			return from.Send(to.AID(), stage.Sealed(to.AID(), 100)).Status == 200
		})
	}
	bert = bert.At(again.Hub)
	carriedSoon(anna, bert)
	carriedSoon(bert, anna)
	later := stage.NewAgent(t, again.Hub)
	later.Offer(stage.PublicURL("b"), "federated", "b.later")
	learns(t, &a.Hub, "b.later", later.AID(), stage.PublicURL("b"))
	learns(t, again.Hub, "a.work", anna.AID(), stage.PublicURL("a"))
}
