package hubclient

import (
	"context"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Review publishes a review with the receipt it is about (wire 2, I.7). Both are
// signed; the request is not.
func (c *Client) Review(ctx context.Context, receipt, review []byte) error {
	var out wire.ReviewAccepted
	err := c.call(ctx, post("/reviews", "", wire.SubmitReview{Receipt: receipt, Review: review}), &out)
	if err == nil && out.Status != "accepted" {
		err = errs.New(errs.BadGateway, "hub_answer_invalid", "what answers in the place of the hub %s does not say that it took the review", c.base.Host)
	}
	return err
}
