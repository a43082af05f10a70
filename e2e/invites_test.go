package e2e

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// A node comes in by an invite and needs it no more: it restarts, the hub
// restarts, the invite is revoked, and it is a member all the same. A new one is
// told why it is not.
func TestInviteJoinRestartRevoke(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--invite-required"}})
	id, token := stage.Invite(t, hub, "--label", "for a story")
	file := stage.Write(t, filepath.Join(stage.Dir(t), "invite"), token+"\n")
	node := stage.NewNode(t, stage.NodeConfig{Name: "member", Tags: []string{"people"}})

	refused(t, node, hub.Hub, wire.InviteRequired)
	node.OK("join", hub.URL, "--token-file", file)
	node.Up()
	refused(t, stage.NewNode(t, stage.NodeConfig{Name: "late"}), hub.Hub, wire.InviteUsedUp, "--token-file", file)

	for _, step := range []struct {
		what string
		how  func()
	}{
		{"a restart of the node", func() {}},
		{"a restart of the hub", func() { hub.Stop(t); hub.Again(t) }},
		{"the revocation of the invite", func() {
			if out := hub.Operate(t, "invite", "revoke", id, "--yes", "--reason", "the story is over"); out.Code != 0 {
				t.Fatalf("revoking: %s", out)
			}
		}},
	} {
		t.Run("a member after "+step.what, func(t *testing.T) {
			node.OK("down")
			step.how()
			node.Up()
			var found wire.Agents
			hub.Get(t, "/agents?cap=people").Ask(t, &found)
			if len(found.Agents) != 1 || found.Agents[0].AID != node.AID {
				t.Errorf("found %+v, want the member", found.Agents)
			}
		})
	}
	refused(t, stage.NewNode(t, stage.NodeConfig{Name: "later"}), hub.Hub, wire.InviteRevoked, "--token-file", file)

	t.Run("its operator sees who came in, also when no hub runs", func(t *testing.T) {
		hub.Stop(t)
		out := hub.Operate(t, "invite", "show", id)
		if out.Code != 0 || !strings.Contains(out.Out, node.AID) || !strings.Contains(out.Out, "1 of 1") {
			t.Errorf("show: %s", out)
		}
		if out := hub.Operate(t, "audit"); !strings.Contains(out.Out, "invite.revoke") || !strings.Contains(out.Out, "the story is over") {
			t.Errorf("audit: %s", out)
		}
		hub.Again(t)
	})
}

// refused tries to join and has to hear the code, with a next step.
func refused(t *testing.T, n *stage.Node, hub *stage.Hub, code string, more ...string) {
	t.Helper()
	out := n.Run(append([]string{"join", hub.URL, "--json"}, more...)...)
	if out.Code != 4 || !strings.Contains(out.Out, `"code": "`+code+`"`) || !strings.Contains(out.Err, "next: ") {
		t.Errorf("%s joins: %s, want exit 4 with %s and the next step", n.Name, out, code)
	}
}

// Thirty strangers come at once, through two processes of one hub, with one
// token. As many are let in as it says, and the rest are told one thing.
func TestThirtyStrangersAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var hubs []*stage.HubProcess
	for _, name := range []string{"hub-a", "hub-b"} {
		hubs = append(hubs, stage.StartHub(t, stage.HubConfig{Name: name, Database: url, Args: []string{"--invite-required"}}))
	}
	for _, uses := range []int{1, 5} {
		id, token := stage.Invite(t, hubs[0], "--uses", strconv.Itoa(uses))
		codes := map[string]int{}
		for _, code := range comeAtOnce(t, hubs, token) {
			codes[code]++
		}
		if codes["200"] != uses || codes["403 invite_used_up"] != 30-uses {
			t.Errorf("answers %v to a token of %d uses", codes, uses)
		}
		if out := hubs[1].Operate(t, "invite", "show", id, "--json"); !strings.Contains(out.Out, `"uses": `+strconv.Itoa(uses)+",") ||
			strings.Count(out.Out, `"status": "registered"`) != uses {
			t.Errorf("shown afterwards: %s", out)
		}
	}
}

func comeAtOnce(t *testing.T, hubs []*stage.HubProcess, token string) []string {
	t.Helper()
	codes := make([]string, 30)
	begin := make(chan struct{})
	var wait sync.WaitGroup
	for i := range codes {
		agent := stage.NewAgent(t, hubs[i%len(hubs)].Hub)
		body := agent.Registration("x")
		body.Invite = token
		wait.Go(func() {
			<-begin
			answer, err := agent.Try(wire.ActionRegister, "/register", body)
			if err != nil {
				codes[i] = err.Error()
				return
			}
			codes[i] = answer.Code()
		})
	}
	close(begin)
	wait.Wait()
	return codes
}

