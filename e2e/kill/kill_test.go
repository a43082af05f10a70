// Package kill kills hub, nodes and database at random moments, round after
// round, while calls with a counted effect and plain messages are on their way.
// After every round nothing that was accepted is lost, no effect happened
// twice, every task has ended with one receipt on both sides, no payment moved
// twice, and the hub's books hold.
//
//	go test ./e2e/kill -rounds 100 -seed 7
package kill

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/anet-hub/anet/e2e/rounds"
	"github.com/anet-hub/anet/e2e/stage"
)

func TestMain(m *testing.M) { stage.Main(m) }

func TestKillRounds(t *testing.T) {
	w := newWorld(t, rounds.Dice(t))
	w.story(t).Play(t, 3)
	t.Logf("%d messages accepted; %d payments", w.mail.total, w.money.payments)
}

// world is one hub with its database, a node that asks and one that works, two
// agents that only exchange mail, and two that pay.
type world struct {
	dice  *rand.Rand
	hub   *stage.HubProcess
	calls *rounds.Calls
	mail  *mail
	money *money
}

func newWorld(t *testing.T, dice *rand.Rand) *world {
	t.Helper()
	hub := stage.StartHub(t, stage.HubConfig{Args: []string{"--relay-send-burst", "100000", "--relay-mailbox-messages", "1000000", "--registration-grant", fmt.Sprint(grant)}})
	return &world{
		dice: dice, hub: hub,
		calls: rounds.StartCalls(t, hub.Hub, hub.Hub, 8, rounds.Limit),
		mail:  newMail(t, hub.Hub), money: newMoney(t, hub),
	}
}

func (w *world) story(t *testing.T) *rounds.Story {
	nothing, again := func() {}, func() { w.hub.Relaunch(t) }
	return &rounds.Story{
		Dice: w.dice, Calls: w.calls, Streams: []rounds.Stream{w.mail, w.money},
		Blows: append(w.calls.Blows(),
			rounds.Blow{Name: "hub", Strike: func() { w.hub.Kill() }, Mend: again},
			rounds.Blow{Name: "database", Strike: func() { w.hub.KillDatabase() }, Mend: nothing},
			rounds.Blow{Name: "session", Strike: w.killSession, Mend: nothing},
			rounds.Blow{Name: "hub and database", Strike: func() { w.hub.KillDatabase(); w.hub.Kill() }, Mend: again}),
		Revive: func() { w.revive(t) },
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

func (w *world) revive(t *testing.T) {
	t.Helper()
	if !w.hub.Alive() {
		w.hub.Relaunch(t)
	}
	w.calls.Revive()
	w.hub.Ready(t, rounds.Limit)
}
