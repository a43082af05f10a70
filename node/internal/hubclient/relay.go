package hubclient

import (
	"context"
	"time"

	"github.com/anet-hub/anet/shared/wire"
)

// maxPoll bounds the answer to a poll: one envelope of any permitted size in
// base64, and what goes around it.
const maxPoll = wire.MaxEnvelopeBytes/3*4 + 1<<20

// Send leaves an envelope in a mailbox.
func (c *Client) Send(ctx context.Context, to string, envelope []byte) (wire.Sent, error) {
	var out wire.Sent
	err := c.call(ctx, post("/relay/send", wire.ActionSend, wire.Send{ToAID: to, Envelope: envelope}), &out)
	return out, err
}

// Poll asks for mail. With p.WaitMS the hub may hold an empty answer back that
// long; one that knows no long polls leaves it out of its answer, and must be
// asked no more than once a second (L.8).
func (c *Client) Poll(ctx context.Context, p wire.Poll) (wire.Polled, error) {
	r := post("/relay/poll", wire.ActionPoll, p)
	r.limit = maxPoll
	if p.WaitMS != nil {
		r.wait = min(max(0, time.Duration(*p.WaitMS)*time.Millisecond), wire.MaxWait)
	}
	var out wire.Polled
	err := c.call(ctx, r, &out)
	return out, err
}

// Ack deletes mail that is safely stored here. Ids the hub no longer has are
// skipped, so it may be repeated.
func (c *Client) Ack(ctx context.Context, ids []int64) error {
	_, err := c.do(ctx, post("/relay/ack", wire.ActionAck, wire.Ack{IDs: ids}))
	return err
}
