package postgres

import (
	"testing"

	"github.com/anet-hub/anet/hub/internal/reviews"
	"github.com/anet-hub/anet/hub/internal/reviews/reviewtest"
)

// A block that falls while a review is verified is looked for where it is stored.
func TestAReviewIsNotTakenOfWhoWasBlockedMeanwhile(t *testing.T) {
	j := newJury(t)
	provider, requester := j.member("x"), j.member()
	receipt, word := reviewtest.Done(provider.Key, requester.Key, 1, j.clock.now()).Sign(t)
	verified, err := reviews.Parse(receipt, word)
	if err != nil {
		t.Fatal(err)
	}
	wantReason(t, "the block", j.operator().block("aid", requester.AID(), 0), "")
	wantReason(t, "the review", NewReviews(j.pool).Put(t.Context(), verified, j.clock.now()), "blocked")
	j.whole()
	wantReason(t, "its end", j.operator().unblock("aid", requester.AID()), "")
	wantReason(t, "the review again", NewReviews(j.pool).Put(t.Context(), verified, j.clock.now()), "")
	j.whole()
}
