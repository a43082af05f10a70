package outbound

import (
	"context"
	"errors"
	"net/url"

	"github.com/anet-hub/anet/shared/errs"
)

// told says what became of a call in words of ours. What the other side wrote is
// not repeated; an address that a redirect named is its word, too.
func told(ctx context.Context, err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	if e := errs.As(err); e != nil {
		return e
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errs.New(errs.BadGateway, "answer_too_slow", "the peer did not answer in time").Because(context.DeadlineExceeded)
	}
	return errs.New(errs.BadGateway, "peer_unreachable", "the peer could not be reached, or hung up").Because(err)
}
