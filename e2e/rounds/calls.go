package rounds

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

// capability is what is called.
const capability = "p.work"

// Calls go from one node to another, behind which a program counts its effects.
type Calls struct {
	Caller, Provider *stage.Node

	each   int           // in a round
	within time.Duration // they end after the last blow
	work   *stage.Program

	asking   chan struct{} // closed when all of a round were asked
	asked    []string
	outcomes map[string]int
}

// StartCalls starts the two nodes: the caller at one hub, the provider at another or
// at the same.
func StartCalls(t *testing.T, caller, provider *stage.Hub, each int, within time.Duration) *Calls {
	t.Helper()
	c := &Calls{each: each, within: within, outcomes: map[string]int{}}
	c.work = stage.StartProgram(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // so that blows meet it at work
		w.Write([]byte(`{"done":1}`))
	})
	const plenty = 1_000_000
	c.Provider = stage.StartNode(t, provider, stage.NodeConfig{
		Name: "provider", Programs: map[string]string{capability: c.work.URL},
		Public: []any{map[string]any{"id": capability, "per_caller_per_min": plenty, "per_caller_per_day": plenty,
			"global_per_min": plenty, "max_inflight": 64, "per_caller_inflight": 64}},
	})
	c.Caller = stage.StartNode(t, caller, stage.NodeConfig{Name: "caller"})
	return c
}

// Blows are those at the two nodes.
func (c *Calls) Blows() []Blow {
	return []Blow{
		{"caller", func() { c.Caller.Kill() }, func() { c.Caller.Launch() }},
		{"provider", func() { c.Provider.Kill() }, func() { c.Provider.Launch() }},
	}
}

// Revive starts the nodes that are down.
func (c *Calls) Revive() {
	for _, n := range []*stage.Node{c.Caller, c.Provider} {
		if !n.Alive() {
			n.Launch()
		}
	}
}

// begin delegates one call after the other. One whose command failed may have been
// recorded all the same: nobody was told, so nothing is promised of it.
func (c *Calls) begin() {
	c.asking, c.asked = make(chan struct{}), nil
	go func() {
		defer close(c.asking)
		for range c.each {
			out := c.Caller.Run("delegate", c.Provider.AID, "--capability", capability, "--args", "{}", "--json")
			if id := taskID(out.Out); out.Code == 0 && id != "" {
				c.asked = append(c.asked, id)
			}
		}
	}()
}

func (c *Calls) end() { <-c.asking }

// check waits for the end of all and compares the two sides with the effects.
func (c *Calls) check(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(c.within)
	for _, id := range c.asked {
		done := c.Caller.EndedBefore(deadline, id)
		got, effects := stage.Outcome(done), c.work.Effects(id)
		c.outcomes[got]++
		if !slices.Contains(allowed[got], effects) {
			t.Errorf("task %s: %s (%s) after %d effects, want one of %v", id, got, done.Deliverable, effects, allowed)
		}
		theirs := c.Provider.EndedBefore(deadline, id) // it may be starting still
		if string(theirs.Receipt) != string(done.Receipt) || len(done.Receipt) == 0 {
			t.Errorf("task %s: the two sides hold different receipts (%d and %d bytes)", id, len(done.Receipt), len(theirs.Receipt))
		}
	}
	c.noEffectTwice(t)
}

// allowed are the ends a call may come to, and how often its effect may have
// happened then.
var allowed = map[string][]int{
	"completed OK verified":                         {1},
	"completed UNVERIFIED interrupted verified":     {0, 1},
	"completed UNVERIFIED connection_lost verified": {0, 1},
}

// noEffectTwice looks at all calls of all rounds, also those nobody was told of.
func (c *Calls) noEffectTwice(t *testing.T) {
	t.Helper()
	for id, n := range c.work.All() {
		if n > 1 {
			t.Errorf("task %s had its effect %d times", id, n)
		}
	}
}

func taskID(out string) (id string) {
	_, rest, _ := strings.Cut(out, `"task_id": "`)
	id, _, _ = strings.Cut(rest, `"`)
	return id
}
