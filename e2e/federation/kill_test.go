package federation

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
)

var (
	rounds = flag.Int("rounds", 10, "how many rounds of kills and cuts")
	seed   = flag.Uint64("seed", 0, "of what is random; 0 takes another one each time")
)

const (
	callsPerRound = 4
	roundLimit    = time.Minute // for everything to end after the last kill
)

// What a node of one hub sends to an agent of another takes effect exactly once,
// whichever hub or node is killed and wherever the link is cut:
//
//	go test ./e2e/federation -run Kill -rounds 100 -seed 7
func TestKillsBetweenHubs(t *testing.T) {
	t.Parallel()
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000) + 1
	}
	t.Logf("%d rounds with -seed %d", *rounds, *seed)
	w := newWorld(t, rand.New(rand.NewPCG(*seed, *seed)))
	for n := range *rounds {
		begun := time.Now()
		struck := w.round(t)
		t.Logf("round %d: %s; over after %s", n+1, strings.Join(struck, ", "), time.Since(begun).Round(time.Millisecond))
		if t.Failed() {
			t.Fatalf("round %d of -seed %d", n+1, *seed)
		}
	}
	t.Logf("%v; outcomes %v; %d messages, %d of them carried more than once", w.strikes, w.outcomes, w.mail.total, w.mail.again)
}

// world is two hubs that see each other over a link each, a node at the first
// that asks and one at the second that works, and mail from one to the other.
type world struct {
	dice             *rand.Rand
	a, b             *stage.HubProcess
	there, back      *stage.Link
	caller, provider *stage.Node
	program          *stage.Program
	mail             *mail

	strikes  map[string]int
	outcomes map[string]int
}

func newWorld(t *testing.T, dice *rand.Rand) *world {
	t.Helper()
	w := &world{dice: dice, strikes: map[string]int{}, outcomes: map[string]int{}}
	start := func(name string) *stage.HubProcess {
		return stage.StartHub(t, stage.FederatedConfig(name, pgtest.URL(t), "--relay-send-burst", "100000"))
	}
	w.a, w.b = start("hub-a"), start("hub-b")
	w.there, w.back = stage.NewLink(t, w.b.URL), stage.NewLink(t, w.a.URL)
	stage.Federate(t, w.a, w.there.URL, w.b, w.back.URL)
	w.program = stage.StartProgram(t, func(rw http.ResponseWriter, _ *http.Request, _ []byte) {
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // so that kills meet it at work
		rw.Write([]byte(`{"done":1}`))
	})
	w.provider = stage.StartNode(t, w.b.Hub, stage.NodeConfig{
		Name: "provider", Programs: map[string]string{"p.work": w.program.URL},
		Public: []any{map[string]any{"id": "p.work", "per_caller_per_min": 1_000_000, "per_caller_per_day": 1_000_000,
			"global_per_min": 1_000_000, "max_inflight": 64, "per_caller_inflight": 64}},
	})
	w.caller = stage.StartNode(t, w.a.Hub, stage.NodeConfig{Name: "caller"})
	w.mail = newMail(t, w.a.Hub, w.b.Hub)
	return w
}

// round starts calls and mail, strikes what the dice say, brings everything back
// and looks at what became of it.
func (w *world) round(t *testing.T) (struck []string) {
	t.Helper()
	w.mail.begin()
	asked := make(chan []string, 1)
	go func() { asked <- w.ask() }()
	for range 1 + w.dice.IntN(3) {
		time.Sleep(time.Duration(w.dice.IntN(400)) * time.Millisecond)
		struck = append(struck, w.strike(t))
	}
	ids := <-asked
	w.revive(t)
	w.mail.end(t)
	w.tasks(t, ids)
	w.mail.check(t)
	return struck
}

// ask delegates one call after the other. Of one whose command failed nothing was
// promised.
func (w *world) ask() (ids []string) {
	for range callsPerRound {
		out := w.caller.Run("delegate", w.provider.AID, "--capability", "p.work", "--args", "{}", "--json")
		_, rest, _ := strings.Cut(out.Out, `"task_id": "`)
		if id, _, _ := strings.Cut(rest, `"`); out.Code == 0 && id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// strike kills or cuts something, and mends it at once or at the end of the round.
func (w *world) strike(t *testing.T) string {
	t.Helper()
	blows := []struct {
		name  string
		begin func()
		end   func()
	}{
		{"hub a", w.a.Kill, func() { w.a.Relaunch(t) }},
		{"hub b", w.b.Kill, func() { w.b.Relaunch(t) }},
		{"both hubs", func() { w.a.Kill(); w.b.Kill() }, func() { w.a.Relaunch(t); w.b.Relaunch(t) }},
		{"the way there", w.there.Cut, w.there.Heal},
		{"the way back", w.back.Cut, w.back.Heal},
		{"both ways", func() { w.there.Cut(); w.back.Cut() }, func() { w.there.Heal(); w.back.Heal() }},
		{"caller", w.caller.Kill, func() { w.caller.Launch() }},
		{"provider", w.provider.Kill, func() { w.provider.Launch() }},
	}
	blow := blows[w.dice.IntN(len(blows))]
	blow.begin()
	w.strikes[blow.name]++
	if w.dice.IntN(2) == 0 {
		blow.end()
		return blow.name + " (back at once)"
	}
	return blow.name
}

// revive brings back what is still down.
func (w *world) revive(t *testing.T) {
	t.Helper()
	w.there.Heal()
	w.back.Heal()
	for _, h := range []*stage.HubProcess{w.a, w.b} {
		if !h.Alive() {
			h.Relaunch(t)
		}
	}
	for _, n := range []*stage.Node{w.caller, w.provider} {
		if !n.Alive() {
			n.Launch()
		}
	}
	w.a.Ready(t, roundLimit)
	w.b.Ready(t, roundLimit)
}

// tasks waits for the end of all and compares the two sides with the effects.
func (w *world) tasks(t *testing.T, ids []string) {
	t.Helper()
	deadline := time.Now().Add(2 * roundLimit)
	for _, id := range ids {
		done := w.caller.EndedBefore(deadline, id)
		got, effects := stage.Outcome(done), w.program.Effects(id)
		w.outcomes[got]++
		if want, known := allowed[got]; !known || !slices.Contains(want, effects) {
			t.Errorf("task %s: %s (%s) after %d effects, want one of %v", id, got, done.Deliverable, effects, allowed)
		}
		theirs := w.provider.EndedBefore(deadline, id) // it may be starting still
		if string(theirs.Receipt) != string(done.Receipt) || len(done.Receipt) == 0 {
			t.Errorf("task %s: the two sides hold different receipts (%d and %d bytes)", id, len(done.Receipt), len(theirs.Receipt))
		}
	}
	for id, n := range w.program.All() {
		if n > 1 {
			t.Errorf("task %s had its effect %d times", id, n)
		}
	}
}

// allowed are the ends a call may come to, and how often its effect may have
// happened then.
var allowed = map[string][]int{
	"completed OK verified":                         {1},
	"completed UNVERIFIED interrupted verified":     {0, 1},
	"completed UNVERIFIED connection_lost verified": {0, 1},
}
