package e2e

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/shared/wire"
)

// stopLimit is what docs/hub.md promises: a hub that is told to stop has gone by then,
// which hub/app holds to the second. Here it is told apart from waiting for polls.
const stopLimit = 10*time.Second + stage.Stall

// Waiting polls end with an empty answer of their own, not with a reset, and the
// process leaves in time.
func TestStoppingAnswersWaitingPolls(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			hub := stage.StartHub(t, stage.HubConfig{})
			answers := make([]stage.Answer, 20)
			polls := startPolls(t, hub.Hub, answers)
			stage.Until(t, stage.Patience, "all polls wait", func() bool {
				return pollsWaiting(t, hub.Hub) == float64(len(answers))
			})
			start := time.Now()
			hub.Signal(signal)
			polls.Wait()
			if err := hub.Wait(t); err != nil {
				t.Errorf("the hub ended with %v", err)
			}
			if took := time.Since(start); took > stopLimit {
				t.Errorf("it took %s to stop, want at most %s", took, stopLimit)
			}
			for _, a := range answers {
				if got := fmt.Sprint(a); got != `200 {"messages":[],"wait_ms":55000}`+"\n" {
					t.Errorf("a poll that waited got %q", got)
				}
			}
			if pid := hub.Postmaster(); pid != 0 {
				t.Errorf("the private database still runs as process %d", pid)
			}
		})
	}
}

// startPolls lets as many agents wait as there is room for answers.
func startPolls(t *testing.T, hub *stage.Hub, answers []stage.Answer) *sync.WaitGroup {
	var polls sync.WaitGroup
	for i := range answers {
		agent := stage.NewAgent(t, hub)
		agent.Register()
		polls.Go(func() {
			answers[i], _ = agent.Try(wire.ActionPoll, "/relay/poll", wire.Poll{WaitMS: stage.Wait(time.Hour)})
		})
	}
	return &polls
}

// A hub that is starting can be told to stop as well.
func TestStoppingWhileStarting(t *testing.T) {
	t.Parallel()
	hub := stage.LaunchHub(t, stage.HubConfig{})
	stage.Until(t, stage.Patience, "the database is being made", func() bool { return hub.Log() != "" })
	took, _ := hub.Stop(t)
	if took > stopLimit {
		t.Errorf("it took %s to stop, want at most %s", took, stopLimit)
	}
	if pid := hub.Postmaster(); pid != 0 {
		t.Errorf("the private database still runs as process %d", pid)
	}
	hub.Again(t)
}
