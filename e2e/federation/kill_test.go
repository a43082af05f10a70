package federation

import (
	"strconv"
	"testing"

	"github.com/anet-hub/anet/e2e/rounds"
	"github.com/anet-hub/anet/e2e/stage"
	"github.com/anet-hub/anet/hub/pgtest"
)

// What a node of one hub sends to an agent of another takes effect exactly once, and
// what it pays moves once, whichever hub or node is killed and wherever the link is cut:
//
//	go test ./e2e/federation -run Kill -rounds 100 -seed 7
func TestKillsBetweenHubs(t *testing.T) {
	t.Parallel()
	dice := rounds.Dice(t)
	w := newWorld(t)
	story := &rounds.Story{
		Dice: dice, Calls: w.calls, Streams: []rounds.Stream{w.mail, w.money},
		Blows: append(w.calls.Blows(), w.blows(t)...), Revive: func() { w.revive(t) },
	}
	story.Play(t, 10)
	t.Logf("%d messages, %d of them carried more than once", w.mail.total, w.mail.again)
	t.Logf("%d payments, %d of them without an answer at first, %d credits paid off", w.money.total, w.money.lost, w.money.paidOff)
}

// world is two hubs that see each other over a link each, a node at the first
// that asks and one at the second that works, and mail and money from one to the other.
type world struct {
	a, b        *stage.HubProcess
	there, back *stage.Link
	calls       *rounds.Calls
	mail        *mail
	money       *money
}

func newWorld(t *testing.T) *world {
	t.Helper()
	start := func(name string) *stage.HubProcess {
		return stage.StartHub(t, stage.FederatedConfig(name, pgtest.URL(t), "--relay-send-burst", "100000", "--registration-grant", strconv.Itoa(grant)))
	}
	w := &world{a: start("hub-a"), b: start("hub-b")}
	w.there, w.back = stage.NewLink(t, w.b.URL), stage.NewLink(t, w.a.URL)
	stage.Federate(t, w.a, w.there.URL, w.b, w.back.URL)
	w.calls = rounds.StartCalls(t, w.a.Hub, w.b.Hub, 4, 2*rounds.Limit)
	w.mail, w.money = newMail(t, w.a.Hub, w.b.Hub), newMoney(t, w.a, w.b)
	return w
}

// blows are kills of hubs and cuts of what is between them.
func (w *world) blows(t *testing.T) []rounds.Blow {
	a, b := w.a, w.b
	return []rounds.Blow{
		{Name: "hub a", Strike: func() { a.Kill() }, Mend: func() { a.Relaunch(t) }},
		{Name: "hub b", Strike: func() { b.Kill() }, Mend: func() { b.Relaunch(t) }},
		{Name: "both hubs", Strike: func() { a.Kill(); b.Kill() }, Mend: func() { a.Relaunch(t); b.Relaunch(t) }},
		{Name: "the way there", Strike: w.there.Cut, Mend: w.there.Heal},
		{Name: "the way back", Strike: w.back.Cut, Mend: w.back.Heal},
		{Name: "both ways", Strike: func() { w.there.Cut(); w.back.Cut() }, Mend: func() { w.there.Heal(); w.back.Heal() }},
	}
}

func (w *world) revive(t *testing.T) {
	t.Helper()
	w.there.Heal()
	w.back.Heal()
	hubs := []*stage.HubProcess{w.a, w.b}
	for _, h := range hubs {
		if !h.Alive() {
			h.Relaunch(t)
		}
	}
	w.calls.Revive()
	for _, h := range hubs {
		h.Ready(t, rounds.Limit)
	}
}
