package mailbox

import (
	"context"
	"sync"
	"time"
)

const (
	// ackBatch bounds one acknowledgement; the rest goes with the next.
	ackBatch = 500

	// ackPause lets the answer go first. What is decided is often about to be
	// answered, and an acknowledgement that is sent at the same moment makes node,
	// hub and disks do that first which nobody waits for.
	ackPause = 5 * time.Millisecond
)

// Sync returns when everything decided so far is on disk.
type Sync func(ctx context.Context) error

// acks acknowledges in batches, beside the poll that may be waiting. While one
// request is under way, what is decided meanwhile gathers for the next. A batch
// is made durable once, before the hub is told to forget it.
type acks struct {
	hub    Hub
	sync   Sync
	signal chan struct{}

	mu      sync.Mutex
	busy    map[int64]bool // from begin until the acknowledgement arrived
	decided []int64
}

func newAcks(hub Hub, sync Sync) *acks {
	return &acks{hub: hub, sync: sync, signal: make(chan struct{}, 1), busy: map[int64]bool{}}
}

// begin takes a message in hand; false when it is in hand already.
func (a *acks) begin(id int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[id] {
		return false
	}
	a.busy[id] = true
	return true
}

// forget lets a message be taken again.
func (a *acks) forget(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, id)
}

// done queues the acknowledgement.
func (a *acks) done(id int64) {
	a.mu.Lock()
	a.decided = append(a.decided, id)
	a.mu.Unlock()
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

// run sends acknowledgements until ctx ends, and then tries the last ones once:
// what stays behind comes again after a start and is known then.
func (a *acks) run(ctx context.Context) error {
	for n := 0; ; {
		select {
		case <-ctx.Done():
			a.last()
			return nil
		case <-a.signal:
		}
		sleep(ctx, ackPause)
		for err := a.flush(ctx); err != nil && ctx.Err() == nil; err = a.flush(ctx) {
			n++
			sleep(ctx, DefaultBackoff.Delay(n))
		}
		n = 0
	}
}

func (a *acks) last() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = a.flush(ctx)
}

// flush acknowledges all that is decided.
func (a *acks) flush(ctx context.Context) error {
	for batch := a.batch(); len(batch) > 0; batch = a.batch() {
		if err := a.sync(ctx); err != nil {
			return err
		}
		if err := a.hub.Ack(ctx, batch); err != nil {
			return err
		}
		a.gone(batch)
	}
	return nil
}

func (a *acks) batch() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.decided[:min(len(a.decided), ackBatch)]
}

func (a *acks) gone(batch []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range batch {
		delete(a.busy, id)
	}
	a.decided = a.decided[len(batch):]
}
