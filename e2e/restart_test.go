package e2e

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

const (
	restartRounds = 15
	// restartWithin is far more than most starts take that have to recover, and far
	// less than any wait that somebody would call a hang.
	restartWithin = 15 * time.Second
)

// A hub is killed at any moment of its start, its database sometimes with it,
// and started again at once. The next start may have to wait for what the former
// left, never long.
func TestKilledAndStartedAgainManyTimes(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0))
	hub := stage.StartHub(t, stage.HubConfig{})
	var took []time.Duration
	for round := range restartRounds {
		for range dice.IntN(4) {
			killSomething(hub, dice)
			hub.Relaunch(t)
			time.Sleep(time.Duration(dice.Int64N(int64(400 * time.Millisecond)))) // somewhere in its start
		}
		killSomething(hub, dice)
		start := time.Now()
		hub.Relaunch(t)
		hub.Ready(t, stage.Patience)
		took = append(took, time.Since(start))
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, seed)
		}
	}
	slices.Sort(took)
	t.Logf("of %d starts the slowest took %s (seed %d)", restartRounds, took[len(took)-1], seed)
	if usual := took[len(took)/2]; usual > restartWithin {
		t.Errorf("starts took %s, want most of them within %s", took, restartWithin)
	}
}

// killSomething kills the hub, and before or after it, now and then, its
// database.
func killSomething(hub *stage.HubProcess, dice *rand.Rand) {
	victims := []func(){hub.Kill}
	switch dice.IntN(4) {
	case 0:
		victims = []func(){hub.Kill, func() { endDatabase(hub, syscall.SIGKILL) }}
	case 1:
		victims = []func(){func() { endDatabase(hub, syscall.SIGKILL) }, hub.Kill}
	case 2:
		victims = []func(){hub.Kill, func() { endDatabase(hub, syscall.SIGINT) }} // as one that was being stopped
	}
	for _, kill := range victims {
		kill()
	}
}

func endDatabase(hub *stage.HubProcess, with syscall.Signal) {
	if pid := hub.Postmaster(); pid != 0 {
		_ = syscall.Kill(pid, with)
	}
}
