package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/wire"
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
		if p, err := l.ListCards(t.Context(), q, 10, ""); err != nil || len(p.Rows) != 1 || p.Rows[0].Home == "" || p.Rows[0].Quiet(p.Horizon) {
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

func TestAnAgentThatRegistersHereIsOursAlone(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.peer(1).Agent(n, 5, l.clock.now(), "text.digest", "there.only")
	l.pull()
	r := n.Register("n", "here.only")
	r.A2ACard = n.Card(5, l.clock.now(), "an agent", "text.digest")
	l.register(n, r)
	l.wants("both have it", "text.digest", n)
	l.wants("what it said there", "there.only")
	if v := l.shows("here.only"); v.HomeHub != "" || !v.Registered {
		t.Errorf("shown as %+v", v)
	}
	l.peer(1).Agent(n, 6, l.clock.now(), "text.digest", "later")
	other := l.node()
	l.peer(1).Agent(other, 1, l.clock.now(), "behind.it")
	l.pull()
	l.wants("what a peer says since", "later")
	l.wants("who stands behind it in the stream", "behind.it", other)
	if p := l.progress(1); p.HeldAID != n.AID() || p.HeldReason != learned.RegisteredHere || p.Cursor != p.HeldSeq-1 {
		t.Errorf("the stream stands at %+v, want it held before the agent", p)
	}
	l.whole()

	if _, err := l.Deregister(t.Context(), n.Proof(l.clock.now())); err != nil {
		t.Fatal(err)
	}
	l.wants("at once, what was told before", "there.only", n)
	l.pull()
	l.wants("with the next round, what was told since", "later", n)
	if p := l.progress(1); p.HeldSeq != 0 {
		t.Errorf("the stream stands at %+v, want nothing held", p)
	}
	l.whole()
}

func TestAHistoryIsOnlyExtendedWhoeverTellsIt(t *testing.T) {
	l := newLearner(t, 2)
	n := l.node()
	young := n.Key
	l.peer(2).Agent(n, 1, l.clock.now(), "old.word")
	l.pull()
	n.Rotate(l.clock.now())
	l.peer(1).Agent(n, 2, l.clock.now(), "new.word")
	l.pull()
	l.wants("the newer word", "new.word", n)
	l.wants("the older word", "old.word")

	rotated := n.Key
	n.Key = young
	_, err := l.tryRegister(n, n.Register("thief", "x"))
	wantReason(t, "with the history of then", err, "kel_rollback")
	n.Key = rotated
	l.peer(1).Withdraw(n.AID(), l.clock.now())
	l.pull()
	l.wants("a word under a key that was given up", "old.word")
	l.register(n, n.Register("owner", "x"))
	l.wants("with the history of now", "x", n)
	l.whole()
}

func TestWhoseWordCountsOfTwoTeachers(t *testing.T) {
	l := newLearner(t, 2)
	a, b, at := l.node(), l.node(), l.clock.now()
	l.peer(1).Agent(a, 1, at, "first")
	l.peer(2).Agent(b, 3, at, "second")
	l.pull()
	l.peer(1).Agent(b, 3, at, "second")
	l.peer(2).Agent(a, 2, l.clock.now(), "newer")
	l.pull()
	l.wants("a newer card", "newer", a)
	l.wants("an older one", "first")
	if got := l.row(`SELECT peer_id::text FROM learned WHERE aid = $1 AND shown`, b.AID()); got != fmt.Sprint(l.list[1].ID) {
		t.Errorf("of two alike %s is shown, want the first", got)
	}
	if err := forget(t.Context(), l.pool, l.list[1].ID, l.clock.now()); err != nil {
		t.Fatal(err)
	}
	l.wants("when its teacher is gone", "newer")
	l.wants("the next teacher's", "first", a)
	l.wants("the next teacher's, alike", "second", b)
	if got := l.row(`SELECT card_seq::text FROM known_elsewhere WHERE aid = $1`, a.AID()); got != "2" {
		t.Errorf("the mark is %s, want it to stay", got)
	}
	if got := l.row(`SELECT agents || ' ' || bytes FROM teacher WHERE peer_id = $1`, l.list[1].ID); got != "0 0" {
		t.Errorf("what the peer taught comes to %s", got)
	}
	l.whole()
}

func TestAWithdrawalIsItsTeachersAlone(t *testing.T) {
	l := newLearner(t, 2)
	n, at := l.node(), l.clock.now()
	l.peer(1).Agent(n, 1, at, "x")
	l.peer(1).Older(n, 1, at)
	l.pull()
	l.peer(2).Withdraw(n.AID(), l.clock.now())
	l.pull()
	l.wants("withdrawn by who did not tell", "x", n)
	l.peer(1).Withdraw(n.AID(), l.clock.now())
	l.pull()
	l.wants("withdrawn by its teacher", "x")
	if got := l.row(`SELECT count(*)::text FROM learned WHERE aid = $1 AND stream = 'cards'`, n.AID()); got != "0" {
		t.Errorf("%s rows are left", got)
	}
	l.peer(1).Agent(n, 1, at, "x")
	l.pull()
	l.wants("told again", "x", n)
	l.whole()
}

func TestAReadingFromTheBeginningForgetsWhatIsNotToldAnyMore(t *testing.T) {
	l := newLearner(t, 1)
	stays, goes := l.node(), l.node()
	l.peer(1).Agent(stays, 1, l.clock.now(), "x")
	l.pull()
	l.peer(1).Agent(goes, 1, l.clock.now(), "x")
	l.pull()
	l.peer(1).Hush(learnedtest.Cards, goes.AID())
	l.pull()
	l.wants("before", "x", stays, goes)
	for range 15 {
		l.pull()
	}
	l.wants("after fifteen rounds", "x", stays)
	asked := l.peer(1).Asked()
	if n := len(slices.DeleteFunc(asked, func(s string) bool { return s != learnedtest.Cards+" 0" })); n != 2 {
		t.Errorf("the stream was read %d times from the beginning, want twice in 18 rounds", n)
	}
	l.whole()
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

func TestAStreamIsReadOnceOverAllProcesses(t *testing.T) {
	l := newLearner(t, 2)
	now := l.clock.now()
	if err := l.learns.Enroll(t.Context(), []int64{l.list[0].ID, l.list[1].ID}, now); err != nil {
		t.Fatal(err)
	}
	lease := func(ids ...int64) []learned.Job {
		jobs, err := l.learns.Lease(t.Context(), ids, 16, l.clock.now())
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	jobs := lease(l.list[0].ID, l.list[1].ID)
	if len(jobs) != 2 || jobs[0].Peer == jobs[1].Peer {
		t.Fatalf("leased %+v, want one stream of each", jobs)
	}
	if again := lease(l.list[0].ID, l.list[1].ID); len(again) != 0 {
		t.Errorf("leased %+v while others are read", again)
	}
	l.clock.advance(2 * time.Minute)
	taken := lease(jobs[0].Peer)
	if len(taken) != 1 {
		t.Fatalf("leased %+v after its holder died", taken)
	}
	late := func(context.Context) error {
		return l.learns.Learn(t.Context(), jobs[0], nil, l.clock.now(), func(map[string]learned.Record, learned.Room) learned.Lesson {
			return learned.Lesson{ReadTo: 99}
		})
	}
	if taken[0].Stream == jobs[0].Stream {
		wantReason(t, "the holder that was thought dead", late(t.Context()), "lease_lost")
	}
}

func TestAClockThatRanAheadHoldsNoReadingUp(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.clock.advance(2 * time.Hour)
	l.pull()
	if _, err := l.learns.Lease(t.Context(), []int64{l.list[0].ID}, 1, l.clock.now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	l.clock.advance(-2 * time.Hour)
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	l.wants("read by a clock that goes right", "x", n)
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
}

func TestWhatAPeerTaughtGoesWithIt(t *testing.T) {
	for why, remove := range map[string]func(l *learner) error{
		"by a command": func(l *learner) error {
			return NewPeers(l.pool).Remove(t.Context(), l.list[0].ID, alice.Did("peer.remove", "p1", l.clock.now()))
		},
		"taken out of the file": func(l *learner) error {
			_, err := NewPeers(l.pool).Sync(t.Context(), nil, alice.Did("peer.file", "", l.clock.now()))
			return err
		},
	} {
		l := newLearner(t, 1)
		if _, err := l.pool.Exec(t.Context(), `UPDATE peer SET from_file = true`); err != nil {
			t.Fatal(err)
		}
		n, requester, provider := l.node(), l.node(), l.node()
		l.peer(1).Agent(n, 1, l.clock.now(), "x")
		receipt, word := reviewtest.Done(provider.Key, requester.Key, 3, l.clock.now()).Sign(t)
		l.peer(1).Tell(learnedtest.Reviews, "r", wire.FedReview{Receipt: receipt, Review: word, ProviderKEL: provider.Key.KEL(), ReviewerKEL: requester.Key.KEL()})
		l.pull()
		l.wants("before", "x", n)
		if err := remove(l); err != nil {
			t.Errorf("%s: %v", why, err)
		}
		l.wants(why, "x")
		if got := l.row(`SELECT (SELECT count(*) FROM peer) || ' ' || (SELECT count(*) FROM learned) || ' ' || (SELECT count(*) FROM learned_review) || ' ' || (SELECT count(*) FROM known_elsewhere)`); got != "0 0 0 1" {
			t.Errorf("%s: peers, agents, reviews and marks that are left: %s", why, got)
		}
		l.whole()
	}
}

// Lists and the agent's own page tell one time, to what the database keeps of it.
func TestSinceWhenAnAgentIsKnownIsOneTime(t *testing.T) {
	l := newLearner(t, 1)
	n := l.node()
	l.puller.Now = func() time.Time { return l.clock.now().Add(789 * time.Nanosecond) }
	l.peer(1).Agent(n, 1, l.clock.now(), "x")
	l.pull()
	page, _, err := l.Show(t.Context(), n.AID())
	if listed := l.shows("x"); err != nil || !listed.RegisteredAt.Equal(page.RegisteredAt) {
		t.Errorf("listed since %s, shown since %s, %v", listed.RegisteredAt, page.RegisteredAt, err)
	}
}
