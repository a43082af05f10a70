package federation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
	"github.com/anet-hub/anet/shared/wire"
)

var moods = []stage.Mood{stage.Healthy, stage.Hangs, stage.Drips, stage.Refuses, stage.Fails}

const (
	lookups      = 3000 // per measurement
	senders      = 8
	recoversLast = 2 * time.Minute // the longest time between two tries

	// What two cores with other tests beside owe nobody. A look-up that waits for a bad
	// peer, or for what those hold, takes far longer: each of them hangs for seconds.
	floor = 100 * time.Millisecond
)

// A hub with five peers of which four are no good answers its own agents as fast
// as ever, keeps no heap of connections and goroutines, and finds out by itself
// when they are good again. It runs beside no other story, since it takes times. A machine
// that stands still holds up the look-up of that moment: so what counts is how long most
// of them take, and that hardly any takes seconds.
func TestBadPeersHoldNobodyUp(t *testing.T) {
	hub := stage.StartHub(t, stage.FederatedConfig("many", pgtest.URL(t), "--relay-send-burst", "100000", "--relay-send-rate", "10000"))
	shams := map[stage.Mood]*stage.Sham{}
	for i, mood := range moods {
		shams[mood] = stage.NewSham(t)
		stage.AddPeer(t, hub, fmt.Sprint("peer-", i), shams[mood].URL)
	}
	agent := stage.NewAgent(t, hub.Hub)
	agent.Register("local.work")
	stage.Until(t, round, "all peers are asked for their agents", func() bool {
		return !slices.ContainsFunc(moods, func(m stage.Mood) bool { return shams[m].Asked() < 3 })
	})
	quiet, _ := looksUp(t, hub.Hub)
	size := measure(t, hub)

	for mood, sham := range shams {
		sham.Become(t, mood)
	}
	stop := knock(t, agent)
	busy, slow := looksUp(t, hub.Hub) // while calls of them hang
	stage.Until(t, round, "the bad ones are no longer asked", func() bool { return openCircuits(t, hub) == 4 })
	most := measure(t, hub)
	later, slowLater := looksUp(t, hub.Hub)
	busy, slow = max(busy, later), max(slow, slowLater)
	stop()
	if more := most.goroutines - size.goroutines; more > 500 {
		t.Errorf("%.0f goroutines more, want a bounded few", more)
	}
	if more := most.files - size.files; more > 200 {
		t.Errorf("%d open files more, want a bounded few", more)
	}

	for _, sham := range shams {
		sham.Become(t, stage.Healthy)
	}
	stage.Until(t, recoversLast+stage.Patience, "all of them are asked again", func() bool { return openCircuits(t, hub) == 0 })
	to := stage.NewAgent(t, hub.Hub).AID()
	if answer := agent.Send(to, stage.Sealed(to, 100)); answer.Code() != "404 unknown_recipient" {
		t.Errorf("mail for nobody, once all answer: %s, want 404 unknown_recipient", answer)
	}
	again, _ := looksUp(t, hub.Hub) // the machine may be busier than it was
	quiet = max(quiet, again)
	t.Logf("look-ups: usually %s alone, %s beside four bad peers, the p99 there %s; goroutines %.0f and %.0f, files %d and %d",
		quiet, busy, slow, size.goroutines, most.goroutines, size.files, most.files)
	if busy > max(2*quiet, floor) {
		t.Errorf("a look-up usually takes %s beside bad peers and %s alone, want at most twice that", busy, quiet)
	}
	if slow > 20*floor {
		t.Errorf("the p99 of look-ups is %s beside bad peers", slow)
	}
}

// knock keeps sending to agents that nobody has, which every peer is asked about.
func knock(t *testing.T, agent *stage.Agent) (stop func()) {
	t.Helper()
	quit := make(chan struct{})
	var all sync.WaitGroup
	for range senders {
		to := stage.NewAgent(t, agent.Hub).AID()
		all.Go(func() {
			for {
				select {
				case <-quit:
					return
				case <-time.After(100 * time.Millisecond): // a load, and no test of the processor
				}
				_, _ = agent.Try(wire.ActionSend, "/relay/send", wire.Send{ToAID: to, Envelope: stage.Sealed(to, 1000)})
			}
		})
	}
	return func() { close(quit); all.Wait() }
}

// looksUp looks the agent up many times, one after the other.
func looksUp(t *testing.T, hub *stage.Hub) (usual, p99 time.Duration) {
	t.Helper()
	took := make([]time.Duration, lookups)
	for i := range took {
		start := time.Now()
		if answer := hub.Get(t, "/agents?cap=local.work"); answer.Status != 200 {
			t.Fatalf("a look-up: %s", answer)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// size is what a hub takes of the machine.
type size struct {
	goroutines float64
	files      int
}

func measure(t *testing.T, hub *stage.HubProcess) size {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", hub.PID()))
	stage.Must(t, err)
	return size{stage.Metric(t, hub.Hub, "go_goroutines"), len(files)}
}

// openCircuits is how many peers the hub leaves alone now.
func openCircuits(t *testing.T, hub *stage.HubProcess) (n int) {
	t.Helper()
	for name, v := range stage.Series(t, hub.Hub) {
		if strings.HasPrefix(name, "anet_hub_peer_circuit_open{") {
			n += int(v)
		}
	}
	return n
}
