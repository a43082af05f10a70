package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/learned"
	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/wire"
)

// warns holds that an operator who asks about an agent is warned so.
func (l *learner) warns(n *directorytest.Node, gate, says string) {
	l.t.Helper()
	v, err := l.Why(l.t.Context(), n.AID(), "")
	last := v.Gates[len(v.Gates)-1]
	if err != nil || !v.Listed || last.Gate != gate || last.State != wire.GateWarning || !strings.Contains(last.Says, says) {
		l.t.Errorf("why says %+v, %v; want a warning of %s with %q", v, err, gate, says)
	}
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
	l.warns(n, "peer", "anet hub-leave")
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

func TestWhatAPeerTaughtGoesWithIt(t *testing.T) {
	for why, remove := range map[string]func(l *learner) error{
		"by a command": func(l *learner) error {
			return NewPeers(l.pool).Remove(t.Context(), l.list[0].ID, false, alice.Did("peer.remove", "p1", l.clock.now()))
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
