package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/node/app"
	"github.com/anet-hub/anet/shared/wire"
)

// Whatever is killed, lost or sent twice, an effect happens once, and both
// sides hold one and the same receipt.

func TestKilledWhileTheProgramWorks(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	arrived, hold := make(chan struct{}), make(chan struct{})
	program := stage.StartProgram(t, func(http.ResponseWriter, *http.Request, []byte) {
		arrived <- struct{}{}
		<-hold
	})
	defer close(hold)
	provider := stage.StartNode(t, &hub.Hub, serving(program))
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	asked := ask(t, caller, provider)
	<-arrived
	for range 2 { // twice: the second time before anything but recovery happened
		provider.Kill()
		provider.Launch()
	}
	done := caller.Ended(asked.ID)
	if got := stage.Outcome(done); got != "completed UNVERIFIED interrupted verified" {
		t.Errorf("the caller is told %s, want completed UNVERIFIED interrupted verified", got)
	}
	if n := program.Effects(asked.ID); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	sameReceipt(t, provider, done)
}

func TestKilledBeforeTheAcknowledgement(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	line := stage.NewLine(t, &hub.Hub)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &line.Hub, serving(program))
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	line.Lose("/relay/ack", stage.Request)

	first, _ := caller.Call(provider.AID, "p.work", `{}`)
	if got := stage.Outcome(first); got != "completed OK verified" {
		t.Fatalf("the call: %s", got)
	}
	for range 2 {
		lost := line.Lost("/relay/ack")
		provider.Kill()
		provider.Up()
		stage.Until(t, stage.Patience, "the message came again, and its acknowledgement got lost", func() bool {
			return line.Lost("/relay/ack") > lost
		})
	}
	line.Lose("/relay/ack", stage.Nothing)
	stage.Until(t, stage.Patience, "the mailboxes are empty", func() bool {
		return stage.Metric(t, &hub.Hub, "anet_hub_relay_mail_messages") == 0
	})
	if n := program.Effects(first.ID); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	later := caller.Task(first.ID)
	if !bytes.Equal(later.Receipt, first.Receipt) || later.ResultCID != first.ResultCID {
		t.Error("the caller's result is another one now")
	}
	sameReceipt(t, provider, later)
}

func TestLostAnswersToSends(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	line, back := stage.NewLine(t, &hub.Hub), stage.NewLine(t, &hub.Hub)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &back.Hub, serving(program))
	caller := stage.StartNode(t, &line.Hub, stage.NodeConfig{Name: "caller"})
	line.Lose("/relay/send", stage.Response)
	back.Lose("/relay/send", stage.Response)

	asked := ask(t, caller, provider)
	for _, l := range []*stage.Line{line, back} {
		stage.Until(t, stage.Patience, "a message was sent and its sender does not know", func() bool { return l.Lost("/relay/send") > 0 })
	}
	done := caller.Ended(asked.ID)
	if got := stage.Outcome(done); got != "completed OK verified" {
		t.Errorf("%s, want completed OK verified", got)
	}
	for _, l := range []*stage.Line{line, back} {
		l.Lose("/relay/send", stage.Nothing)
	}
	stage.Until(t, stage.Patience, "the result was sent again", func() bool { return len(back.Bodies("/relay/send")) > 0 })
	stage.Until(t, stage.Patience, "the mailboxes are empty", func() bool {
		return stage.Metric(t, &hub.Hub, "anet_hub_relay_mail_messages") == 0
	})
	if n := program.Effects(asked.ID); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	again := caller.Task(asked.ID)
	if !bytes.Equal(again.Receipt, done.Receipt) || !bytes.Equal(again.Deliverable, done.Deliverable) || again.LateResult {
		t.Errorf("the result that came twice is another one the second time:\n%s\n%s", done.Deliverable, again.Deliverable)
	}
	sameReceipt(t, provider, again)
}

// Anybody may put an envelope into a mailbox again: the hub does not know whose
// it is.
func TestTheSameEnvelopeAgain(t *testing.T) {
	t.Parallel()
	hub := stage.HubInside(t)
	line := stage.NewLine(t, &hub.Hub)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &hub.Hub, serving(program))
	caller := stage.StartNode(t, &line.Hub, stage.NodeConfig{Name: "caller"})
	mallory := stage.NewAgent(t, &hub.Hub)
	mallory.Register()

	done, _ := caller.Call(provider.AID, "p.work", `{}`)
	var sent wire.Send
	stage.Must(t, json.Unmarshal(line.Bodies("/relay/send")[0], &sent))
	for range 5 {
		if answer := mallory.Send(sent.ToAID, sent.Envelope); answer.Status != 200 {
			t.Fatalf("the hub: %s", answer)
		}
	}
	stage.Until(t, stage.Patience, "the mailboxes are empty", func() bool {
		return stage.Metric(t, &hub.Hub, "anet_hub_relay_mail_messages") == 0
	})
	if n := program.Effects(done.ID); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
	later := caller.Task(done.ID)
	if !bytes.Equal(later.Receipt, done.Receipt) {
		t.Error("the caller's result is another one now")
	}
	sameReceipt(t, provider, later)
}

// serving is a node behind whose one public capability the program stands.
func serving(p *stage.Program) stage.NodeConfig {
	return stage.NodeConfig{Name: "provider", Public: []any{"p.work"}, Programs: map[string]string{"p.work": p.URL}}
}

// ask calls it and does not wait.
func ask(t *testing.T, caller, provider *stage.Node) (asked app.Task) {
	t.Helper()
	if code := caller.JSON(&asked, "delegate", provider.AID, "--capability", "p.work", "--args", "{}"); code != 0 {
		t.Fatalf("delegate ended with %d", code)
	}
	return asked
}

// sameReceipt compares what the provider keeps with what the requester got.
func sameReceipt(t *testing.T, provider *stage.Node, theirs app.Task) {
	t.Helper()
	var ours app.Task
	stage.Until(t, stage.Patience, "the provider answers", func() bool {
		return provider.Run("task", "get", theirs.ID).Code == 0
	})
	provider.JSON(&ours, "task", "get", theirs.ID)
	if !bytes.Equal(ours.Receipt, theirs.Receipt) || len(ours.Receipt) == 0 || ours.ResultCID != theirs.ResultCID {
		t.Errorf("the provider keeps another receipt than the requester got: %s, %s", ours.ResultCID, theirs.ResultCID)
	}
}

// What a stranger leaves in a mailbox holds nothing up.
func TestPoisonHoldsNothingUp(t *testing.T) {
	hub := stage.HubInside(t)
	program := stage.StartProgram(t, nil)
	provider := stage.StartNode(t, &hub.Hub, serving(program))
	caller := stage.StartNode(t, &hub.Hub, stage.NodeConfig{Name: "caller"})
	mallory := stage.NewAgent(t, &hub.Hub)
	mallory.Register()
	provider.Kill()
	for range 150 {
		mallory.Mail(provider.AID, 400)
	}
	asked := ask(t, caller, provider)
	provider.Up()
	if got := stage.Outcome(caller.Ended(asked.ID)); got != "completed OK verified" {
		t.Errorf("the call behind the poison: %s, want completed OK verified", got)
	}
	stage.Until(t, stage.Patience, "the poison is gone", func() bool {
		return stage.Metric(t, &hub.Hub, "anet_hub_relay_mail_messages") == 0
	})
	if s, _ := provider.Status(); s.Dropped["sealed-to-unknown-key"] != 150 {
		t.Errorf("the node counts %v, want 150 messages sealed to a key it does not hold", s.Dropped)
	}
}
