package web

import (
	"time"

	"github.com/anet-hub/anet/shared/plain"
	"github.com/anet-hub/anet/shared/wire"
)

// ShownReviews is how many reviews a page has of an agent, the latest ones.
const ShownReviews = 10

// Review is what one requester said.
type Review struct {
	Rating   int
	Comment  string
	By, Path string
	Said     Moment
}

// With shows what is said of an agent.
func (a Agent) With(reviews []wire.Review, now time.Time) Agent {
	for _, r := range reviews {
		a.Reviews = append(a.Reviews, Review{
			Rating: r.Rating, Comment: plain.Text(r.Comment), By: r.ReviewerAID, Path: "/a/" + r.ReviewerAID,
			Said: momentOf(time.UnixMilli(int64(r.CreatedAt)), now),
		})
	}
	return a
}
