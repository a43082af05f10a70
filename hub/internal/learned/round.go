package learned

import (
	"context"
	"time"

	"github.com/anet-hub/anet/hub/internal/peers"
	"github.com/anet-hub/anet/shared/errs"
)

// round is one reading of a stream.
type round struct {
	*Puller
	job  Job
	peer peers.Peer
	from Source
	end  bool
	news bool
}

func (r *round) run(ctx context.Context) error {
	if err := r.askAgain(ctx); err != nil {
		return err
	}
	missing, err := r.readOn(ctx)
	if err != nil || missing || !r.job.Passing {
		return err // nothing it taught is forgotten for a stream that is missing
	}
	return r.Store.Sweep(ctx, r.job, r.Now())
}

// readOn reads to the end of the stream. The next page is on its way while one is
// decided on.
func (r *round) readOn(ctx context.Context) (missing bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	next := r.ahead(ctx, r.job.ReadTo)
	defer func() {
		cancel()
		<-next.there
	}()
	for !r.end {
		p, err := next.wait()
		if err != nil {
			return false, err
		}
		if r.end = p.end; !r.end {
			next = r.ahead(ctx, p.Cursor)
		}
		if p.missing {
			return true, nil
		}
		if err := r.learn(ctx, p, p.Cursor); err != nil {
			return false, err
		}
		r.job.ReadTo = p.Cursor
		p.breathe(ctx)
	}
	return false, nil
}

// A page of a few entries is the last before the end. Who goes on with such pages
// would have this hub write as fast as it can, for nothing.
const few, breath = 10, 100 * time.Millisecond

// breathe rests behind a page of a few entries.
func (p page) breathe(ctx context.Context) {
	if p.end || len(p.Cards)+len(p.Reviews) >= few {
		return
	}
	select {
	case <-time.After(breath):
	case <-ctx.Done():
	}
}

// coming is a page that is on its way.
type coming struct {
	there chan struct{} // closed when it is
	page  page
	err   error
}

func (r *round) ahead(ctx context.Context, after int64) *coming {
	c := &coming{there: make(chan struct{})}
	go func() {
		defer close(c.there)
		c.page, c.err = r.page(ctx, after)
	}()
	return c
}

func (c *coming) wait() (page, error) {
	<-c.there
	return c.page, c.err
}

// askAgain reads the pages that entries stand in which were refused for a while
// that may be over. What has moved on in its stream is met at its new place.
func (r *round) askAgain(ctx context.Context) error {
	due, err := r.Store.Due(ctx, r.job, r.Now())
	if err != nil {
		return err
	}
	read := int64(0)
	for _, h := range due {
		if h.FedSeq <= read {
			continue // the page before held it, too
		}
		p, err := r.page(ctx, h.FedSeq-1)
		if err != nil {
			return err
		}
		p.asked = h.AID
		if err := r.learn(ctx, p, r.job.ReadTo); err != nil {
			return err
		}
		read = p.Cursor
	}
	return nil
}

// page asks for the entries behind a place. A hub that knows no such stream has an
// empty one.
func (r *round) page(ctx context.Context, after int64) (page, error) {
	asking, cancel := context.WithTimeout(ctx, maxPage)
	defer cancel()
	status, body, err := r.Net.Get(asking, pageURL(r.peer.Endpoint, r.job.Stream, after), streams[r.job.Stream].most)
	switch {
	case err != nil:
		return page{}, err
	case status == unknownPath:
		return page{Cursor: after, end: true, missing: true}, nil
	case status != answered:
		return page{}, errs.New(errs.BadGateway, "peer_refused", "the peer answered with status %d", status)
	}
	return readPage(body, after)
}

// learn decides on a page and moves the reading on to a place.
func (r *round) learn(ctx context.Context, p page, to int64) error {
	select {
	case r.work <- struct{}{}:
		defer func() { <-r.work }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.job.Stream == peers.Reviews {
		return r.learnReviews(ctx, p, to)
	}
	return r.learnAgents(ctx, p.cards(r.job.Stream), to)
}
