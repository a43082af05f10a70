package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// What ends slow connections must not end a poll that waits. One of these
// waits as long as a hub lets it, past every other limit of the server.
func TestLongPollsEndByThemselves(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	for _, tt := range []struct {
		name string
		ask  string
		want time.Duration
		echo int64
	}{
		{"as asked", `{"wait_ms":1500}`, 1500 * time.Millisecond, 1500},
		{"past the limits on headers and bodies", `{"wait_ms":22000}`, 22 * time.Second, 22_000},
		{"at most 55 s", `{"wait_ms":3600000}`, 55 * time.Second, 55_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := stage.NewAgent(t, hub.Hub)
			agent.Register()
			start := time.Now()
			answer := agent.Do(wire.ActionPoll, "/relay/poll", []byte(tt.ask))
			took := time.Since(start)
			if got, want := answer.String(), fmt.Sprintf("200 {\"messages\":[],\"wait_ms\":%d}\n", tt.echo); got != want {
				t.Errorf("answer %q, want %q", got, want)
			}
			if took < tt.want || took > tt.want+stage.Stall {
				t.Errorf("it took %s, want %s", took, tt.want)
			}
		})
	}
}

// A message that comes after a long time of silence is there at once.
func TestLongPollsBringMailAtOnce(t *testing.T) {
	t.Parallel()
	hub := stage.StartHub(t, stage.HubConfig{})
	bob, alice := stage.NewAgent(t, hub.Hub), stage.NewAgent(t, hub.Hub)
	bob.Register()
	alice.Register()
	brought := bringsAfter(t, 25*time.Second, bob) // longer than headers and bodies may take
	stage.Until(t, stage.Patience, "the poll waits", func() bool { return pollsWaiting(t, hub.Hub) == 1 })
	brought(func() int64 { return alice.Mail(bob.AID(), 1000) })
}

// bringsAfter lets an agent poll as long as it may. What is sent to it when the silence
// is over has to end that poll, which it would otherwise do by itself.
func bringsAfter(t *testing.T, silence time.Duration, agent *stage.Agent) func(send func() int64) {
	const longest = 55 * time.Second
	var got wire.Polled
	var took time.Duration
	over, ended := time.After(silence), make(chan struct{})
	go func() {
		defer close(ended)
		start := time.Now()
		got = agent.Poll(wire.Poll{WaitMS: stage.Wait(longest)})
		took = time.Since(start)
	}()
	return func(send func() int64) {
		t.Helper()
		<-over
		select {
		case <-ended:
			t.Fatalf("the poll ended after %s without mail: %+v", took, got)
		default:
		}
		id := send()
		<-ended
		if len(got.Messages) != 1 || got.Messages[0].ID != id || took >= longest {
			t.Errorf("%d messages after %s of waiting, want message %d before the poll ends by itself", len(got.Messages), took, id)
		}
	}
}
