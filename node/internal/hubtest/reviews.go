package hubtest

import (
	"context"
	"slices"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/evidence"
)

// Review is what a hub took in.
type Review struct {
	Receipt evidence.SignedReceipt
	Word    evidence.SignedReview
}

// Reviews tells all of them.
func (h *Hub) Reviews() []Review { h.mu.Lock(); defer h.mu.Unlock(); return slices.Clone(h.reviews) }

// Review takes a review in, one for an interaction.
func (l *Line) Review(_ context.Context, receipt, word []byte) (mayBeTaken bool, err error) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if err := l.enter("review"); err != nil {
		return false, err
	}
	var r Review
	if r.Receipt, err = evidence.ParseReceipt(receipt); err != nil {
		return false, errs.New(errs.Invalid, "receipt_malformed", "no receipt")
	}
	if r.Word, err = evidence.ParseReview(word); err != nil {
		return false, errs.New(errs.Invalid, "review_malformed", "no review")
	}
	for _, other := range l.hub.reviews {
		if other.Word.Interaction == r.Word.Interaction {
			return false, errs.New(errs.Invalid, "interaction_reviewed", "reviewed before")
		}
	}
	l.hub.reviews = append(l.hub.reviews, r)
	if l.hub.loseAck {
		return true, errs.New(errs.Unavailable, "connection_lost", "the answer was lost")
	}
	return false, nil
}
