package postgres

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/directory/directorytest"
	"github.com/anet-hub/anet/hub/internal/feed"
	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/shared/identity"
	"github.com/anet-hub/anet/shared/wire"
)

func (f *told) reviews(after int64) wire.FedReviews {
	f.t.Helper()
	page, err := f.Feed.Reviews(f.t.Context(), after, func(int64) error { return nil })
	f.must(err)
	return page
}

// Reviews are told between agents that peers may learn of, and looked at anew each
// time.
func TestReviewsForPeers(t *testing.T) {
	j := newJury(t)
	f := tell(j.hub)
	open, open2, local, hidden := f.federated(), f.federated(), j.member("x"), f.federated()
	f.must(f.operator().Hide(t.Context(), f.operator().act("agent.hide", hidden.AID())))
	for _, c := range []struct {
		why                 string
		provider, requester *directorytest.Node
		told                bool
	}{
		{"both open", open, open2, true},
		{"about a local one", local, open, false},
		{"by a local one", open, local, false},
		{"about a hidden one", hidden, open, false},
		{"both open, the other way", open2, open, true},
	} {
		_, before := f.allReviews()
		j.mustReview(c.provider, c.requester, 4)
		page := f.reviews(before)
		if len(page.Reviews) > 0 != c.told || page.Cursor <= before {
			t.Fatalf("%s: %d reviews up to %d after %d, want told %v", c.why, len(page.Reviews), page.Cursor, before, c.told)
		}
		if !c.told {
			continue
		}
		r := page.Reviews[0]
		if !bytes.Equal(r.ProviderKEL, c.provider.Key.KEL()) || !bytes.Equal(r.ReviewerKEL, c.requester.Key.KEL()) || r.FedSeq != page.Cursor {
			t.Errorf("%s: another review", c.why)
		}
	}
	f.see(open, directory.HubLocal)
	if all, _ := f.allReviews(); len(all) != 0 {
		t.Errorf("%d reviews of an agent that stays in its hub", len(all))
	}
	f.see(open, directory.Public)
	if all, _ := f.allReviews(); len(all) != 2 {
		t.Errorf("%d reviews, want 2", len(all))
	}
}

// A review of an agent that a peer tells of is told, with the history that the peer
// showed; once the peer takes the agent back it is not, and neither is anything else
// that was learned.
func TestReviewsOfPeersAgents(t *testing.T) {
	l := newLearner(t, 1)
	f, j := tell(l.hub), &jury{l.hub, reviews.New(NewReviews(l.pool), l.store, identity.Replay, l.clock.now)}
	theirs, ours := l.node(), f.federated()
	l.peer(1).Agent(theirs, 1, l.clock.now(), "text.digest")
	l.pull()
	j.mustReview(theirs, ours, 5)
	f.number()
	page := f.reviews(0)
	if len(page.Reviews) != 1 || !bytes.Equal(page.Reviews[0].ProviderKEL, theirs.Key.KEL()) || !bytes.Equal(page.Reviews[0].ReviewerKEL, ours.Key.KEL()) {
		t.Errorf("reviews %+v, want the one", page.Reviews)
	}
	if all, _ := f.read(feed.Cards, 0); len(all) != 1 || !bytes.Equal(all[0].KEL, ours.Key.KEL()) {
		t.Errorf("%d entries, want our own agent alone", len(all))
	}
	l.peer(1).Withdraw(theirs.AID(), l.clock.now())
	l.pull()
	if page := f.reviews(0); len(page.Reviews) != 0 {
		t.Errorf("%d reviews of an agent that its hub took back", len(page.Reviews))
	}
}

func (f *told) allReviews() (all []wire.FedReview, cursor int64) {
	f.t.Helper()
	for {
		page := f.reviews(cursor)
		all = append(all, page.Reviews...)
		if page.Cursor == cursor {
			return all, cursor
		}
		cursor = page.Cursor
	}
}

// A page looks on over reviews that are not told, and when there are too many it
// says how far it came.
func TestReviewsThatAreNotTold(t *testing.T) {
	j := newJury(t)
	f := tell(j.hub)
	pad := func(from, n int) {
		t.Helper()
		_, err := f.pool.Exec(t.Context(), `
			INSERT INTO review (interaction, subject, reviewer, seq, rating, receipt, review, accepted_at)
			SELECT 'i' || i, 'b1', 'b2', i, 5, '', '', @now FROM generate_series(@from::int, @from::int + @n::int - 1) AS i`,
			pgx.NamedArgs{"from": from, "n": n, "now": f.clock.now()})
		f.must(err)
		_, err = f.pool.Exec(t.Context(), `UPDATE review_total SET seq = (SELECT max(seq) FROM review)`)
		f.must(err)
	}
	const few, many = 3*reviewStep + 10, 52 * reviewStep
	pad(1, few)
	j.mustReview(f.federated(), f.federated(), 5)
	pad(few+2, many)
	for _, c := range []struct {
		why           string
		after, cursor int64
		reviews       int
	}{
		{"behind three steps of others", 0, 4 * reviewStep, 1},
		{"behind too many", 4 * reviewStep, 54 * reviewStep, 0},
		{"the last of them", 54 * reviewStep, few + 1 + many, 0},
		{"the end", few + 1 + many, few + 1 + many, 0},
	} {
		if page := f.reviews(c.after); page.Cursor != c.cursor || len(page.Reviews) != c.reviews {
			t.Errorf("%s: %d reviews up to %d, want %d up to %d", c.why, len(page.Reviews), page.Cursor, c.reviews, c.cursor)
		}
	}
}
