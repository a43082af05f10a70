package postgres

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/learned/learnedtest"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func TestAReviewMovesAnAgentOfAnotherHub(t *testing.T) {
	l := newLearner(t, 1)
	j := &jury{l.hub, reviews.New(NewReviews(l.pool), l.store, identity.Replay, l.clock.now)}
	rated, plain, requester := l.node(), l.node(), j.member("ours")
	l.peer(1).Agent(plain, 1, l.clock.now(), "x")
	l.pull()
	l.peer(1).Agent(rated, 1, l.clock.now(), "x")
	l.pull()
	l.wants("unrated", "x", plain, rated)
	j.mustReview(rated, requester, 5, 4)
	l.wants("rated", "x", rated, plain)
	if v, _, err := l.Show(t.Context(), rated.AID()); err != nil || v.ReviewCount != 2 || v.AvgRating != 4.5 {
		t.Errorf("shown as %+v, %v", v, err)
	}
	if r, err := j.reviews.Reputation(t.Context(), rated.AID()); err != nil || r.Local != (wire.ReviewSource{Reviews: 2, AvgRating: 4.5}) {
		t.Errorf("its reputation is %+v, %v, want what was said here as ours", r, err)
	}
	l.peer(1).Agent(rated, 2, l.clock.now(), "x", "y")
	l.pull()
	l.wants("told anew", "x", rated, plain)
	l.whole()
	l.register(rated, rated.Register("rated", "x"))
	if v := l.viewOf(rated); v.ReviewCount != 2 || v.AvgRating != 4.5 || !v.Registered {
		t.Errorf("registered here it is %+v", v)
	}
	l.whole()
}

func TestReviewsOfPeersAreCountedBesideOurs(t *testing.T) {
	l := newLearner(t, 2)
	judges := reviews.New(NewReviews(l.pool), l.store, identity.Replay, l.clock.now)
	provider, requester, ours, old := l.node(), l.node(), l.node(), l.node()
	l.register(provider, provider.Register("p", "x"))
	l.register(ours, ours.Register("r", "y"))
	tell := func(peer int, w *reviewtest.Work, provider, requester []byte) {
		receipt, word := w.Sign(t)
		l.peer(peer).Tell(learnedtest.Reviews, w.Interaction, wire.FedReview{Receipt: receipt, Review: word, ProviderKEL: provider, ReviewerKEL: requester})
	}
	done := func(rating int) *reviewtest.Work {
		return reviewtest.Done(provider.Key, requester.Key, rating, l.clock.now())
	}
	pk, rk := provider.Key.KEL(), requester.Key.KEL()
	both := reviewtest.Done(provider.Key, ours.Key, 4, l.clock.now())
	receipt, word := both.Sign(t)
	if _, err := judges.Accept(t.Context(), receipt, word); err != nil {
		t.Fatal(err)
	}
	same := done(5)
	tell(1, same, pk, rk)
	tell(2, same, pk, rk)
	tell(1, both, pk, ours.Key.KEL())
	tell(1, done(2), pk, rk)
	tell(2, done(1).By(ours.Key, requester.Key), pk, rk)
	tell(2, done(1).By(provider.Key, ours.Key), pk, rk)
	tell(2, done(1), pk, nil)
	tell(2, done(1), rk, rk)
	thief := old.Key
	old.Rotate(l.clock.now())
	l.register(old, old.Register("rotated", "z"))
	l.clock.advance(time.Minute)
	tell(2, reviewtest.Done(provider.Key, thief, 1, l.clock.now()), pk, thief.KEL())
	l.pull()
	r, err := judges.Reputation(t.Context(), provider.AID())
	if err != nil || r.Local.Reviews != 1 || len(r.Peers) != 1 || r.Peers[0].Reviews != 2 || r.Peers[0].AvgRating != 3.5 ||
		r.Peers[0].Hub != l.list[0].Endpoint || r.Combined.Reviews != 3 {
		t.Errorf("reputation %+v, %v, want one review of ours and two of the first peer", r, err)
	}
	if got := l.row(`SELECT sum(refused)::text FROM pull WHERE stream = 'reviews'`); got != "5" {
		t.Errorf("%s reviews were refused, want those five that do not verify", got)
	}
	if v := l.viewOf(provider); v.ReviewCount != 1 {
		t.Errorf("peers' reviews move an agent in our lists: %+v", v)
	}
	l.whole()
}

// What a peer taught of reviews is a number that pages move. One that is wrong, as a
// program of before leaves it, is right again after a reading from the beginning.
func TestReviewsOfAPeerAreCounted(t *testing.T) {
	l := newLearner(t, 1)
	provider, requester := l.node(), l.node()
	l.register(provider, provider.Register("p", "x"))
	tell := func() {
		work := reviewtest.Done(provider.Key, requester.Key, 3, l.clock.now())
		receipt, word := work.Sign(t)
		l.peer(1).Tell(learnedtest.Reviews, work.Interaction, wire.FedReview{
			Receipt: receipt, Review: word, ProviderKEL: provider.Key.KEL(), ReviewerKEL: requester.Key.KEL()})
	}
	counts := func(when, want string) {
		t.Helper()
		got := l.row(`SELECT concat_ws(' of ', (SELECT count(*) FROM learned_review), reviews) FROM teacher`)
		if got != want {
			t.Errorf("%s: %s reviews are counted, want %s", when, got, want)
		}
	}
	set := func(sql string) {
		t.Helper()
		if _, err := l.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	tell()
	tell()
	l.pull()
	counts("two", "2 of 2")
	tell()
	l.pull()
	counts("one more", "3 of 3")
	set(`UPDATE teacher SET reviews = NULL`)
	tell()
	l.pull()
	counts("not counted yet", "4 of 4")
	set(`UPDATE teacher SET reviews = 1000000000`)
	tell()
	l.pull()
	counts("as many as there may be", "4 of 1000000000")
	fromTheBeginning := `UPDATE pull SET passing = true, pass = pass + 1, read_to = 0 WHERE stream = 'reviews'`
	set(fromTheBeginning)
	l.pull()
	counts("counted anew", "4 of 4")
	set(fromTheBeginning)
	l.pull()
	counts("and told again", "5 of 5")
	l.whole()
	if err := forget(t.Context(), l.pool, l.list[0].ID, l.clock.now()); err != nil {
		t.Fatal(err)
	}
	counts("forgotten", "0 of 0")
}
