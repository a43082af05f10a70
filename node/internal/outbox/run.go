package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/anet-hub/anet/node/internal/journal"
)

// Run sends what is due until ctx ends, and then waits for the attempts under
// way.
func (b *Outbox) Run(ctx context.Context) error {
	r := &round{box: b, busy: map[int64]bool{}, free: make(chan struct{}, 1)}
	defer r.wg.Wait()
	r.wg.Go(func() { b.runNotices(ctx) })
	for {
		queued := b.Journal.Queued()
		next, err := r.start(ctx)
		if err != nil {
			b.Log.Error("outbox: cannot read the journal", "error", err)
			next = b.Now().Add(errorPause)
		}
		if !b.wait(ctx, queued, r.free, next) {
			return nil
		}
	}
}

// errorPause is the pace while the journal itself cannot be read.
const errorPause = 10 * time.Second

// idlePause bounds a wait: a clock that was set must not put a message off for
// days.
const idlePause = 10 * time.Minute

func (b *Outbox) wait(ctx context.Context, queued, free <-chan struct{}, next time.Time) bool {
	pause := idlePause
	if !next.IsZero() {
		pause = min(next.Sub(b.Now()), idlePause)
	}
	if pause <= 0 { // and no timer that is due at once: see the sleep of mailbox
		return ctx.Err() == nil
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-queued:
	case <-free:
	case <-t.C:
	}
	return true
}

// round keeps which messages are under way.
type round struct {
	box  *Outbox
	mu   sync.Mutex
	busy map[int64]bool
	free chan struct{}
	wg   sync.WaitGroup
}

// start begins what is due and free to go, and says when the next one becomes
// due, zero when none does by time.
func (r *round) start(ctx context.Context) (next time.Time, err error) {
	var due []journal.Outgoing
	err = r.box.Journal.Read(ctx, func(tx *journal.Tx) error {
		if due, err = tx.Due(2 * lanes); err != nil {
			return err
		}
		next, _, err = tx.NextDue()
		return err
	})
	for _, o := range due {
		if r.begin(o.ID) {
			r.wg.Go(func() { defer r.end(o.ID); r.box.attempt(ctx, o) })
		}
	}
	return next, err
}

func (r *round) begin(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[id] || len(r.busy) >= lanes {
		return false
	}
	r.busy[id] = true
	return true
}

func (r *round) end(id int64) {
	r.mu.Lock()
	delete(r.busy, id)
	r.mu.Unlock()
	select {
	case r.free <- struct{}{}:
	default:
	}
}
