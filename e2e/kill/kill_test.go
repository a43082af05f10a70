// Package kill kills hub, nodes and database at random moments, round after
// round, while calls with a counted effect and plain messages are on their way.
// After every round nothing that was accepted is lost, no effect happened
// twice, every task has ended with one receipt on both sides, no payment moved
// twice, and the hub's books hold.
//
//	go test ./e2e/kill -rounds 100 -seed 7
package kill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anet-hub/anet/e2e/stage"
)

var (
	rounds = flag.Int("rounds", 3, "how many rounds")
	seed   = flag.Uint64("seed", 0, "of what is random; 0 takes another one each time")
)

func TestMain(m *testing.M) { stage.Main(m) }

const (
	callsPerRound = 8
	roundLimit    = time.Minute // for everything to end after the last kill
)

func TestKillRounds(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000) + 1
	}
	t.Logf("%d rounds with -seed %d", *rounds, *seed)
	w := newWorld(t, rand.New(rand.NewPCG(*seed, *seed)))
	start := time.Now()
	for n := range *rounds {
		begun := time.Now()
		killed := w.round(t)
		t.Logf("round %d: %s; over after %s", n+1, strings.Join(killed, ", "), time.Since(begun).Round(time.Millisecond))
		if t.Failed() {
			t.Fatalf("round %d of -seed %d", n+1, *seed)
		}
	}
	t.Logf("%d rounds in %s: %v; outcomes %v; %d messages accepted; %d payments",
		*rounds, time.Since(start).Round(time.Second), w.kills, w.outcomes, w.mail.total, w.money.payments)
}

// world is one hub with its database, a node that asks and one that works, and
// two agents that only exchange mail, and two that pay.
type world struct {
	dice     *rand.Rand
	hub      *stage.HubProcess
	caller   *stage.Node
	provider *stage.Node
	program  *stage.Program
	mail     *mail
	money    *money

	kills    map[string]int
	outcomes map[string]int
}

func newWorld(t *testing.T, dice *rand.Rand) *world {
	t.Helper()
	w := &world{dice: dice, kills: map[string]int{}, outcomes: map[string]int{}}
	w.hub = stage.StartHub(t, stage.HubConfig{Args: []string{"--relay-send-burst", "100000", "--relay-mailbox-messages", "1000000", "--registration-grant", fmt.Sprint(grant)}})
	w.program = stage.StartProgram(t, func(rw http.ResponseWriter, _ *http.Request, _ []byte) {
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // so that kills meet it at work
		rw.Write([]byte(`{"done":1}`))
	})
	w.provider = stage.StartNode(t, w.hub.Hub, stage.NodeConfig{
		Name: "provider", Programs: map[string]string{"p.work": w.program.URL},
		Public: []any{map[string]any{"id": "p.work", "per_caller_per_min": 1_000_000, "per_caller_per_day": 1_000_000,
			"global_per_min": 1_000_000, "max_inflight": 64, "per_caller_inflight": 64}},
	})
	w.caller = stage.StartNode(t, w.hub.Hub, stage.NodeConfig{Name: "caller"})
	w.mail, w.money = newMail(t, w.hub.Hub), newMoney(t, w.hub)
	return w
}

// round starts calls and mail, kills what the dice say, brings everything back
// and looks at what became of it.
func (w *world) round(t *testing.T) (killed []string) {
	t.Helper()
	w.mail.begin()
	w.money.begin(t)
	asked := make(chan []string, 1)
	go func() { asked <- w.ask(t) }()
	for range 1 + w.dice.IntN(3) {
		time.Sleep(time.Duration(w.dice.IntN(400)) * time.Millisecond)
		killed = append(killed, w.strike(t))
	}
	ids := <-asked
	w.revive(t)
	w.mail.end()
	w.money.end()
	w.tasks(t, ids)
	w.mail.check(t)
	w.money.check(t)
	return killed
}

// ask delegates one call after the other. One whose command failed may have
// been recorded all the same: nobody was told, so nothing is promised of it.
func (w *world) ask(t *testing.T) (ids []string) {
	for range callsPerRound {
		out := w.caller.Run("delegate", w.provider.AID, "--capability", "p.work", "--args", "{}", "--json")
		if id := taskID(out.Out); out.Code == 0 && id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// victims are what can be killed. A kill brings the victim back at once or
// leaves that to the end of the round.
func (w *world) strike(t *testing.T) string {
	t.Helper()
	victims := []struct {
		name  string
		kill  func()
		again func()
	}{
		{"hub", w.hub.Kill, func() { w.hub.Relaunch(t) }},
		{"caller", w.caller.Kill, func() { w.caller.Launch() }},
		{"provider", w.provider.Kill, func() { w.provider.Launch() }},
		{"database", func() { w.killDatabase() }, func() {}},
		{"session", func() { w.killSession() }, func() {}},
		{"hub and database", func() { w.killDatabase(); w.hub.Kill() }, func() { w.hub.Relaunch(t) }},
	}
	v := victims[w.dice.IntN(len(victims))]
	v.kill()
	w.kills[v.name]++
	if w.dice.IntN(2) == 0 {
		v.again()
		return v.name + " (back at once)"
	}
	return v.name
}

// killDatabase is kill -9 of the server under the hub.
func (w *world) killDatabase() {
	if pid := w.hub.Postmaster(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// killSession is kill -9 of one of the server's processes: it drops all
// sessions and recovers by itself.
func (w *world) killSession() {
	pid := w.hub.Postmaster()
	if pid == 0 {
		return
	}
	if all := stage.Group(pid)[1:]; len(all) > 0 {
		_ = syscall.Kill(all[w.dice.IntN(len(all))], syscall.SIGKILL)
	}
}

// revive brings back what is still down.
func (w *world) revive(t *testing.T) {
	t.Helper()
	if !w.hub.Alive() {
		w.hub.Relaunch(t)
	}
	for _, n := range []*stage.Node{w.caller, w.provider} {
		if !n.Alive() {
			n.Launch()
		}
	}
	w.hub.Ready(t, roundLimit)
}

// tasks waits for the end of all and compares the two sides with the effects.
func (w *world) tasks(t *testing.T, ids []string) {
	t.Helper()
	deadline := time.Now().Add(roundLimit)
	for _, id := range ids {
		done := w.caller.EndedBefore(deadline, id)
		got := stage.Outcome(done)
		w.outcomes[got]++
		effects := w.program.Effects(id)
		want, known := allowed[got]
		if !known || !slices.Contains(want, effects) {
			t.Errorf("task %s: %s (%s) after %d effects, want one of %v", id, got, done.Deliverable, effects, allowed)
		}
		theirs := w.provider.EndedBefore(deadline, id) // it may be starting still
		if string(theirs.Receipt) != string(done.Receipt) || len(done.Receipt) == 0 {
			t.Errorf("task %s: the two sides hold different receipts (%d and %d bytes)", id, len(done.Receipt), len(theirs.Receipt))
		}
	}
	w.noEffectTwice(t)
}

// allowed are the ends a call may come to, and how often its effect may have
// happened then.
var allowed = map[string][]int{
	"completed OK verified":                         {1},
	"completed UNVERIFIED interrupted verified":     {0, 1},
	"completed UNVERIFIED connection_lost verified": {0, 1},
}

// noEffectTwice looks at all calls of all rounds, also those nobody was told of.
func (w *world) noEffectTwice(t *testing.T) {
	t.Helper()
	for id, n := range w.program.All() {
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
