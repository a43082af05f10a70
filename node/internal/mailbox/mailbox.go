// Package mailbox empties this node's mailbox at its hub: it polls, opens what
// came (wire 2, E.10), hands it on and acknowledges.
//
// The one rule: a message is acknowledged when whoever took it has said that
// it is stored or can never be of use, and what was stored is on disk, never
// before. What cannot be
// decided yet is left where it is and read again by time; it holds nothing up,
// since the cursor moves past it. The cursor lives in memory only: after a
// start the mailbox is read from its beginning.
package mailbox

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/wire"
)

// Hub is what a mailbox asks of one. Failures carry the kind behind the hub's
// status.
type Hub interface {
	Poll(ctx context.Context, p wire.Poll) (wire.Polled, error)
	// Ack is safe to repeat: ids no longer there are skipped.
	Ack(ctx context.Context, ids []int64) error
}

// Verdict is what becomes of a message.
type Verdict bool

// The verdicts of E.10: class P and what was committed, and class T.
const (
	Done Verdict = true  // acknowledge
	Wait Verdict = false // leave it, and read it again
)

// Receiver takes messages. Receive calls settled exactly once, before it
// returns or later from another goroutine. Done means that what was decided is
// written; the mailbox makes it durable before it acknowledges.
type Receiver interface {
	Receive(ctx context.Context, envelope []byte, settled func(Verdict))
}

// Events tells others about the connection. Both are called from the polling
// goroutine and must not block.
type Events struct {
	Back    func() // the hub answers again
	Unknown func() // the hub says it does not know this node
}

// pageSize is the reference's (L.8).
const pageSize = 100

// Mailbox is this node's end of the relay.
type Mailbox struct {
	hub      Hub
	receiver Receiver
	events   Events
	log      *slog.Logger
	backoff  Backoff
	acks     *acks

	after  int64 // the highest id seen
	reread reread

	mu    sync.Mutex
	state State
}

// State is how the mailbox is doing.
type State struct {
	LastPoll time.Time // the latest the hub answered
	Failures int       // in a row, since then
	Error    string    // the latest failure, empty after a success
	Waiting  int       // messages left for later
	Stopped  string    // why polling ended for good
}

// New makes a mailbox; Run does the work.
func New(hub Hub, receiver Receiver, sync Sync, events Events, log *slog.Logger) *Mailbox {
	return &Mailbox{
		hub: hub, receiver: receiver, events: events, log: log,
		backoff: DefaultBackoff, acks: newAcks(hub, sync), reread: newReread(),
	}
}

// State tells how it goes.
func (m *Mailbox) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	s.Waiting = m.reread.len()
	return s
}

// Run polls until ctx ends. A hub that asks for another wire than ours ends
// polling for good, and Run returns what the operator must know.
func (m *Mailbox) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return m.acks.run(gctx) })
	g.Go(func() error { return m.poll(gctx) })
	return g.Wait()
}

func (m *Mailbox) poll(ctx context.Context) error {
	for {
		err := m.round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			continue
		case errs.KindOf(err) == errs.UpgradeRequired:
			return m.stop(err)
		}
		if !sleep(ctx, m.failed(err)) {
			return nil
		}
	}
}

// round is one request and what came of it.
func (m *Mailbox) round(ctx context.Context) error {
	if m.reread.due(time.Now()) {
		return m.readAgain(ctx)
	}
	asked, wait := time.Now(), m.wait()
	got, err := m.ask(ctx, m.after, wait)
	if err != nil {
		return err
	}
	seen := m.after
	m.take(ctx, got.Messages)
	switch {
	case len(got.Messages) == 0:
		sleep(ctx, pace(got.WaitMS != nil, wait-time.Since(asked)))
	case m.after == seen:
		sleep(ctx, stale)
	}
	return nil
}

// stale is the pause after a page of mail the hub was not asked for. It would be
// there again at once, and so for ever.
const stale = 5 * time.Second

// wait is how long the hub may hold its answer back: not at all while it is
// unknown whether there is a hub, so that its return is seen when it happens.
func (m *Mailbox) wait() time.Duration {
	if s := m.State(); s.Failures > 0 || s.LastPoll.IsZero() {
		return 0
	}
	return m.reread.until(time.Now(), wire.MaxWait)
}

// pace is the pause after an empty answer. A hub that does not wait is asked
// every second, as the reference asks (L.8). One that waits and yet answered
// early is about to stop, and its nodes must not all ask again at once.
func pace(waits bool, early time.Duration) time.Duration {
	switch {
	case !waits:
		return time.Second
	case early > time.Second:
		return time.Second/2 + rand.N(time.Second)
	}
	return 0
}

// ask polls once. The grace on top of the wait is for a slow line; without a
// bound a connection that died silently would be waited on for ever.
func (m *Mailbox) ask(ctx context.Context, after int64, wait time.Duration) (wire.Polled, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+60*time.Second)
	defer cancel()
	ms := wait.Milliseconds()
	got, err := m.hub.Poll(ctx, wire.Poll{Limit: pageSize, AfterID: after, WaitMS: &ms})
	if err == nil {
		m.succeeded()
	}
	return got, err
}

// take hands a page on.
func (m *Mailbox) take(ctx context.Context, page []wire.Message) {
	for _, msg := range page {
		m.after = max(m.after, msg.ID)
		if !m.acks.begin(msg.ID) {
			continue // at work, or acknowledged and not yet gone
		}
		m.receiver.Receive(ctx, msg.Envelope, func(v Verdict) { m.settle(msg.ID, v) })
	}
}

func (m *Mailbox) settle(id int64, v Verdict) {
	if v == Wait {
		m.reread.add(id, time.Now())
		m.acks.forget(id)
		return
	}
	m.reread.remove(id)
	m.acks.done(id)
}

// readAgain goes through the old part of the mailbox once. It polls without
// waiting, page by page, up to the cursor.
func (m *Mailbox) readAgain(ctx context.Context) error {
	from, limit := m.reread.start(time.Now()), m.after
	for from < limit {
		got, err := m.ask(ctx, from, 0)
		if err != nil {
			return err
		}
		m.take(ctx, got.Messages)
		last := highest(got.Messages)
		if last <= from { // the end, or a hub that goes round in circles
			break
		}
		from = last
	}
	m.reread.finish(limit)
	return nil
}

func highest(page []wire.Message) (id int64) {
	for _, msg := range page {
		id = max(id, msg.ID)
	}
	return id
}

func (m *Mailbox) stop(err error) error {
	m.mu.Lock()
	m.state.Stopped = err.Error()
	m.mu.Unlock()
	m.log.Error("mailbox: polling ends", "error", err)
	return err
}

// sleep is false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	// A timer that is due at once crashed Go's runtime once, under the race detector in
	// a synctest bubble.
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
