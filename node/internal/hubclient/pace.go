package hubclient

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	// patience is how long a hub may take to begin an ordinary answer.
	patience = 30 * time.Second
	// slowest is the rate, in bytes a second, below which a transfer is given up.
	slowest = 64 << 10
)

var errTooSlow = errors.New("the hub took too long")

// pace ends a request whose other side falls asleep. One deadline for all would
// either cut large mail off on a thin line or let a silent hub hold a poll for
// half an hour; so the time grows with what has really come.
type pace struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	body   io.Reader
	begun  time.Time
	read   int64
}

// begin allows for the request to travel and for the answer to start.
func begin(ctx context.Context, size int, wait time.Duration) (context.Context, *pace) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &pace{cancel: cancel}
	p.timer = time.AfterFunc(patience+wait+travel(int64(size)), func() { cancel(errTooSlow) })
	return ctx, p
}

func travel(size int64) time.Duration { return time.Duration(size/slowest) * time.Second }

// of reads the answer at no less than the slowest pace.
func (p *pace) of(body io.Reader) io.Reader {
	p.body, p.begun = body, time.Now()
	p.timer.Reset(patience)
	return p
}

func (p *pace) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	p.read += int64(n)
	p.timer.Reset(time.Until(p.begun.Add(patience + travel(p.read))))
	return n, err
}

// end must be called when the answer was read.
func (p *pace) end() {
	p.timer.Stop()
	p.cancel(nil)
}
