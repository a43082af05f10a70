package postgres

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/peers"
)

func TestPeersAgentsStandBehindOurs(t *testing.T) {
	l := newLearner(t, 2)
	theirs, ours, plain := l.node(), l.node(), l.node()
	l.peer(1).Agent(theirs, 1, l.clock.now(), "text.digest", "text.count")
	l.peer(2).Older(plain, 1, l.clock.now())
	l.pull()
	l.register(ours, ours.Register("ours", "text.digest"))
	l.wants("exact", "text.digest", ours, theirs)
	l.wants("a prefix", "text.*", ours, theirs)
	l.wants("several", "text.count,text.digest", ours, theirs)
	if got := l.list1("digest"); !slices.Equal(got, []string{ours.AID(), theirs.AID()}) {
		t.Errorf("?q= finds %v", got)
	}
	v := l.shows("text.count")
	if v.HomeHub != "https://hub.example.org" || v.Registered || v.Quiet || v.LastSeen != nil || !v.Listed {
		t.Errorf("the view %+v", v)
	}
	stats, err := l.Stats(t.Context())
	if err != nil || stats.Agents != 1 || stats.Federated != 2 {
		t.Errorf("stats %+v, %v, want one of ours and two of theirs", stats, err)
	}
	l.whole()
}

func TestWhatAPeerToldIsShownInFull(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "text.digest")
	l.peer(1).Older(n, 3, l.clock.now())
	l.pull()
	v, note, err := l.Show(t.Context(), n.AID())
	if err != nil || note == "" || v.Registered || v.Departed || v.HomeHub == "" {
		t.Errorf("shown as %+v, %q, %v", v, note, err)
	}
	if h, err := l.KEL(t.Context(), n.AID()); err != nil || h.Source != "federated" || !slices.Equal(h.KEL, n.Key.KEL()) {
		t.Errorf("its history is %s, %v", h.Source, err)
	}
	if keys, kel, err := l.Keys(t.Context(), n.AID()); err != nil || len(keys) == 0 || len(kel) == 0 {
		t.Errorf("its keys: %d bytes, %v", len(keys), err)
	}
	if raw, err := l.NetworkCard(t.Context(), n.AID()); err != nil || !strings.Contains(string(raw), n.AID()) {
		t.Errorf("its card: %s, %v", raw, err)
	}
	if raw, err := l.ADPCard(t.Context(), n.AID()); err != nil || !strings.Contains(string(raw), n.AID()) {
		t.Errorf("its older card: %s, %v", raw, err)
	}
	for _, q := range []directory.CardQuestion{{}, {Skill: "text.digest"}, {Text: "digest"}, {Tag: "digest"}} {
		if p, err := l.ListCards(t.Context(), q, 10, "", plenty); err != nil || len(p.Rows) != 1 || p.Rows[0].Home == "" || p.Rows[0].Quiet(p.Horizon) {
			t.Errorf("cards of %+v: %+v, %v", q, p.Rows, err)
		}
	}
	if _, err := l.JWKS(t.Context(), n.AID()); err == nil {
		t.Error("this hub states the keys of an agent of another")
	}
	l.clock.advance(60 * 24 * time.Hour) // its keys are over
	_, _, err = l.Keys(t.Context(), n.AID())
	wantReason(t, "keys that do not verify any more", err, "keys_unknown")
}

func TestWhoIsBlockedHereIsInNoList(t *testing.T) {
	l := newLearner(t, 1)
	o := l.operator()
	n := l.node()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(o.block("aid", n.AID(), 0))
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	l.wants("blocked before", "x")
	must(o.unblock("aid", n.AID()))
	l.wants("unblocked", "x", n)
	must(o.block("aid", n.AID(), 0))
	l.wants("blocked since", "x")
	l.whole()
}

func TestListsShowWhatHoldsForItsTeacher(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	change := func(f func(p *peers.Peer)) { f(&l.list[0]); l.judge() }
	change(func(p *peers.Peer) { p.Paused = true })
	l.wants("paused", "x", n)
	change(func(p *peers.Peer) { p.Paused, p.Discovery = false, false })
	l.wants("not learned from", "x")
	change(func(p *peers.Peer) { p.Discovery = true })
	l.wants("learned from again", "x", n)
	l.off = true
	l.judge()
	l.wants("where nothing is learned", "x")
	l.off = false
	l.judge()
	l.peer(1).Answer(learnedtest.Fails)
	l.clock.advance(29 * 24 * time.Hour)
	l.pull()
	l.judge()
	l.wants("silent for 29 days", "x", n)
	l.clock.advance(2 * 24 * time.Hour)
	l.judge()
	l.wants("silent for 31 days", "x")
	l.peer(1).Answer(nil)
	l.pull()
	l.judge()
	l.wants("back", "x", n)
	l.whole()
}

// The real table of peers has discovery on for nobody then, and off for nobody.
func TestAPauseOfTheOnlyPeerKeepsWhatItTaught(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	for _, switches := range []peers.Switches{{}, {Discovery: peers.On}, {Discovery: peers.Off}} {
		l.row(`UPDATE peer SET paused = true RETURNING 'paused'`)
		table := peers.NewTable(NewPeers(l.pool), switches, slog.New(slog.DiscardHandler))
		if err := table.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.puller.Peers = table
		l.judge()
		if switches.Discovery == peers.Off {
			l.wants("off", "x")
		} else {
			l.wants("paused", "x", n)
		}
	}
}

func TestWhyAnAgentOfAnotherHubIsListedOrNot(t *testing.T) {
	l := newLearner(t, 1)
	o, n := l.operator(), l.node()
	gate := func(why, capID, want string) {
		t.Helper()
		v, err := l.Why(t.Context(), n.AID(), capID)
		if err != nil || v.Gate != want || v.Listed != (want == "") {
			t.Errorf("%s: gate %q, listed %v, %v, want %q", why, v.Gate, v.Listed, err, want)
		}
	}
	gate("before anybody told of it", "", "known")
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	gate("told", "x", "")
	gate("at what it does not offer", "y", "capability")
	l.list[0].Discovery = false
	l.judge()
	gate("its peer is not learned from", "", "peer")
	l.list[0].Discovery = true
	l.judge()
	if err := o.block("aid", n.AID(), 0); err != nil {
		t.Fatal(err)
	}
	gate("blocked", "", "blocked")
	n = l.node()
	l.row(`INSERT INTO pull_held (peer_id, stream, aid, fed_seq, reason, told) VALUES (1, 'cards', $1, 9, 'card_not_yet_valid', 1) RETURNING 'held'`, n.AID())
	gate("told, and held", "", "peer")
}