// A host of a hundred nodes restarts: all are listed with what they offer now
// within a minute, under the limits as they are shipped, and none needs an
// invite. A stranger behind the same address is still held to its limit.
func TestAHostOfAHundredRestarts(t *testing.T) {
	t.Parallel()
	const host = 100
	shipped := []string{"--invite-required", "--register-rate", "10", "--register-burst", "20"}
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--invite-required"}})
	_, token := stage.Invite(t, hub, "--uses", strconv.Itoa(host))
	agents := make([]*stage.Agent, host)
	for i := range agents {
		agents[i] = comes(t, hub.Hub, token, "before.restart")
	}
	hub.Stop(t)
	hub.Config.Args = shipped
	hub.Again(t)

	begun := time.Now()
	var wait sync.WaitGroup
	for _, a := range agents {
		wait.Go(func() { a.Register("after.restart") })
	}
	wait.Wait()
	var found wire.Agents
	hub.Get(t, "/agents?cap=after.restart&limit=1000").Ask(t, &found)
	if took := time.Since(begun); len(found.Agents) != host || took > time.Minute+stage.Stall {
		t.Errorf("%d of %d are listed after %s, want all within a minute", len(found.Agents), host, took)
	}
	hub.Get(t, "/agents?cap=before.restart").Ask(t, &found)
	if len(found.Agents) != 0 {
		t.Errorf("%d are found by what they offered before", len(found.Agents))
	}
	codes := map[string]int{}
	for range 100 { // faster than they may come, on a machine that stands still at times
		stranger := stage.NewAgent(t, hub.Hub)
		codes[stranger.Do(wire.ActionRegister, "/register", stranger.Registration()).Code()]++
	}
	if codes["403 invite_required"] < 20 || codes["429 register_rate"] < 5 {
		t.Errorf("strangers behind the same address are told %v", codes)
	}
}

// An invite leaked, and who came in by it is blocked with it: from that moment
// no process does anything for them, and what waited for them still does when
// the block is lifted.
func TestMembersOfALeakedInvite(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	a := stage.StartHub(t, stage.HubConfig{Name: "hub-a", Database: url, Args: []string{"--invite-required"}})
	b := stage.StartHub(t, stage.HubConfig{Name: "hub-b", Database: url, Args: []string{"--invite-required"}})
	leaked, leakedToken := stage.Invite(t, a)
	_, token := stage.Invite(t, a)
	bad, good := comes(t, a.Hub, leakedToken), comes(t, a.Hub, token)
	id := good.Mail(bad.AID(), 100)
	for _, at := range []*stage.Hub{a.Hub, b.Hub} { // both know it from now on
		bad.At(at).Poll(wire.Poll{})
	}

	if out := a.Operate(t, "invite", "revoke", leaked, "--block-members", "--yes"); !strings.Contains(out.Out, bad.AID()) {
		t.Fatalf("revoking: %s", out)
	}
	for _, at := range []*stage.Hub{a.Hub, b.Hub} {
		agent := bad.At(at)
		for what, got := range map[string]stage.Answer{
			"a poll":             agent.Do(wire.ActionPoll, "/relay/poll", wire.Poll{}),
			"an acknowledgement": agent.Do(wire.ActionAck, "/relay/ack", wire.Ack{IDs: []int64{id}}),
			"a send":             agent.Send(good.AID(), stage.Sealed(good.AID(), 100)),
			"a registration":     agent.Do(wire.ActionRegister, "/register", agent.Registration("x")),
		} {
			if got.Code() != "403 blocked" {
				t.Errorf("%s at %s: %s, want 403 blocked", what, at.URL, got)
			}
		}
		if got := good.At(at).Send(bad.AID(), stage.Sealed(bad.AID(), 100)); got.Code() != "404 unknown_recipient" {
			t.Errorf("mail for it: %s, want 404 unknown_recipient", got)
		}
	}
	if got := good.Poll(wire.Poll{}); len(got.Messages) != 0 {
		t.Errorf("it sent %d messages", len(got.Messages))
	}
	if out := b.Operate(t, "agent", "unblock", bad.AID()); out.Code != 0 {
		t.Fatalf("unblocking: %s", out)
	}
	if got := bad.At(b.Hub).Poll(wire.Poll{}); len(got.Messages) != 1 || got.Messages[0].ID != id {
		t.Errorf("afterwards %d messages wait, want the one", len(got.Messages))
	}
}

// comes is an agent that has come in by a token.
func comes(t *testing.T, hub *stage.Hub, token string, caps ...string) *stage.Agent {
	t.Helper()
	agent := stage.NewAgent(t, hub)
	body := agent.Registration(caps...)
	body.Invite = token
	var done wire.Registered
	agent.Do(wire.ActionRegister, "/register", body).Ask(t, &done)
	return agent
}
