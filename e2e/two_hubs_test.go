package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

// twoHubs are two processes on one database: one hub with one identity.
func twoHubs(t *testing.T) (a, b *stage.HubProcess) {
	t.Helper()
	url := pgtest.URL(t)
	a = stage.LaunchHub(t, stage.HubConfig{Name: "hub-a", Database: url})
	b = stage.LaunchHub(t, stage.HubConfig{Name: "hub-b", Database: url})
	a.Ready(t, stage.Patience)
	b.Ready(t, stage.Patience)
	if a.AID != b.AID {
		t.Fatalf("two processes on one database are two hubs: %s, %s", a.AID, b.AID)
	}
	return a, b
}

func TestTwoProcessesAreOneHub(t *testing.T) {
	a, b := twoHubs(t)
	alice, bob := stage.NewAgent(t, a.Hub), stage.NewAgent(t, b.Hub)
	alice.Register("text.digest")
	bob.Register()

	t.Run("a registration at one is found at the other", func(t *testing.T) {
		var found wire.Agents
		b.Get(t, "/agents?cap=text.digest").Ask(t, &found)
		if len(found.Agents) != 1 || found.Agents[0].AID != alice.AID() {
			t.Errorf("found %+v, want alice", found.Agents)
		}
	})
	t.Run("a signature is good once, wherever it is shown", func(t *testing.T) {
		r := alice.Request(wire.ActionPoll, "/relay/poll", nil)
		first, err := stage.Send(alice.HTTP, r)
		stage.Must(t, err)
		again := r.Clone(t.Context())
		again.URL.Host = b.URL[len("http://"):]
		second, err := stage.Send(alice.HTTP, again)
		stage.Must(t, err)
		if first.Code() != "200" || second.Code() != "401 replayed" {
			t.Errorf("first at one, then at the other: %s, %s", first, second)
		}
	})
	t.Run("a message through one wakes a poll at the other", func(t *testing.T) {
		wakesAcross(t, alice, bob)
	})
	t.Run("the other goes on when one is killed", func(t *testing.T) {
		id := alice.Mail(bob.AID(), 100)
		a.Kill()
		got := bob.Poll(wire.Poll{WaitMS: stage.Wait(5 * time.Second)})
		if len(got.Messages) != 1 || got.Messages[0].ID != id {
			t.Errorf("after one process was killed the other gives %+v, want message %d", got, id)
		}
		if answer := b.Get(t, "/readyz"); answer.Status != http.StatusOK {
			t.Errorf("the surviving process: %s", answer)
		}
	})
}

// looksEvery is how often a hub looks for mail that nobody told it of.
const looksEvery = 15 * time.Second

// wakesAcross sends to a poll that waits at the other process, five times: without news
// nearly every message would wait for the next look.
func wakesAcross(t *testing.T, sender, recipient *stage.Agent) {
	t.Helper()
	took := make([]time.Duration, 5)
	for i := range took {
		took[i] = wakes(t, sender, recipient)
	}
	slices.Sort(took)
	if usual := took[len(took)/2]; usual > looksEvery/3 {
		t.Errorf("messages woke the poll after %s, want most of them well below a second", took)
	}
}

// wakes measures from the send to the end of the answer.
func wakes(t *testing.T, sender, recipient *stage.Agent) time.Duration {
	t.Helper()
	waiting := pollsWaiting(t, recipient.Hub)
	came := make(chan wire.Polled, 1)
	go func() { came <- recipient.Poll(wire.Poll{WaitMS: stage.Wait(55 * time.Second)}) }()
	stage.Until(t, stage.Patience, "the poll waits", func() bool { return pollsWaiting(t, recipient.Hub) > waiting })
	start := time.Now()
	id := sender.Mail(recipient.AID(), 1000)
	got := <-came
	took := time.Since(start)
	if len(got.Messages) != 1 || got.Messages[0].ID != id {
		t.Errorf("the poll gave %d messages, want message %d", len(got.Messages), id)
	}
	recipient.Ack(id)
	return took
}

// pollsWaiting is what the process says of itself.
func pollsWaiting(t *testing.T, h *stage.Hub) float64 {
	t.Helper()
	return stage.Metric(t, h, "anet_hub_relay_polls_waiting")
}
