package outbound

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anet-hub/anet/hub/internal/forward"
	"github.com/anet-hub/anet/shared/errs"
)

// slowest is how many bytes a second keep a message on its way.
const slowest = 64 << 10

// moving is a message on its way. A large one over a thin line takes its time, which
// says nothing of the peer: what ends it is that it stands still, or that its time is
// over all the same.
type moving struct {
	size  int64
	moved atomic.Int64
	whole atomic.Bool // all of it has left
	fair  atomic.Bool // a while went by in which enough of it moved
}

var errStandsStill = errors.New("the message stands still")

// from is the body, which may be asked for again where a connection was lost.
func (m *moving) from(r io.Reader) io.ReadCloser {
	m.whole.Store(false)
	return io.NopCloser(&counted{m, r, m.size})
}

type counted struct {
	*moving
	r    io.Reader
	left int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.moved.Add(int64(n))
	if c.left -= int64(n); c.left <= 0 {
		c.whole.Store(true)
	}
	return n, err
}

// watch ends the context of a message that stands still.
func (m *moving) watch(ctx context.Context, while, tail time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if m.stands(ctx, while, tail) {
			cancel(errStandsStill)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stands comes back when too little moved within a while, or when tail has gone by
// without an answer since all of it was seen to have left.
func (m *moving) stands(ctx context.Context, while, tail time.Duration) bool {
	for before := int64(0); after(ctx, while); before = m.moved.Load() {
		switch {
		case m.whole.Load():
			return after(ctx, tail)
		case float64(m.moved.Load()-before) < slowest*while.Seconds():
			return true
		}
		m.fair.Store(true)
	}
	return false
}

// after is false when ctx ended first.
func after(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// told says what became of a message whose context it ended with, and is not the
// peer's failure where the message was moving.
func (m *moving) told(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errStandsStill):
		return tooSlow()
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && m.fair.Load() && !m.whole.Load():
		return forward.ThinLine()
	}
	return err
}

// unsent is how much of a message may wait in this machine. Otherwise all of it would
// seem to have left when a thin line had hardly begun with it.
const unsent = 128 << 10

type control = func(context.Context, string, string, syscall.RawConn) error

// lean keeps what is written to connections from piling up, where the system can.
func lean(check control) control {
	return func(ctx context.Context, network, address string, c syscall.RawConn) error {
		if err := check(ctx, network, address, c); err != nil {
			return err
		}
		return c.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
		})
	}
}

func tooSlow() error {
	return errs.New(errs.BadGateway, "answer_too_slow", "the peer did not answer in time").Because(context.DeadlineExceeded)
}
