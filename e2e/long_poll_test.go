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
			if took < tt.want || took > tt.want+3*time.Second {
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
	type arrival struct {
		got wire.Polled
		at  time.Time
	}
	came := make(chan arrival, 1)
	go func() {
		got := bob.Poll(wire.Poll{WaitMS: stage.Wait(50 * time.Second)})
		came <- arrival{got, time.Now()}
	}()
	quiet := time.After(25 * time.Second) // longer than headers and bodies may take
	stage.Until(t, stage.Patience, "the poll waits", func() bool { return pollsWaiting(t, hub.Hub) == 1 })
	select {
	case a := <-came:
		t.Fatalf("the poll ended without mail: %+v", a.got)
	case <-quiet:
	}
	start := time.Now()
	id := alice.Mail(bob.AID(), 1000)
	a := <-came
	if len(a.got.Messages) != 1 || a.got.Messages[0].ID != id || a.at.Sub(start) > time.Second {
		t.Errorf("%d messages after %s, want message %d within a second", len(a.got.Messages), a.at.Sub(start), id)
	}
}
